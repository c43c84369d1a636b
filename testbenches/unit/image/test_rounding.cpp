// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <type_traits>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;

TEST_CASE("a division is rounded up to the least product that is large enough", "[rounding]") {
    for (std::uint32_t b = 1; b <= 20; ++b) {
        std::uint32_t min = 0;
        for (std::uint32_t a = 0; a <= 100; ++a) {
            while (min * b < a) ++min;
            CHECK(ceil_div(a, b) == min);
            CHECK(round_up(a, b) == min * b);
        }
    }
}

TEST_CASE("a division is rounded up near the end of the range", "[rounding]") {
    constexpr auto kLast = std::numeric_limits<std::uint64_t>::max();
    CHECK(ceil_div(kLast, std::uint64_t{2}) == std::uint64_t{1} << 63);
    CHECK(ceil_div(kLast, kLast) == 1);
    CHECK(ceil_div(std::numeric_limits<std::uint32_t>::max(), std::uint32_t{2}) == 1u << 31);
    CHECK(ceil_div(std::uint16_t{0xFFFF}, std::uint16_t{2}) == 0x8000);
    static_assert(std::is_same_v<decltype(ceil_div(std::uint16_t{1}, std::uint16_t{1})), std::uint32_t>);
    static_assert(std::is_same_v<decltype(ceil_div(std::uint32_t{1}, std::uint64_t{1})), std::uint64_t>);
}
