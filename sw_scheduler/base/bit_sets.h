// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchyard {

/// Sets of numbers below 64, a bit each.
constexpr std::uint64_t bit(unsigned number) {
    return std::uint64_t{1} << number;
}

/// The lowest `count` bits, 0 to 64.
constexpr std::uint64_t low_bits(unsigned count) {
    return count >= 64 ? ~std::uint64_t{0} : bit(count) - 1;
}

/// Takes the lowest set bit out of `mask`, which is not 0, and returns its number.
inline unsigned take_first(std::uint64_t& mask) {
    const auto number = static_cast<unsigned>(__builtin_ctzll(mask));
    mask &= mask - 1;
    return number;
}

}  // namespace switchyard
