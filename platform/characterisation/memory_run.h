// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/platform/characterisation/memory_traffic.h"

namespace switchyard::platform {

struct MemoryRunOptions {
    std::string impl = "bank";  ///< or "bandwidth"
    bool check_timing = false;  ///< impl bank: every command is checked
    std::string commands;       ///< impl bank: file for the commands (CSV)
};

struct MemoryFigures {
    std::uint64_t requests = 0, bytes = 0;
    double time_ns = 0;  ///< from the first arrival to the last completion
    double achieved_gb_per_s = 0;
    double bus_gb_per_s = 0;  ///< of it, what is not answered from the queue of writes
    double latency_ns = 0, latency_p50_ns = 0, latency_p99_ns = 0, latency_max_ns = 0;  ///< of requests
    double row_hit_rate = 0;                                                            ///< of bursts; impl bank
    double refresh_share = 0;  ///< of the time of a bank; impl bandwidth: as configured
    std::uint64_t activates = 0, refreshes = 0, turnarounds = 0, forwarded_reads = 0;
    double host_seconds = 0;  ///< processor time
};

/// Sends the traffic to a memory and measures; without SystemC. The same traffic gives the same figures but for
/// host_seconds. Throws InputError for traffic that makes no sense, a trace that cannot be read, and a file that cannot
/// be written.
MemoryFigures run_memory(const hw::dram::Device& device, const MemoryTraffic& traffic, const MemoryRunOptions& options);

/// What `sy-sim mem --json` writes: figures, device, mapping, bounds; without host_seconds. docs/models/dram.md has the
/// keys.
nlohmann::ordered_json memory_json(const hw::dram::Device& device, const MemoryTraffic& traffic,
                                   const MemoryRunOptions& options, const MemoryFigures& figures);

/// Two or three lines for people.
std::string memory_text(const hw::dram::Device& device, const MemoryTraffic& traffic, const MemoryRunOptions& options,
                        const MemoryFigures& figures);

}  // namespace switchyard::platform
