// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "random_distributions.h"
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"
#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {
namespace {

constexpr unsigned kCases = 200;

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

void check_kernels(const DynDims& values, const SamplingCase& one) {
    CHECK(values.size() == one.kernels);
    CHECK(values.front() >= 1);
    CHECK(values.back() == one.phi.largest());
    CHECK(std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end());
}

/// Of a set with other values: strictly increasing, with the same largest.
DynDims random_values(std::mt19937& random, std::uint16_t largest) {
    const auto count = static_cast<std::size_t>(1 + uniform(random) * std::min<unsigned>(largest, 50));
    DynDims values{largest};
    for (std::size_t i = 1; i < count; ++i) values.push_back(static_cast<std::uint16_t>(1 + uniform(random) * largest));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

TEST_CASE("Algorithm 2 conserves the total frequency", "[sampling]") {
    std::mt19937 random(1);
    for (unsigned i = 0; i < kCases; ++i) {
        const SamplingCase one = random_case(i);
        const Samples samples = selected_counts(one.phi, random_values(random, one.phi.largest()));
        const DynDims to = random_values(random, one.phi.largest());
        const std::vector<double> frequency = redistribute(samples, to);
        REQUIRE(frequency.size() == to.size());
        CHECK(sum(frequency) == Approx(sum(samples.frequency)).epsilon(1e-12));
        CHECK(*std::min_element(frequency.begin(), frequency.end()) >= -1e-12 * one.phi.total());
        // It is what the new kernels would count if the assumption held.
        const std::vector<double> assumed = selected_counts(uniform_within_ranges(samples), to).frequency;
        for (std::size_t k = 0; k < to.size(); ++k)
            CHECK(frequency[k] == Approx(assumed[k]).margin(1e-9 * one.phi.total()));
    }
}

TEST_CASE("Every iteration of Algorithm 1 keeps the number of values, the largest and the total", "[sampling]") {
    for (unsigned i = 0; i < kCases; ++i) {
        const SamplingCase one = random_case(i);
        Samples samples = selected_counts(one.phi, uniform_dyn_dims(one.phi.largest(), one.kernels));
        const double total = sum(samples.frequency);
        unsigned iterations = 0;
        while (iterations < usual_iterations(one.kernels) && resample_once(samples)) {
            ++iterations;
            check_kernels(samples.values, one);
            CHECK(sum(samples.frequency) == Approx(total).epsilon(1e-9));
        }
        CHECK(resample(selected_counts(one.phi, uniform_dyn_dims(one.phi.largest(), one.kernels)), iterations).values ==
              samples.values);
    }
}

TEST_CASE("Re-sampling never makes it worse, and respects the budget", "[sampling]") {
    unsigned better_by_kernel = 0, better_refined = 0;
    for (unsigned i = 0; i < kCases; ++i) {
        const SamplingCase one = random_case(i);
        INFO("case " << i << ": " << one.kind << ", " << one.phi.largest() << ", " << one.kernels << " kernels");
        const DynDims even = uniform_dyn_dims(one.phi.largest(), one.kernels);
        const double initial = expected_loss(one.phi, even), rounding = 1e-12 * one.phi.largest();
        const Samples counted = selected_counts(one.phi, even);
        const unsigned iterations = usual_iterations(one.kernels);

        // By the paper's assumption, by phi, and where phi is known.
        const Distribution assumed = uniform_within_ranges(counted);
        const DynDims by_kernel = resample_best(counted, iterations);
        CHECK(expected_loss(assumed, by_kernel) <= expected_loss(assumed, even));
        const DynDims judged = resample_best(counted, iterations, one.phi);
        CHECK(expected_loss(one.phi, judged) <= initial);
        const DynDims refined = refine(even, one.phi);
        CHECK(expected_loss(one.phi, refined) <= initial + rounding);
        CHECK(refine(refined, one.phi) == refined);

        const DynDims optimal = optimal_dyn_dims(one.phi, one.kernels);
        for (const DynDims* values : {&by_kernel, &judged, &refined, &optimal}) {
            check_kernels(*values, one);
            CHECK(expected_loss(one.phi, optimal) <= expected_loss(one.phi, *values) + rounding);
        }
        better_by_kernel += expected_loss(one.phi, by_kernel) < initial - rounding ? 1 : 0;
        better_refined += expected_loss(one.phi, refined) < initial - rounding ? 1 : 0;
    }
    CHECK(better_by_kernel > kCases / 2);
    CHECK(better_refined > kCases / 2);
}

TEST_CASE("The same frequencies give the same values", "[sampling]") {
    for (unsigned i = 0; i < 20; ++i) {
        const SamplingCase one = random_case(i), again = random_case(i);
        CHECK(one.phi.frequencies() == again.phi.frequencies());
        const DynDims even = uniform_dyn_dims(one.phi.largest(), one.kernels);
        CHECK(refine(even, one.phi) == refine(even, again.phi));
        CHECK(optimal_dyn_dims(one.phi, one.kernels) == optimal_dyn_dims(again.phi, one.kernels));
        CHECK(resample_best(selected_counts(one.phi, even), 100) ==
              resample_best(selected_counts(again.phi, even), 100));
    }
}

}  // namespace
}  // namespace switchyard::sched
