// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "switchyard/sw_scheduler/workload/memory_segment.h"

namespace switchyard::hw {

/// The L2 and the device memory as kernels see them.
struct GpuMemoryConfig {
    std::uint64_t l2_bytes = 40ull << 20;
    unsigned l2_block_bytes = 4096;
    double l2_bytes_per_cycle = 5120;
    double l2_efficiency = 1;              ///< share of it that kernels reach
    double l2_latency_ns = 142;            ///< 200 cycles
    double memory_latency_ns = 407;        ///< 574 cycles
    double memory_gb_per_s = 1555 * 0.93;  ///< what the device sustains; a composer sets it from a device file
    double memory_efficiency = 1;          ///< share of that that kernels reach

    double l2_gb_per_s(double clock_ghz) const { return l2_bytes_per_cycle * clock_ghz * l2_efficiency; }
    double kernels_gb_per_s() const { return memory_gb_per_s * memory_efficiency; }
};

template <class V>
void describe(V& v, GpuMemoryConfig& c) {
    v.field("l2_bytes", c.l2_bytes, 0, 1ull << 40, "capacity of the L2");
    v.field("l2_block_bytes", c.l2_block_bytes, 32, 1 << 20, "pieces in which the model fills and evicts it");
    v.field("l2_bytes_per_cycle", c.l2_bytes_per_cycle, 0.01, 1e9, "of all its slices");
    v.field("l2_efficiency", c.l2_efficiency, 0.01, 1, "share of that bandwidth that kernels reach; calibrated");
    v.field("l2_latency_ns", c.l2_latency_ns, 0, 1e6, "of a load that hits the L2");
    v.field("memory_latency_ns", c.memory_latency_ns, 0, 1e6, "of a load that misses it");
    v.field("memory_gb_per_s", c.memory_gb_per_s, 0.001, 1e6,
            "that device memory sustains; a platform file with a device takes it from there");
    v.field("memory_efficiency", c.memory_efficiency, 0.01, 1, "share of it that kernels reach; calibrated");
}

/// Which blocks of memory the L2 holds: least recently used goes first, written blocks are written back when they go.
///
/// Modelled: capacity, whole blocks, kernels one after another: each reads its segments at its first CTA, and writes
/// its own after that. Not modelled: sets, sectors, partitions of the L2 that copy each other's lines, what the CTAs of
/// one kernel evict of one another while they run.
class L2Cache {
public:
    /// `block_bytes`: a power of two.
    L2Cache(std::uint64_t capacity_bytes, std::uint64_t block_bytes);

    struct Traffic {
        std::uint64_t missed_bytes = 0;        ///< read from memory
        std::uint64_t written_back_bytes = 0;  ///< evicted for it
    };
    /// A segment is touched, in the order of its addresses. Beyond 2^48 it goes on at 0.
    Traffic read(const sched::MemorySegment& segment) { return touch(segment, false); }
    Traffic write(const sched::MemorySegment& segment) { return touch(segment, true); }

    std::uint64_t resident_bytes() const { return blocks_.size() * block_bytes_; }

private:
    struct Block {
        std::uint64_t number;
        bool dirty;
    };
    Traffic touch(const sched::MemorySegment& segment, bool write);
    /// Counts in one step the blocks from `number` on that a segment larger than the cache brings in and drops again.
    /// Called when nothing is left of what the cache held before the segment: all of them miss. Returns the first block
    /// that stays. Without it a segment of 2^48 bytes takes 2^36 steps.
    std::uint64_t pass_through(const sched::MemorySegment& segment, std::uint64_t number, std::uint64_t last,
                               bool write, Traffic& traffic);

    std::uint64_t block_bytes_;
    std::size_t capacity_blocks_;
    std::list<Block> blocks_;  ///< most recently used first
    std::unordered_map<std::uint64_t, std::list<Block>::iterator> index_;
};

}  // namespace switchyard::hw
