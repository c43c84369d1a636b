// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/noc_command.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {
namespace {

constexpr unsigned kMaxNodes = 4096, kMaxStageCycles = 100;
constexpr std::uint64_t kMaxCycles = 1000000000000;

/// `Count` numbers with `separator` between them, "8x8" or "1,1,1,1".
template <std::size_t Count>
std::array<unsigned, Count> numbers(const std::string& option, const std::string& text, char separator,
                                    const char* form) {
    std::array<unsigned, Count> found{};
    std::string_view rest = text;
    for (std::size_t i = 0; i < Count; ++i) {
        const std::size_t end = rest.find(separator);
        if ((end == std::string_view::npos) != (i + 1 == Count) ||
            parse_plain_number(rest.substr(0, end), found[i]) != Parsed::ok)
            throw InputError(option, 0, text, std::string("expected ") + form + ", found other text");
        rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    return found;
}

std::string table_of(const nlohmann::ordered_json& report) {
    const auto& latency = report.at("latency_cycles");
    const std::string packets =
        latency.at("mean").is_null()
            ? "no packets"
            : fmt::format("latency {:.2f} cycles (p50 {}, p99 {}, max {})", latency.at("mean").get<double>(),
                          latency.at("p50").get<std::uint64_t>(), latency.at("p99").get<std::uint64_t>(),
                          latency.at("max").get<std::uint64_t>());
    return fmt::format(
        "{} {} {}x{}, {} traffic of {}-flit packets at {} flits/node/cycle: {}, accepted {:.4f} flits/node/cycle, "
        "busiest link {:.1f} %{}\n",
        report.at("impl").get<std::string>(), report.at("topology").get<std::string>(),
        report.at("columns").get<unsigned>(), report.at("rows").get<unsigned>(),
        report.at("traffic").get<std::string>(), report.at("packet_flits").get<unsigned>(),
        report.at("rate").get<double>(), packets, report.at("accepted_flits_per_node_cycle").get<double>(),
        100 * report.at("largest_link_utilisation").get<double>(),
        report.at("saturated").get<bool>() ? "; saturated" : "");
}

/// Of the packet model: whether its latency can be trusted.
std::string validity_of(const nlohmann::ordered_json& report) {
    if (!report.contains("against_flits")) return "";
    const auto& found = report.at("against_flits");
    if (found.at("validated").get<bool>() || found.at("slowdown").is_null()) return "";
    return fmt::format(
        "not validated here: packets are within {:.0f} % of flits up to {} times an idle network's latency (here "
        "{:.2f}) "
        "and VCs that are busy {:.0f} % of the time (here {:.0f} %); --impl flit has no such bounds\n",
        100 * found.at("max_error").get<double>(), found.at("max_slowdown").get<double>(),
        found.at("slowdown").get<double>(), 100 * found.at("max_vc_busy").get<double>(),
        100 * found.at("vc_busy").get<double>());
}

std::string heat_map_of(const nlohmann::ordered_json& report) {
    std::string text;
    for (const auto& [direction, rows] : report.at("link_utilisation").items()) {
        text += fmt::format("{} (% of the cycles)\n", direction);
        for (const auto& row : rows) {
            for (const auto& use : row) text += fmt::format("{:5.0f}", 100 * use.get<double>());
            text += "\n";
        }
    }
    return text;
}

}  // namespace

void NocCommand::add_to(CLI::App& app) {
    given.watch(app);
    hw::flit::Config& network = noc.network;
    app.add_option("--topology", topology, "torus or mesh")->check(CLI::IsMember({"torus", "mesh"}));
    app.add_option("--size", size, "columns x rows, for example 8x8");
    app.add_option("--traffic", noc.traffic, fmt::format("{}", fmt::join(hw::SyntheticTraffic::patterns(), ", ")))
        ->check(CLI::IsMember(hw::SyntheticTraffic::patterns()));
    app.add_option("--rate", noc.rate, "flits a node and cycle")->check(number(0));
    app.add_option("--packet-flits", noc.packet_flits, "flits of a packet")->check(whole_number(1, 65536));
    app.add_option("--vcs", network.vcs, "virtual channels of an input")->check(whole_number(1, 12));
    app.add_option("--buffer", network.buffer_flits, "flits that a virtual channel's buffer holds")
        ->check(whole_number(1, 1024));
    app.add_option("--arbitration", arbitration, "of the flits' allocators: round_robin or oldest_first")
        ->check(CLI::IsMember({"round_robin", "oldest_first"}));
    app.add_option("--switch-iterations", network.switch_iterations, "of the flits' switch allocator")
        ->check(whole_number(1, 16));
    app.add_option("--impl", noc.impl, "flit, packet, rtl or lockstep")
        ->check(CLI::IsMember({"flit", "packet", "rtl", "lockstep"}));
    app.add_option("--cycles", noc.cycles, "measured cycles")->check(whole_number(1, kMaxCycles));
    app.add_option("--warmup", warmup, "cycles before; default: half the measured ones")
        ->check(whole_number(0, kMaxCycles));
    app.add_option("--pipeline", pipeline,
                   "cycles of route computation, VC allocation, switch allocation, switch traversal");
    app.add_option(
           "--link-cycles", link_cycles,
           "flight time of a link between routers; default: 2 on a torus, whose neighbours lie two routers apart "
           "when it is folded, 1 on a mesh")
        ->check(whole_number(1, kMaxStageCycles));
    app.add_option("--seed", noc.seed, "of the traffic")->check(whole_number(0));
    app.add_flag("--without-dateline", without_dateline, "flit: a torus without dateline classes, which deadlocks");
    app.add_flag("--heat-map", heat_map, "print the utilisation of every link");
    app.add_option("--json", json, "file for the result");
}

void NocCommand::resolve() {
    hw::flit::Config& network = noc.network;
    network.torus = topology == "torus";
    const auto [columns, rows] = numbers<2>("--size", size, 'x', "columns x rows, like 8x8");
    // More than a chip can have would only fill the memory.
    if (columns == 0 || rows == 0 || std::uint64_t{columns} * rows > kMaxNodes)
        throw InputError("--size", 0, size, fmt::format("expected 1 to {} nodes, found {}", kMaxNodes, size));
    network.columns = columns;
    network.rows = rows;
    const auto stages = numbers<4>("--pipeline", pipeline, ',', "four numbers of cycles, like 1,1,1,1");
    for (const unsigned cycles : stages)
        if (cycles > kMaxStageCycles)
            throw InputError("--pipeline", 0, pipeline,
                             fmt::format("expected {} cycles at most, found {}", kMaxStageCycles, pipeline));
    network.routing_cycles = stages[0];
    network.vc_alloc_cycles = stages[1];
    network.switch_alloc_cycles = stages[2];
    network.switch_cycles = stages[3];
    network.link_cycles = link_cycles > 0 ? link_cycles : (network.torus ? 2 : 1);
    network.oldest_first = arbitration == "oldest_first";
    network.dateline = !without_dateline;
    noc.warmup_cycles = warmup >= 0 ? static_cast<std::uint64_t>(warmup) : noc.cycles / 2;
}

std::vector<UnusedParameter> NocCommand::unused() const {
    const bool flits = noc.impl != "packet";
    constexpr const char* kFlits = "goes with --impl flit, rtl or lockstep";
    return given.unused({{"arbitration", flits, kFlits},
                         {"switch-iterations", flits, kFlits},
                         {"without-dateline", flits && noc.network.torus,
                          "goes with --topology torus and --impl flit, rtl or lockstep"}});
}

nlohmann::ordered_json NocCommand::report() const {
    try {
        return noc_report(noc, noc.impl == "packet" ? run_packet_network(noc) : run_flit_network(noc));
    } catch (const std::invalid_argument& error) {
        throw InputError("noc", 0, "", error.what());
    }
}

int NocCommand::run() {
    resolve();
    refuse(unused());
    const nlohmann::ordered_json result = report();
    if (!json.empty()) write_json(result, json);
    fmt::print("{}{}{}", table_of(result), validity_of(result), heat_map ? heat_map_of(result) : "");
    return 0;
}

}  // namespace switchyard::platform
