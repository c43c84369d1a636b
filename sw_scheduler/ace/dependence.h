// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/workload/memory_segment.h"

namespace switchyard::sched::ace {

/// What a kernel reads and writes, resolved just before its launch (ACE, section 4.1).
struct Footprint {
    std::vector<MemorySegment> reads, writes;
};

enum class DependenceRule {
    /// Read after write, write after read and write after write.
    all_hazards,
    /// Algorithm 1 of ACE as printed: the new kernel's write segments against the segments of the kernels in the
    /// window,
    /// with end addresses that do not wrap. It misses read after write. For comparison: its results are wrong.
    as_printed
};

/// The kernel `later` must not start before `earlier`, which was issued before it, has completed.
bool depends_on(const Footprint& later, const Footprint& earlier, DependenceRule rule);

/// Pairs of segments that this compares if none overlaps.
std::uint64_t segment_pairs(const Footprint& later, const Footprint& earlier, DependenceRule rule);

}  // namespace switchyard::sched::ace
