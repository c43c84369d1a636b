// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchyard::sched {

/// Addresses of a GPU's memory have 48 bits (ACE, section 4.4): what goes beyond begins anew at 0.
inline constexpr unsigned kAddressBits = 48;
inline constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << kAddressBits;

/// Bytes [start, start + size) of a device's memory, modulo kAddressSpace. start < kAddressSpace, size <=
/// kAddressSpace.
struct MemorySegment {
    std::uint64_t start = 0;
    std::uint64_t size = 0;

    bool operator==(const MemorySegment& o) const { return start == o.start && size == o.size; }
};

/// The two have a byte in common. An empty segment has none.
constexpr bool overlap(const MemorySegment& a, const MemorySegment& b) {
    if (a.size == 0 || b.size == 0) return false;
    return (b.start - a.start) % kAddressSpace < a.size || (a.start - b.start) % kAddressSpace < b.size;
}

}  // namespace switchyard::sched
