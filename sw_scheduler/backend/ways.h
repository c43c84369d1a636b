#pragma once

#include <algorithm>
#include <cstdint>

#include "switchyard/sw_scheduler/formats/rounding.h"

namespace switchyard::sched {

/// Ways that leave no rank idle: the fewest with the same block size.
inline std::uint32_t tight_ways(std::uint32_t size, std::uint32_t ways) {
    return ceil_div(size, ceil_div(size, ways));
}

/// Calls visit(first, second) for the splits of at most `ways` ways over two dimensions that differ in block size, with
/// at most `most_second` of them over the second.
template <class F>
void for_each_split(std::uint32_t first_size, std::uint32_t second_size, unsigned ways, unsigned most_second,
                    F&& visit) {
    const std::uint32_t most_first = std::min<std::uint32_t>(ways, first_size);
    // From one number of ways straight to the next with smaller blocks: there are few block sizes and many ways.
    for (std::uint32_t first = 1; first <= most_first;) {
        const std::uint32_t block = ceil_div(first_size, first);
        visit(first, tight_ways(second_size, std::min({ways / first, second_size, most_second})));
        if (block == 1) break;
        first = ceil_div(first_size, block - 1);
    }
}

}  // namespace switchyard::sched
