// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::flit {

/// What is seldom so, for the compiler's layout of a hot path.
constexpr bool seldom(bool condition) {
    return __builtin_expect(static_cast<long>(condition), 0L) != 0;
}

/// The first set bit at or after `begin`, cyclically: a round-robin arbiter whose pointer is `begin`. `mask` != 0.
inline unsigned first_from(std::uint64_t mask, unsigned begin) {
    const std::uint64_t later = mask >> begin << begin;
    return static_cast<unsigned>(__builtin_ctzll(later != 0 ? later : mask));
}

/// The same with the pointer behind `last`.
inline unsigned first_behind(std::uint64_t mask, unsigned last) {
    const std::uint64_t later = mask & -(std::uint64_t{2} << last);
    return static_cast<unsigned>(__builtin_ctzll(later != 0 ? later : mask));
}

/// The set bit with the least key(bit), of several the first one behind `last`, cyclically. `mask` != 0.
template <class Key>
unsigned min_behind(std::uint64_t mask, unsigned last, Key&& key) {
    const std::uint64_t later = mask & -(std::uint64_t{2} << last);
    unsigned min = first_behind(mask, last);
    for (std::uint64_t part : {later, mask & ~later}) {
        for (; part != 0; part &= part - 1) {
            const auto bit = static_cast<unsigned>(__builtin_ctzll(part));
            if (key(bit) < key(min)) min = bit;
        }
    }
    return min;
}

/// Several of `who` have each bit of `contested` in their grants: leaves it to the one that choose(bit, mask of them)
/// names.
template <class Choose>
void leave_to_one(std::uint64_t* grants, std::uint64_t who, std::uint64_t contested, Choose&& choose) {
    while (contested != 0) {
        const unsigned number = take_first(contested);
        std::uint64_t rivals = 0;
        for (std::uint64_t mask = who; mask != 0;) {
            const unsigned rival = take_first(mask);
            rivals |= (grants[rival] >> number & 1) << rival;
            grants[rival] &= ~bit(number);
        }
        grants[choose(number, rivals)] |= bit(number);
    }
}

}  // namespace switchyard::hw::flit
