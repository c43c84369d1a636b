// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/pair.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/system/process_pool.h"
#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::testing {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr unsigned kMaxAttempts = 200;
constexpr rlim_t kMaxSeconds = 300;  ///< of one run; for hangs

Pair draw(std::uint64_t seed, PairSize size, unsigned attempt) {
    RandomSource random(seed, attempt);
    Pair pair;
    pair.seed = seed;
    pair.size = size;
    pair.attempt = attempt;
    pair.network = random_network(random, size);
    pair.platform = random_platform(random, size);
    draw_compilation(random, pair);
    return pair;
}

}  // namespace

void draw_compilation(RandomSource& random, Pair& pair) {
    pair.design = random.choose<std::string>({"adyna", "adyna", "adyna", "adyna-static", "full-kernel", "m-tile"});
    for (const std::string& mechanism : sched::mechanism_names())
        if (pair.design == "adyna" && random.chance(0.06)) pair.without.push_back(mechanism);
    const unsigned divisor = random.integer(1, 8);
    if (random.chance(0.2) && pair.network.batch_inputs % divisor == 0)
        pair.unit_samples = pair.network.batch_inputs / divisor;
    pair.batches = random.integer(1, 3);
    if (pair.design != "m-tile" && random.chance(0.25)) pair.invocation = "batch";
    if (random.chance(0.2)) pair.batches_in_flight = random.integer(2, 4);
    pair.batches *= pair.batches_in_flight;
    if (pair.invocation == "batch" && random.chance(0.5)) pair.sample_routing = "on_chip";
}

namespace {

/// A file that is there for the time of reading it.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text)
        : path_((fs::temp_directory_path() / fmt::format("switchyard_pair_{}.yaml", getpid())).string()) {
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { fs::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

Compiled compile(const Pair& pair) {
    Compiled compiled{pair, {}, {}, {}};
    const sched::Model model = sched::read_model(TemporaryFile(pair.network.yaml).path());
    compiled.platform = platform::read_platform(TemporaryFile(platform_yaml(pair.platform)).path());
    platform::NetworkImageOptions options;
    options.design = pair.design;
    options.without = pair.without;
    options.unit_samples = pair.unit_samples;
    options.invocation = pair.invocation;
    options.routing = pair.sample_routing;
    options.batches_in_flight = pair.batches_in_flight;
    options.sampling = pair.sampling;
    auto [image, bytes] = platform::compile_network(model, compiled.platform, options);
    compiled.bytes = std::move(bytes);
    if (!sched::design_of(image.meta).has(sched::Mechanism::routing)) {
        compiled.routing.assign(pair.batches / pair.batches_in_flight, platform::every_branch(image.meta));
    } else if (model.graph.switches.empty()) {
        compiled.routing.assign(pair.batches / pair.batches_in_flight, BatchRouting{image.meta.batch_samples, {}});
    } else {
        compiled.routing = joined_batches(sched::declared_routing(model, pair.batches), pair.batches_in_flight, "pair");
    }
    return compiled;
}

namespace {

Compiled first_that_fits(std::uint64_t seed, PairSize size) {
    for (unsigned attempt = 0; attempt < kMaxAttempts; ++attempt) {
        try {
            return compile(draw(seed, size, attempt));
        } catch (const InputError&) {
        }  // another draw
    }
    throw std::runtime_error(fmt::format("seed {}: no draw of {} fits its chip", seed, kMaxAttempts));
}

}  // namespace

std::string run_model(const Compiled& compiled, const std::string& impl) {
    setrlimit(RLIMIT_CPU, std::array<rlimit, 1>{rlimit{kMaxSeconds, kMaxSeconds}}.data());
    platform::PlatformConfig config = compiled.platform;
    config.chip.impl = impl;
    const Image image = platform::decode_image_for(config, compiled.bytes, "pair");
    ordered_json report;
    try {
        const platform::RunResult result = platform::run_simulation(config, image, compiled.bytes, compiled.routing);
        report = platform::make_report(config, image, compiled.routing, {"generator", 0}, result);
    } catch (const sc_core::sc_report& error) {
        throw std::runtime_error(error.get_msg());
    }
    ordered_json latencies = ordered_json::array(), failed = ordered_json::array();
    for (const ordered_json& batch : report.at("batches")) latencies.push_back(batch.at("latency_us"));
    for (const ordered_json& check : report.at("conservation")) {
        if (!check.at("ok").get<bool>())
            failed.push_back(
                {{"name", check.at("name")}, {"expected", check.at("expected")}, {"got", check.at("got")}});
    }
    return json_text(ordered_json{{"latency_us", latencies},
                                  {"run_us", report.at("summary").at("run_us")},
                                  {"validation", report.at("validation")},
                                  {"failed", failed}});
}

namespace {

double mean_latency(const ordered_json& model) {
    const auto latencies = model.at("latency_us").get<std::vector<double>>();
    return std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(latencies.size());
}

}  // namespace

ordered_json run_pair(std::uint64_t seed, PairSize size) {
    const Compiled compiled = first_that_fits(seed, size);
    const Pair& pair = compiled.pair;
    ordered_json result{{"seed", seed},
                        {"attempt", pair.attempt},
                        {"design", pair.design},
                        {"without", pair.without},
                        {"unit_samples", pair.unit_samples},
                        {"invocation", pair.invocation},
                        {"sample_routing", pair.sample_routing},
                        {"batches_in_flight", pair.batches_in_flight},
                        {"batches", pair.batches},
                        {"platform", pair.platform}};
    for (const char* impl : {"tiles", "stages"}) {
        const auto keep = [&](std::size_t, const std::string& text, double seconds) {
            result[impl] = parse_ordered_json(text, "answer of a process");
            result[impl]["seconds"] = seconds;
        };
        try {
            platform::run_in_processes(
                1, 1, [&](std::size_t) { return run_model(compiled, impl); }, keep);
        } catch (const platform::WorkFailed& failure) {
            result[impl] = {{"error", failure.what()}};
        }
    }
    if (!result["tiles"].contains("error") && !result["stages"].contains("error"))
        result["difference"] = mean_latency(result["stages"]) / mean_latency(result["tiles"]) - 1;
    return result;
}

std::vector<ordered_json> run_pairs(std::uint64_t first, std::size_t count, PairSize size, unsigned jobs) {
    std::vector<ordered_json> results(count);
    platform::run_in_processes(
        count, jobs, [&](std::size_t index) { return json_text(run_pair(first + index, size)); },
        [&](std::size_t index, const std::string& text, double) {
            results[index] = parse_ordered_json(text, "answer of a process");
        });
    return results;
}

void write_pair(std::uint64_t seed, PairSize size, const std::string& folder) {
    write_pair(first_that_fits(seed, size).pair, {"tiles", "stages"}, folder);
}

void write_pair(const Pair& pair, const std::vector<std::string>& impls, const std::string& folder) {
    fs::create_directories(folder);
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream file(fs::path(folder) / name);
        file << text;
        if (!file) throw InputError(folder, 0, name, "cannot be written");
    };
    write("network.yaml", pair.network.yaml);
    write("platform.yaml", platform_yaml(pair.platform));
    std::string options = " --design " + pair.design;
    for (const std::string& mechanism : pair.without) options += " --without " + mechanism;
    if (pair.unit_samples > 0) options += fmt::format(" --unit-samples {}", pair.unit_samples);
    if (pair.invocation != "micro_batch") options += " --invocation " + pair.invocation;
    if (pair.sample_routing != "sorted_reload") options += " --sample-routing " + pair.sample_routing;
    if (pair.batches_in_flight > 1) options += fmt::format(" --batches-in-flight {}", pair.batches_in_flight);
    if (!pair.sampling.empty()) options += " --sampling " + pair.sampling;
    std::string commands = fmt::format(
        "sy-sched compile {0}/network.yaml --platform {0}/platform.yaml{1} -o {0}/image.syk\n", folder, options);
    for (const std::string& impl : impls)
        commands += fmt::format(
            "sy-sim run --platform {0}/platform.yaml --image {0}/image.syk --batches {1} --set chip.impl={2} --report "
            "{0}/{2}\n",
            folder, pair.batches, impl);
    write("commands.sh", commands);
}

}  // namespace switchyard::testing
