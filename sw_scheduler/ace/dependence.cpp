// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/ace/dependence.h"

#include <algorithm>

namespace switchyard::sched::ace {

namespace {

using Segments = std::vector<MemorySegment>;

template <class Test>
bool any_pair(const Segments& a, const Segments& b, Test test) {
    return std::any_of(a.begin(), a.end(), [&](const MemorySegment& one) {
        return std::any_of(b.begin(), b.end(), [&](const MemorySegment& other) { return test(one, other); });
    });
}

/// Lines 5 to 9 of Algorithm 1.
bool printed_overlap(const MemorySegment& a, const MemorySegment& b) {
    return a.start < b.start + b.size && a.start + a.size > b.start;
}

}  // namespace

bool depends_on(const Footprint& later, const Footprint& earlier, DependenceRule rule) {
    if (rule == DependenceRule::as_printed)
        return any_pair(later.writes, earlier.writes, printed_overlap) ||
               any_pair(later.writes, earlier.reads, printed_overlap);
    return any_pair(later.writes, earlier.writes, overlap) || any_pair(later.writes, earlier.reads, overlap) ||
           any_pair(later.reads, earlier.writes, overlap);
}

std::uint64_t segment_pairs(const Footprint& later, const Footprint& earlier, DependenceRule rule) {
    const std::uint64_t of_writes = later.writes.size() * (earlier.writes.size() + earlier.reads.size());
    return rule == DependenceRule::as_printed ? of_writes : of_writes + later.reads.size() * earlier.writes.size();
}

}  // namespace switchyard::sched::ace
