#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::platform {

/// What is asked of a memory.
struct MemoryTraffic {
    std::string pattern = "sequential";  ///< "random", "strided", "trace"
    double read_share = 1;               ///< of the requests, drawn one by one
    std::uint64_t request_bytes = 64;
    std::uint64_t requests = 1000000;
    std::uint64_t stride_bytes = 4096;  ///< strided: between the beginnings of successive requests
    std::uint64_t seed = 1;
    double load_gb_per_s = 0;       ///< requests come evenly at this rate; 0: as fast as the memory takes them
    std::uint64_t outstanding = 0;  ///< requests in flight when load_gb_per_s is 0; 0: enough for all channels
    std::string trace;              ///< pattern trace: a file as hbm.request_log writes it
    bool timed = false;             ///< pattern trace: its requests come at their times
};

struct MemoryRunOptions {
    std::string impl = "bank";  ///< or "bandwidth"
    bool check_timing = false;  ///< impl bank: every command is checked
    std::string commands;       ///< impl bank: file for the commands (CSV)
};

struct MemoryFigures {
    std::uint64_t requests = 0, bytes = 0;
    double time_ns = 0;  ///< from the first arrival to the last completion
    double achieved_gb_per_s = 0;
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
