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
/// until all that count have arrived, for at most as many cycles again.
struct NocMeasurement {
    std::uint64_t generated = 0;                   ///< packets that count
    std::vector<std::uint64_t> latency_histogram;  ///< of those that arrived: packets by cycles
    std::uint64_t offered_flits = 0;               ///< generated in the measured cycles
    std::uint64_t accepted_flits = 0;              ///< of packets that arrived in the measured cycles
    /// Flits that left each router by each port (port::kNorth .. kWest, then the endpoint) in the measured cycles.
    std::vector<std::uint64_t> link_flits;
    std::uint64_t simulated_cycles = 0;

    std::uint64_t arrived() const;
    double mean_latency() const;
    /// The latency that the share `quantile` of the packets did not exceed; 0 if none arrived.
    std::uint64_t latency_quantile(double quantile) const;
    void add_latency(std::uint64_t cycles);
};

/// impl flit, rtl or lockstep. Throws std::invalid_argument for what the network, its RTL or the traffic does not take,
/// hw::flit::NoProgress, TwinFault.
NocMeasurement run_flit_network(const NocRun& run);
/// The same traffic on the packet-level model, hw::Torus. At most once a process: SystemC elaborates once.
NocMeasurement run_packet_network(const NocRun& run);

/// docs/cli.md describes it.
nlohmann::ordered_json noc_report(const NocRun& run, const NocMeasurement& measured);

}  // namespace switchyard::platform
