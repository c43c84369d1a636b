// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/hw/noc/flit/route.h"
#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/platform/characterisation/noc_run.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

void NocMeasurement::add_latency(std::uint64_t cycles) {
    if (cycles >= latency_histogram.size()) latency_histogram.resize(cycles + 1);
    ++latency_histogram[cycles];
}

std::uint64_t NocMeasurement::arrived() const {
    std::uint64_t count = 0;
    for (const std::uint64_t packets : latency_histogram) count += packets;
    return count;
}

double NocMeasurement::mean_latency() const {
    double sum = 0;
    for (std::size_t cycles = 0; cycles < latency_histogram.size(); ++cycles)
        sum += static_cast<double>(cycles) * static_cast<double>(latency_histogram[cycles]);
    return sum / static_cast<double>(arrived());
}

std::uint64_t NocMeasurement::latency_quantile(double quantile) const {
    const double wanted = quantile * static_cast<double>(arrived());
    std::uint64_t count = 0;
    for (std::size_t cycles = 0; cycles < latency_histogram.size(); ++cycles) {
        count += latency_histogram[cycles];
        if (count > 0 && static_cast<double>(count) >= wanted) return cycles;
    }
    return 0;
}

double packet_slowdown(const NocMeasurement& measured) {
    const double idle = static_cast<double>(measured.zero_load_cycles) / static_cast<double>(measured.arrived());
    return measured.mean_latency() / idle;
}

bool packets_validated(const NocMeasurement& measured) {
    return packet_slowdown(measured) <= kMaxPacketSlowdown && measured.max_vc_busy <= kMaxPacketVcBusy;
}

std::uint64_t drain_cycles(const NocRun& run) {
    constexpr std::uint64_t kIdleLatencies = 16;
    const hw::flit::Config& network = run.network;
    const std::uint64_t hop =
        network.router_cycles() + std::uint64_t{network.link_cycles} + network.endpoint_link_cycles;
    const std::uint64_t idle = (std::uint64_t{network.columns} + network.rows) * hop + run.packet_flits;
    return std::max(run.cycles, kIdleLatencies * idle);
}

bool is_saturated(const NocRun& run, const NocMeasurement& measured) {
    const std::uint64_t arrived = measured.arrived();
    if (arrived < measured.generated) return true;
    if (arrived == 0) return false;
    constexpr double kShare = 0.05, kPackets = 3, kDeviations = 6;
    const auto generated = static_cast<double>(measured.generated);
    const double behind = generated - static_cast<double>(measured.accepted_flits) / run.packet_flits;
    // Little's law: packets under way. Their number at the two ends of the window differs by chance.
    const double under_way = generated / static_cast<double>(run.cycles) * measured.mean_latency();
    return behind > kShare * generated && behind > kPackets + kDeviations * std::sqrt(under_way);
}

void check(const NocRun& run) {
    if (run.packet_flits > run.cycles)
        throw std::invalid_argument(
            fmt::format("packets: expected at most as many flits as the {} measured cycles, found {}; take shorter "
                        "packets or more cycles",
                        run.cycles, run.packet_flits));
}

namespace {

/// By direction, rows of the utilisation of the links that leave each router: the heat map.
ordered_json link_map(const NocRun& run, const NocMeasurement& measured, double& largest) {
    constexpr const char* kNames[] = {"north", "east", "south", "west", "ejection"};
    constexpr unsigned kPorts = hw::port::kLocal + 1;
    ordered_json map;
    for (unsigned p = 0; p < kPorts; ++p) {
        ordered_json rows = ordered_json::array();
        for (unsigned y = 0; y < run.network.rows; ++y) {
            ordered_json row = ordered_json::array();
            for (unsigned x = 0; x < run.network.columns; ++x) {
                const double use =
                    measured.link_flits[(y * run.network.columns + x) * kPorts + p] / static_cast<double>(run.cycles);
                if (p < hw::port::kLocal) largest = std::max(largest, use);
                row.push_back(use);
            }
            rows.push_back(std::move(row));
        }
        map[kNames[p]] = std::move(rows);
    }
    return map;
}

double mean_hops(const hw::flit::Config& network) {
    const hw::flit::RouteTable routes(network);
    double sum = 0;
    for (unsigned from = 0; from < network.routers(); ++from)
        for (unsigned to = 0; to < network.routers(); ++to) sum += routes.hops(from, to);
    return sum / (static_cast<double>(network.routers()) * network.routers());
}

}  // namespace

ordered_json noc_report(const NocRun& run, const NocMeasurement& measured) {
    const hw::flit::Config& network = run.network;
    const double node_cycles = static_cast<double>(network.routers()) * static_cast<double>(run.cycles);
    const double offered = static_cast<double>(measured.offered_flits) / node_cycles;
    const double accepted = static_cast<double>(measured.accepted_flits) / node_cycles;
    const bool any = measured.arrived() > 0;
    double largest = 0;
    ordered_json map = link_map(run, measured, largest);
    ordered_json report{{"format", "switchyard-noc"},
                        {"version", 1},
                        {"impl", run.impl},
                        {"topology", network.torus ? "torus" : "mesh"},
                        {"columns", network.columns},
                        {"rows", network.rows},
                        {"traffic", run.traffic},
                        {"rate", run.rate},
                        {"packet_flits", run.packet_flits},
                        {"cycles", run.cycles},
                        {"warmup_cycles", run.warmup_cycles},
                        {"seed", run.seed}};
    report["vcs"] = network.vcs;
    report["buffer_flits"] = network.buffer_flits;
    if (run.impl != "packet") {
        report["arbitration"] = network.oldest_first ? "oldest_first" : "round_robin";
        report["switch_iterations"] = network.switch_iterations;
        report["pipeline_cycles"] = {{"routing", network.routing_cycles},
                                     {"vc_alloc", network.vc_alloc_cycles},
                                     {"switch_alloc", network.switch_alloc_cycles},
                                     {"switch", network.switch_cycles}};
    } else {
        report["router_cycles"] = network.router_cycles();
    }
    report["link_cycles"] = network.link_cycles;
    report["endpoint_link_cycles"] = network.endpoint_link_cycles;
    report["mean_hops_uniform"] = mean_hops(network);
    report["packets"] = {{"generated", measured.generated}, {"arrived", measured.arrived()}};
    report["saturated"] = is_saturated(run, measured);
    report["offered_flits_per_node_cycle"] = offered;
    report["accepted_flits_per_node_cycle"] = accepted;
    // A mean of no packets is no number.
    const auto of_packets = [any](auto value) { return any ? ordered_json(value()) : ordered_json(); };
    if (run.impl == "packet")
        report["against_flits"] = {{"validated", any && packets_validated(measured)},
                                   {"max_error", kPacketError},
                                   {"slowdown", of_packets([&] { return packet_slowdown(measured); })},
                                   {"max_slowdown", kMaxPacketSlowdown},
                                   {"vc_busy", measured.max_vc_busy},
                                   {"max_vc_busy", kMaxPacketVcBusy}};
    report["latency_cycles"] = {{"mean", of_packets([&] { return measured.mean_latency(); })},
                                {"p50", of_packets([&] { return measured.latency_quantile(0.50); })},
                                {"p99", of_packets([&] { return measured.latency_quantile(0.99); })},
                                {"max", of_packets([&] { return measured.latency_histogram.size() - 1; })}};
    report["largest_link_utilisation"] = largest;
    report["link_utilisation"] = std::move(map);
    return report;
}

}  // namespace switchyard::platform
