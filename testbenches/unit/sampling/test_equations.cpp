// SPDX-License-Identifier: Apache-2.0
// Section VII of Adyna, worked by hand.

#include <limits>

#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("The loss is what the next kernel has too many", "[sampling]") {
    // dyn_dim:                0  1  2  3  4  5  6
    const Distribution phi({5, 1, 0, 2, 3, 0, 4});
    CHECK(phi.total() == 15);
    CHECK(phi.mean() == Approx((1 + 2 * 3 + 3 * 4 + 4 * 6) / 15.0));
    CHECK(phi.frequency(0, 6) == 10);
    CHECK(phi.frequency(1, 4) == 5);
    CHECK(phi.loss(0, 6) == 1 * 5 + 2 * 3 + 3 * 2);
    CHECK(phi.loss(1, 4) == 2 * 1);
    CHECK(expected_loss(phi, {6}) == Approx(17 / 15.0));
    CHECK(expected_loss(phi, {3, 6}) == Approx((1 * 2 + 3 * 2) / 15.0));
    CHECK(expected_loss(phi, {1, 2, 3, 4, 5, 6}) == 0);
    CHECK(expected_loss(Distribution({0, 0, 0}), {2}) == 0);
}

TEST_CASE("A distribution refuses what is none", "[sampling]") {
    CHECK_THROWS_AS(Distribution({}), std::invalid_argument);
    CHECK_THROWS_AS(Distribution({1}), std::invalid_argument);
    CHECK_THROWS_AS(Distribution({1, -1}), std::invalid_argument);
    CHECK_THROWS_AS(Distribution({1, kInfinity - kInfinity}), std::invalid_argument);
    CHECK_THROWS_AS(Distribution(Values(65537, 1)), std::invalid_argument);
    CHECK(Distribution(Values(65536, 1)).largest() == 65535);
}

TEST_CASE("The initial kernels span 1 to the largest evenly", "[sampling]") {
    CHECK(uniform_dyn_dims(8, 1) == DynDims{8});
    CHECK(uniform_dyn_dims(8, 3) == DynDims{3, 6, 8});
    CHECK(uniform_dyn_dims(128, 4) == DynDims{32, 64, 96, 128});
    CHECK(uniform_dyn_dims(4, 200) == DynDims{1, 2, 3, 4});
    CHECK(uniform_dyn_dims(1, 5) == DynDims{1});
    CHECK(uniform_dyn_dims(65535, 2) == DynDims{32768, 65535});
}

TEST_CASE("Profilers count the dyn_dims of a kernel's range", "[sampling]") {
    const Distribution phi({5, 1, 0, 2, 3, 0, 4});
    const Samples counted = selected_counts(phi, {2, 3, 6});
    CHECK(counted.values == DynDims{2, 3, 6});
    CHECK(counted.frequency == Values{1, 2, 7});
    const Distribution assumed = uniform_within_ranges({{2, 3, 6}, {1, 2, 6}}, 4);
    CHECK(assumed.frequencies() == Values{4, 0.5, 0.5, 2, 2, 2, 2});
}

TEST_CASE("Equation (1): removing a value costs its frequency times the step to the next", "[sampling]") {
    CHECK(calc_punish({{2, 4, 8}, {4, 3, 8}}) == Values{4 * 2, 3 * 4, kInfinity});
    CHECK(calc_punish({{7}, {1}}) == Values{kInfinity});
    // ... which is the growth of the loss, whatever the distribution within the ranges.
    const Distribution phi({5, 1, 0, 2, 3, 0, 4});
    const std::vector<double> punish = calc_punish(selected_counts(phi, {2, 3, 6}));
    const double before = expected_loss(phi, {2, 3, 6});
    CHECK(punish[0] == Approx(phi.total() * (expected_loss(phi, {3, 6}) - before)));
    CHECK(punish[1] == Approx(phi.total() * (expected_loss(phi, {2, 6}) - before)));
}

TEST_CASE("Adding the middle of a range saves a quarter of its frequency times its width", "[sampling]") {
    CHECK(calc_saving({{2, 6, 8}, {3, 4, 5}}) == Values{3 * 2 / 4.0, 4 * 4 / 4.0, 5 * 2 / 4.0});
    // Of (0, 5] the middle is 2: two fifths of the frequency save three samples each. (5, 6] has no middle.
    CHECK(calc_saving({{5, 6}, {10, 9}}) == Values{10 * 2 / 5.0 * 3, 0});
    CHECK(calc_saving({{1, 2}, {10, 9}}) == Values{0, 0});
    // ... which is how much the loss shrinks if the dyn_dims of a range are equally frequent.
    const Samples samples{{5, 12}, {10, 21}};
    const Distribution phi = uniform_within_ranges(samples);
    const std::vector<double> saving = calc_saving(samples);
    CHECK(saving[0] == Approx(phi.total() * (expected_loss(phi, {5, 12}) - expected_loss(phi, {2, 5, 12}))));
    CHECK(saving[1] == Approx(phi.total() * (expected_loss(phi, {5, 12}) - expected_loss(phi, {5, 8, 12}))));
}

TEST_CASE("Algorithm 2 spreads a frequency over the new values of its range", "[sampling]") {
    CHECK(redistribute({{2, 4, 8}, {1, 4, 11}}, {4, 6, 8}) == Values{1 + 4, 11 * 2 / 4.0, 11 * 2 / 4.0});
    // (0, 3]: a third each to 1 and 2, and what is above 2 runs the kernel for 7. (3, 10]: 4 of 7 parts to 7, 3 to 10.
    CHECK(redistribute({{3, 10}, {6, 14}}, {1, 2, 7, 10}) == Values{2, 2, 2 + 8, 6});
    CHECK(redistribute({{2, 6}, {4, 8}}, {6}) == Values{12});
    CHECK(redistribute({{2, 6}, {4, 8}}, {2, 6}) == Values{4, 8});
    // All of (2, 4], which has lost its value, goes to 8; lines 5 and 6 are the same for the first range.
    CHECK(redistribute({{2, 4, 8}, {1, 5, 7}}, {2, 8}) == Values{1, 12});
}

TEST_CASE("Algorithm 1, iteration by iteration", "[sampling]") {
    Samples samples{{2, 4, 8}, {1, 4, 11}};
    // Punishments 2, 16: 2 goes, and 4 takes over its 1. Savings (4 + 1) * 4 / 4 = 5 and 11 * 4 / 4 = 11: 6 comes.
    REQUIRE(resample_once(samples));
    CHECK(samples.values == DynDims{4, 6, 8});
    CHECK(samples.frequency == Values{5, 5.5, 5.5});
    // Punishments 10, 11: 4 goes. Savings of {6, 8} with 10.5 and 5.5: 15.75 and 2.75: 3 comes; of the 5 in (0, 4]
    // three quarters are its own, the others run the kernel for 6.
    REQUIRE(resample_once(samples));
    CHECK(samples.values == DynDims{3, 6, 8});
    CHECK(samples.frequency == Values{3.75, 6.75, 5.5});
    // Punishments 11.25, 13.5: 3 goes and would come back.
    CHECK_FALSE(resample_once(samples));
    CHECK(samples.values == DynDims{3, 6, 8});
    CHECK(samples.frequency == Values{3.75, 6.75, 5.5});

    CHECK(resample({{2, 4, 8}, {1, 4, 11}}, 1).values == DynDims{4, 6, 8});
    CHECK(resample({{2, 4, 8}, {1, 4, 11}}, 100).values == DynDims{3, 6, 8});
    CHECK(resample({{2, 4, 8}, {1, 4, 11}}, 0).values == DynDims{2, 4, 8});
}

TEST_CASE("Algorithm 1 stops where there is nothing to add", "[sampling]") {
    // Nothing lies between the values.
    CHECK(resample({{1, 2, 3}, {1, 2, 3}}, 9).values == DynDims{1, 2, 3});
    // 1 goes; the middle of (0, 2] is 1.
    CHECK(resample({{1, 2}, {1, 5}}, 9).values == DynDims{1, 2});
    // Nothing was counted.
    CHECK(resample({{4, 8}, {0, 0}}, 9).values == DynDims{4, 8});
    // The only value cannot go.
    CHECK(resample({{8}, {5}}, 9).values == DynDims{8});
}

TEST_CASE("Algorithm 1 may make it worse, the best of its sets does not", "[sampling]") {
    // The first value alone has all the units, so its removal costs 10 * 99; 50, the middle of (0, 100], saves 250.
    const Samples samples{{1, 100}, {10, 0}};
    CHECK(resample(samples, 1).values == DynDims{50, 100});
    CHECK(resample_best(samples, 1) == DynDims{1, 100});
    // Of the walk {2, 4, 8}, {4, 6, 8}, {3, 6, 8} above it depends on phi which is best.
    const Samples walk{{2, 4, 8}, {1, 4, 11}};
    CHECK(resample_best(walk, 9, Distribution({0, 0, 9, 0, 0, 0, 1, 0, 1})) == DynDims{2, 4, 8});
    CHECK(resample_best(walk, 9, Distribution({0, 0, 0, 0, 1, 0, 9, 0, 1})) == DynDims{4, 6, 8});
    CHECK(resample_best(walk, 9, Distribution({0, 0, 0, 9, 0, 0, 9, 0, 1})) == DynDims{3, 6, 8});
}

TEST_CASE("Where phi is known, values go to the best place of all", "[sampling]") {
    // dyn_dim:               0  1  2  3  4  5  6  7  8
    const Distribution phi({0, 0, 0, 6, 0, 0, 0, 1, 1});
    // {4, 8} loses 6 + 1. Removing 4 costs 6 * 4; of {8}, 3 saves 6 * 5, more than any other.
    CHECK(refine({4, 8}, phi) == DynDims{3, 8});
    // {2, 4, 8}: 2 has nothing, so it goes for free; 7 saves 1 and 3 saves 6: 3 comes. Then 4 goes, 7 comes.
    CHECK(refine({2, 4, 8}, phi) == DynDims{3, 7, 8});
    CHECK(refine({3, 7, 8}, phi) == DynDims{3, 7, 8});
    CHECK(refine({8}, phi) == DynDims{8});
}

}  // namespace
}  // namespace switchyard::sched
