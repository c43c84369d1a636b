// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/value_memory.h"

#include <algorithm>

namespace switchyard::platform::ace {

namespace {

using Interval = boost::icl::discrete_interval<std::uint64_t>;

/// SplitMix64's finaliser.
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
}

/// The parts of a segment in front of and behind the end of the address space.
template <class Visit>
void for_each_part(const sched::MemorySegment& segment, Visit visit) {
    const std::uint64_t first = std::min(segment.size, sched::kAddressSpace - segment.start);
    if (first > 0) visit(Interval::right_open(segment.start, segment.start + first));
    if (segment.size > first) visit(Interval::right_open(0, segment.size - first));
}

}  // namespace

std::uint64_t ValueMemory::digest(const std::vector<sched::MemorySegment>& reads, std::uint64_t number) const {
    std::uint64_t result = mixed(number + 1);
    for (const sched::MemorySegment& segment : reads)
        for_each_part(segment, [&](const Interval& part) {
            const auto [begin, end] = values_.equal_range(part);
            for (auto entry = begin; entry != end; ++entry) {
                const Interval common = entry->first & part;
                result = mixed(result ^ mixed(common.lower()) ^ mixed(entry->second + common.upper()));
            }
        });
    return result;
}

void ValueMemory::write(const std::vector<sched::MemorySegment>& writes, std::uint64_t value) {
    for (const sched::MemorySegment& segment : writes)
        for_each_part(segment, [&](const Interval& part) { values_.set({part, value}); });
}

std::uint64_t ValueMemory::digest() const {
    std::uint64_t result = 0;
    for (const auto& [interval, value] : values_)
        result = mixed(result ^ mixed(interval.lower()) ^ mixed(value + interval.upper()));
    return result;
}

}  // namespace switchyard::platform::ace
