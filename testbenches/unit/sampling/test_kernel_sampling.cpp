// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/kernel_sampling.h"
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"
#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {
namespace {

const OperatorProfile kCounted{32, false, {{0, 2}, {9, 10}, {10, 20}, {11, 15}, {30, 3}}};
const OperatorProfile kByKernel{32, true, {{0, 2}, {8, 1}, {16, 4}, {24, 40}, {32, 3}}};

TEST_CASE("The names of samplings", "[sampling]") {
    CHECK(parse_sampling("uniform") == Sampling::uniform);
    CHECK(parse_sampling("profile") == Sampling::profile);
    CHECK(parse_sampling("optimal") == Sampling::optimal);
    CHECK_THROWS_WITH(parse_sampling("best"), "sampling: expected one of uniform, profile, optimal, found best");
}

TEST_CASE("A profile's distribution has what was counted", "[sampling]") {
    const Distribution counted = distribution_of(kCounted, 32);
    CHECK(counted.frequencies()[0] == 2);
    CHECK(counted.frequencies()[10] == 20);
    CHECK(counted.total() == 50);
    const Distribution by_kernel = distribution_of(kByKernel, 32);
    CHECK(by_kernel.frequencies()[0] == 2);
    CHECK(by_kernel.frequencies()[1] == 1 / 8.0);
    CHECK(by_kernel.frequencies()[17] == 5);
    CHECK(by_kernel.frequencies()[24] == 5);
    CHECK(by_kernel.total() == 50);
    CHECK(distribution_of(kCounted, 16).largest() == 16);
    CHECK(distribution_of(kCounted, 128).largest() == 128);
    CHECK_THROWS_AS(distribution_of({70000, false, {{70000, 1}}}, 32), InputError);
}

TEST_CASE("Each sampling takes its way", "[sampling]") {
    const DynDims even{8, 16, 24, 32};
    CHECK(sample_dyn_dims(Sampling::uniform, 32, 4, kCounted) == even);
    const Distribution phi = distribution_of(kCounted, 32);
    CHECK(sample_dyn_dims(Sampling::profile, 32, 4, kCounted) == refine(even, phi));
    CHECK(sample_dyn_dims(Sampling::optimal, 32, 4, kCounted) == optimal_dyn_dims(phi, 4));
    // 9, 10, 11 and 30 occur, and 32 must be there: without 30 its 3 units lose 2 samples each, without 9 its 10
    // lose 1.
    CHECK(sample_dyn_dims(Sampling::optimal, 32, 4, kCounted) == DynDims{9, 10, 11, 32});

    const Samples counted{even, {1, 4, 40, 3}};
    const DynDims algorithm1 = resample_best(counted, usual_iterations(4));
    CHECK(algorithm1 == DynDims{16, 20, 24, 32});
    CHECK(sample_dyn_dims(Sampling::profile, 32, 4, kByKernel) == algorithm1);
    // Other numbers of kernels, or other units: from evenly spaced ones, with the frequencies that they would have.
    const Distribution assumed = distribution_of(kByKernel, 32);
    CHECK(sample_dyn_dims(Sampling::profile, 32, 6, kByKernel) ==
          resample_best(selected_counts(assumed, uniform_dyn_dims(32, 6)), usual_iterations(6), assumed));
    const Distribution halves = distribution_of(kByKernel, 16);
    CHECK(sample_dyn_dims(Sampling::profile, 16, 4, kByKernel) ==
          resample_best(selected_counts(halves, {4, 8, 12, 16}), usual_iterations(4), halves));
}

TEST_CASE("Where there is nothing to choose, all samplings agree", "[sampling]") {
    for (const Sampling sampling : {Sampling::uniform, Sampling::profile, Sampling::optimal}) {
        for (const OperatorProfile& profile : {kCounted, kByKernel}) {
            CHECK(sample_dyn_dims(sampling, 32, 1, profile) == DynDims{32});
            CHECK(sample_dyn_dims(sampling, 32, 32, profile) == uniform_dyn_dims(32, 32));
            CHECK(sample_dyn_dims(sampling, 32, 200, profile) == uniform_dyn_dims(32, 32));
        }
        const OperatorProfile never{32, false, {{0, 50}}};
        CHECK(sample_dyn_dims(sampling, 32, 4, never) == DynDims{8, 16, 24, 32});
    }
}

TEST_CASE("Round by round the chip's counts lead to the spike", "[sampling]") {
    // What happens is always 10 or 11 samples of 32; the host only sees which kernels are selected.
    std::vector<double> frequency(33, 0);
    frequency[10] = 70;
    frequency[11] = 30;
    const Distribution real(frequency);
    DynDims kernels = uniform_dyn_dims(32, 8);
    const double initial = expected_loss(real, kernels);
    for (unsigned round = 0; round < 5; ++round) {
        const Samples counted = selected_counts(real, kernels);
        OperatorProfile profile{32, true, {{0, 0}}};
        for (std::size_t i = 0; i < kernels.size(); ++i)
            profile.frequency[kernels[i]] = static_cast<std::uint64_t>(counted.frequency[i]);
        kernels = sample_dyn_dims(Sampling::profile, 32, 8, profile);
    }
    CHECK(initial == Approx(1.7));
    CHECK(expected_loss(real, kernels) <= 0.3);
}

}  // namespace
}  // namespace switchyard::sched
