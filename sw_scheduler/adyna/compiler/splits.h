// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

/// The factor that leaves no rank idle: the smallest with the same block size.
inline std::uint32_t tight_factor(std::uint32_t size, std::uint32_t factors) {
    return ceil_div(size, ceil_div(size, factors));
}

/// Calls visit(first, second) for the splits of at most `factor` parts over two dimensions that differ in block size,
/// with at most `max_second` of them over the second.
template <class F>
void for_each_split(std::uint32_t first_size, std::uint32_t second_size, unsigned factors, unsigned max_second,
                    F&& visit) {
    const std::uint32_t max_first = std::min<std::uint32_t>(factors, first_size);
    // From one factor straight to the next with smaller blocks: there are few block sizes and many factors.
    for (std::uint32_t first = 1; first <= max_first;) {
        const std::uint32_t block = ceil_div(first_size, first);
        visit(first, tight_factor(second_size, std::min({factors / first, second_size, max_second})));
        if (block == 1) break;
        first = ceil_div(first_size, block - 1);
    }
}

}  // namespace switchyard::sched
