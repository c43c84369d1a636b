// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/hw/noc/flit/flit_config.h"

namespace switchyard::platform {

/// One run of a network under synthetic traffic.
struct NocRun {
    std::string impl = "flit";  ///< flit, packet, rtl or lockstep
    hw::flit::Config network;
    std::string traffic = "uniform";  ///< SyntheticTraffic
    double rate = 0.1;                ///< flits a node and cycle
    unsigned packet_flits = 1;
    std::uint64_t cycles = 20000;  ///< measured
    std::uint64_t warmup_cycles = 10000;
    std::uint64_t seed = 1;
};

/// What a run measured. A packet counts if it was generated in the measured cycles. After them the traffic goes on
/// until all that count have arrived, for at most drain_cycles().
struct NocMeasurement {
    std::uint64_t generated = 0;                   ///< packets that count
    std::vector<std::uint64_t> latency_histogram;  ///< of those that arrived: packets by cycles
    std::uint64_t offered_flits = 0;               ///< generated in the measured cycles
    std::uint64_t accepted_flits = 0;              ///< of packets that arrived in the measured cycles
    /// Flits that left each router by each port (port::kNorth .. kWest, then the endpoint) in the measured cycles.
    std::vector<double> link_flits;
    std::uint64_t simulated_cycles = 0;
    // impl: packet
    std::uint64_t zero_load_cycles = 0;  ///< latencies of the packets that count, had each been alone; summed
    double max_vc_busy = 0;              ///< share of all cycles: hw::Router::max_vc_busy_cycles

    std::uint64_t arrived() const;
    /// Undefined, as the quantile, if none arrived.
    double mean_latency() const;
    /// The latency that the share `quantile` of the packets did not exceed.
    std::uint64_t latency_quantile(double quantile) const;
    void add_latency(std::uint64_t cycles);
};

/// Where packets were compared with flits, test_packet_calibration.cpp: mean latencies differ by kPacketError at most
/// while both hold. Beyond, allocators that miss matches and buffers that fill make flits slower than packets.
constexpr double kPacketError = 0.10, kMaxPacketSlowdown = 1.5, kMaxPacketVcBusy = 0.7;

/// Mean latency of the packet model, of that in an idle network. A packet must have arrived.
double packet_slowdown(const NocMeasurement& measured);
/// Whether a run of the packet model is one for which kPacketError was shown. A packet must have arrived.
bool packets_validated(const NocMeasurement& measured);

/// How long a run waits for packets that count: as many cycles as are measured, and in any case a multiple of what a
/// packet needs in an idle network.
std::uint64_t drain_cycles(const NocRun& run);

/// Whether the network falls behind: packets have not arrived, or more packets came than arrived in the measured cycles
/// by 5 % and by more than the number of packets under way varies in a network that does not.
bool is_saturated(const NocRun& run, const NocMeasurement& measured);

/// Throws std::invalid_argument for packets that are longer than the measured cycles, which cannot show a load.
void check(const NocRun& run);

/// impl flit, rtl or lockstep. Throws std::invalid_argument for what the network, its RTL or the traffic does not take,
/// hw::flit::NoProgress, RtlFault.
NocMeasurement run_flit_network(const NocRun& run);
/// The same traffic on the packet-level model, hw::PacketNetwork. At most once a process: SystemC elaborates once.
NocMeasurement run_packet_network(const NocRun& run);

/// docs/cli.md describes it.
nlohmann::ordered_json noc_report(const NocRun& run, const NocMeasurement& measured);

}  // namespace switchyard::platform
