// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/statistics.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::platform;

TEST_CASE("means", "[experiment]") {
    CHECK(arithmetic_mean({3}) == 3);
    CHECK(arithmetic_mean({1, 2, 6}) == 3);
    CHECK(*geometric_mean({3}) == Approx(3));
    CHECK(*geometric_mean({1, 2, 4}) == Approx(2));
    CHECK(*geometric_mean({0.5, 2}) == Approx(1));
    CHECK_FALSE(geometric_mean({1, 0}));
    CHECK_FALSE(geometric_mean({1, -1}));
}

TEST_CASE("where a line crosses a level", "[experiment]") {
    CHECK(*crossing({0, 10, 20}, {2, 1.5, 0.5}, 1) == Approx(15));     // falling
    CHECK(*crossing({0, 10, 20}, {0, 0.5, 4.5}, 1) == Approx(11.25));  // rising
    CHECK(*crossing({0, 10, 20}, {2, 1, 0.5}, 1) == 10);
    CHECK(*crossing({0, 10, 20}, {2, 0, 2}, 1) == Approx(5));  // the first of two
    CHECK(*crossing({5}, {1}, 1) == 5);
    CHECK_FALSE(crossing({0, 10}, {3, 2}, 1));
    CHECK_FALSE(crossing({0, 10}, {0.5, 0.9}, 1));
}
