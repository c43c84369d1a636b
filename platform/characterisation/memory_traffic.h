// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::platform {

/// What is asked of a memory. Patterns of addresses:
/// - sequential: one request behind the other, from address 0 on;
/// - random: each request anywhere, at a multiple of its size;
/// - strided: stride_bytes from one request to the next;
/// - streams: `streams` sequential streams in turn, each in its own equal share of the memory;
/// - alternating: sequential, a read and a write in turn;
/// - copy: a sequential read stream in the lower half of the memory and a sequential write stream in the upper half, in
///   turn;
/// - row-conflict: in turn to two rows of the same bank, sequential within each;
/// - trace: the requests of a file.
struct MemoryTraffic {
    std::string pattern = "sequential";
    double read_share = 1;  ///< of the requests, drawn one by one; alternating and copy: one half, whatever stands here
    std::uint64_t request_bytes = 64;
    std::uint64_t requests = 1000000;
    std::uint64_t stride_bytes = 4096;  ///< strided: between the beginnings of successive requests
    std::uint64_t streams = 16;         ///< streams: number of streams
    std::uint64_t seed = 1;
    double load_gb_per_s = 0;       ///< requests come evenly at this rate; 0: as fast as the memory takes them
    std::uint64_t outstanding = 0;  ///< requests in flight when load_gb_per_s is 0; 0: enough for all channels
    std::string trace;              ///< pattern trace: a file as hbm.request_log writes it
    bool timed = false;             ///< pattern trace: its requests come at their times
};

/// The names of all patterns.
const std::vector<std::string>& memory_patterns();

struct MemoryRequest {
    std::uint64_t address = 0, bytes = 0;
    bool write = false;
    double time_ns = 0;  ///< of a trace
};

/// The requests of a traffic, one after another. The same traffic gives the same requests.
class MemoryTrafficSource {
public:
    /// Throws InputError for traffic that makes no sense on the device, and for a trace that cannot be read.
    MemoryTrafficSource(const MemoryTraffic& traffic, const hw::dram::Device& device);

    bool may_write() const { return !trace_.empty() || turns() || traffic_.read_share < 1; }
    std::uint64_t count() const { return trace_.empty() ? traffic_.requests : trace_.size(); }
    /// Requests come at times of their own, not as the memory takes them.
    bool scheduled() const { return traffic_.load_gb_per_s > 0 || traffic_.timed; }
    bool timed() const { return traffic_.timed; }
    /// When the last of scheduled() requests comes, from the first on.
    double last_ns() const;
    /// When the next one comes, from the first on.
    double next_ns() const { return traffic_.timed ? trace_[sent_].time_ns - trace_.front().time_ns : next_ns_; }
    MemoryRequest next();

private:
    /// Reads and writes take turns.
    bool turns() const { return traffic_.pattern == "alternating" || traffic_.pattern == "copy"; }
    std::uint64_t address(std::uint64_t i);

    MemoryTraffic traffic_;
    std::uint64_t capacity_bytes_, slots_;
    std::uint64_t row_stride_bytes_;  ///< from a row to the next one of the same bank
    std::uint64_t sent_ = 0;
    double next_ns_ = 0;
    std::mt19937_64 random_;
    std::vector<MemoryRequest> trace_;
};

}  // namespace switchyard::platform
