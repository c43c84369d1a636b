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
    std::uint32_t previous = 0;
    for (unsigned first = 1; first <= std::min<std::uint32_t>(ways, first_size); ++first) {
        const std::uint32_t tight = tight_ways(first_size, first);
        if (tight == previous) continue;
        previous = tight;
        visit(tight, tight_ways(second_size, std::min({ways / tight, second_size, most_second})));
    }
}

}  // namespace switchyard::sched
