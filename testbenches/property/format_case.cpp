// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/format_case.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/process_pool.h"
#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::testing {

namespace {

using nlohmann::ordered_json;

constexpr rlim_t kSecondsOfCase = 300;  ///< of one case; for hangs

/// A chip of random_platform() with clocks, scratchpads and links of all orders of magnitude.
PlatformSettings format_platform(RandomSource& random, FormatUse use) {
    PlatformSettings settings = random_platform(random, PairSize::small);
    const bool values = use == FormatUse::values;
    settings["chip.clock_ghz"] = fmt::format("{:.4g}", random.log_uniform(0.05, 9));
    // Smaller ones hold no layer, and that is a refusal like any other.
    settings["scratchpad.capacity_bytes"] = std::to_string(random.log_integer(values ? 65536 : 24576, 2 << 20));
    settings["scratchpad.kernel_share"] = fmt::format("{:.3f}", random.log_uniform(0.02, 0.3));
    settings["noc.link_bytes_per_cycle"] = std::to_string(random.log_integer(4, 1024));
    settings.erase("scratchpad.network_bytes_per_cycle");  // it must not be narrower than a link
    // One tile has no room for all branches of a switch, and few devices have these channels.
    if (settings["chip.columns"] == "1" && settings["chip.rows"] == "1") settings["chip.columns"] = "3";
    if (!values && random.chance(0.03)) settings["chip.columns"] = settings["chip.rows"] = "12";
    settings["hbm.device"] = "\"\"";
    settings.erase("pe_array.register_bytes");
    settings["noc.topology"] = random.chance(0.5) ? "mesh" : "torus";
    settings["network_interface.memory_reads"] = random.chance(0.5) ? "unicast" : "multicast";
    if (random.chance(0.2)) settings["pe_array.partial_sums"] = "fp32";
    if (values) {
        settings["chip.functional"] = "yes";
        settings["pe_array.acc"] = "fp32";
    }
    return settings;
}

ordered_json run_case(std::uint64_t seed) {
    setrlimit(RLIMIT_CPU, std::array<rlimit, 1>{rlimit{kSecondsOfCase, kSecondsOfCase}}.data());
    const FormatCase drawn = draw_format_case(seed, FormatUse::sizes);
    ordered_json result{{"seed", seed}, {"impl", drawn.impl}};
    Compiled compiled;
    try {
        compiled = compile(drawn.pair);
    } catch (const InputError& error) {
        result["refused"] = error.what();
        return result;
    }
    const Image image = platform::decode_image_for(compiled.platform, compiled.bytes, "case");
    result["slices"] = std::count_if(image.meta.operators.begin(), image.meta.operators.end(),
                                     [](const ImageMeta::Operator& op) { return op.partial; });
    const ordered_json ran = parse_ordered_json(run_model(compiled, drawn.impl), "a run");
    if (!ran.at("failed").empty())
        result["fault"] = ran.at("failed").front().dump();
    else
        result["ran"] = true;
    return result;
}

/// A refusal without what differs between networks.
std::string kind_of(const std::string& refusal) {
    static const std::regex kFile("^[^ ]*\\.yaml:([0-9]+:)? "), kQuoted("\"[^\"]*\""), kLayer("layers\\.[^ :]*"),
        kName("\\b[a-z_]+[0-9]+[a-z0-9_.\\[\\]]*"), kNumber("[0-9]+(\\.[0-9]+)?");
    std::string text = std::regex_replace(refusal, kFile, "");
    text = std::regex_replace(text, kQuoted, "X");
    text = std::regex_replace(text, kLayer, "layers.X");
    text = std::regex_replace(text, kName, "X");
    return std::regex_replace(text, kNumber, "N");
}

}  // namespace

FormatCase draw_format_case(std::uint64_t seed, FormatUse use) {
    RandomSource random(seed, use == FormatUse::values ? 1 : 0);
    FormatCase drawn;
    drawn.pair.seed = seed;
    drawn.pair.network = random_format_network(random, use);
    drawn.pair.platform = format_platform(random, use);
    draw_compilation(random, drawn.pair);
    drawn.pair.batches = drawn.pair.batches_in_flight;
    PlatformSettings& platform = drawn.pair.platform;
    // More detailed models of parts of the chip, which tiles have alone.
    if (random.chance(0.2)) platform["dispatcher.impl"] = "walk";
    if (random.chance(0.2)) platform["chip.check_protocol"] = "yes";
    const bool samples = drawn.pair.design == "adyna" && drawn.pair.network.yaml.find("routing:") != std::string::npos;
    if (samples && random.chance(0.4))
        drawn.pair.sampling = random.choose<std::string>({"uniform", "profile", "optimal"});
    if (use == FormatUse::values) {
        if (random.chance(0.2)) platform["pe_array.impl"] = "cycle";
        return drawn;
    }
    if (random.chance(0.4)) drawn.impl = "stages";
    if (drawn.impl == "tiles" && random.chance(0.1)) {
        platform["noc.impl"] = "flit";
        for (const char* key : {"noc.router_cycles", "noc.vcs", "noc.control_vcs"}) platform.erase(key);
    }
    if (drawn.pair.design == "full-kernel" && random.chance(0.8)) {
        drawn.impl = platform["chip.impl"] = "stages";
        platform["chip.ideal_kernel_store"] = "yes";
        platform.erase("noc.impl");
    }
    return drawn;
}

std::vector<ordered_json> run_format_cases(std::uint64_t first, std::size_t count, unsigned jobs) {
    std::vector<ordered_json> results(count);
    platform::run_all_in_processes(
        count, jobs, [&](std::size_t index) { return json_text(run_case(first + index)); },
        [&](std::size_t index, const std::string& text, double seconds) {
            results[index] = parse_ordered_json(text, "answer of a process");
            results[index]["seconds"] = seconds;
            if (results[index].contains("refused"))
                results[index]["kind"] = kind_of(results[index].at("refused").get<std::string>());
        },
        [&](std::size_t index, const std::string& message, double seconds) {
            results[index] = {{"seed", first + index}, {"fault", message}, {"seconds", seconds}};
        });
    return results;
}

FormatSummary summary_of_formats(const std::vector<ordered_json>& results) {
    FormatSummary summary;
    summary.cases = results.size();
    for (const ordered_json& result : results) {
        summary.ran += result.contains("ran") ? 1 : 0;
        summary.sliced += result.contains("ran") && result.at("slices").get<std::size_t>() > 0 ? 1 : 0;
        if (result.contains("refused")) {
            ++summary.refused;
            const std::string line = result.at("refused").get<std::string>();
            if (line.find('\n') != std::string::npos || line.find(": ") == std::string::npos)
                summary.faults.push_back(fmt::format("seed {}: no clear line: {}", result.at("seed").dump(), line));
        }
        if (result.contains("fault"))
            summary.faults.push_back(
                fmt::format("seed {}: {}", result.at("seed").dump(), result.at("fault").get<std::string>()));
    }
    return summary;
}

std::string format_text(const std::vector<ordered_json>& results) {
    const FormatSummary s = summary_of_formats(results);
    std::map<std::string, std::size_t> kinds;
    for (const ordered_json& result : results)
        if (result.contains("kind")) ++kinds[result.at("kind").get<std::string>()];
    std::vector<std::pair<std::size_t, std::string>> by_count;
    for (const auto& [kind, count] : kinds) by_count.emplace_back(count, kind);
    std::sort(by_count.rbegin(), by_count.rend());
    std::string text = fmt::format("{} networks: {} ran, {} of them with sliced reductions; {} refused, {} faults\n",
                                   s.cases, s.ran, s.sliced, s.refused, s.faults.size());
    for (const auto& [count, kind] : by_count) text += fmt::format("  {:>5} x {}\n", count, kind);
    for (const std::string& fault : s.faults) text += fmt::format("  FAULT {}\n", fault);
    return text;
}

void write_format_case(std::uint64_t seed, FormatUse use, const std::string& folder) {
    const FormatCase drawn = draw_format_case(seed, use);
    write_pair(drawn.pair, {drawn.impl}, folder);
}

}  // namespace switchyard::testing
