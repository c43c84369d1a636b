// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "random_distributions.h"
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {
namespace {

/// The least expected loss of all sets of `count` values with the largest.
double min_of_all(const Distribution& phi, unsigned count) {
    const unsigned largest = phi.largest();
    double min = expected_loss(phi, {phi.largest()});
    for (unsigned set = 0; set < 1u << (largest - 1); ++set) {
        DynDims values;
        for (unsigned v = 1; v < largest; ++v) {
            if ((set >> (v - 1) & 1) != 0) values.push_back(static_cast<std::uint16_t>(v));
        }
        values.push_back(phi.largest());
        if (values.size() <= count) min = std::min(min, expected_loss(phi, values));
    }
    return min;
}

TEST_CASE("The dynamic programme finds the best of all sets", "[sampling]") {
    std::mt19937 random(7);
    for (unsigned round = 0; round < 300; ++round) {
        const auto largest = static_cast<std::size_t>(1 + uniform(random) * 11);
        std::vector<double> frequency(largest + 1);
        for (double& one : frequency) one = uniform(random) < 0.3 ? 0 : uniform(random);
        const Distribution phi(frequency);
        for (unsigned count = 1; count <= largest + 1; ++count) {
            const DynDims values = optimal_dyn_dims(phi, count);
            CHECK(values.size() == std::min<std::size_t>(count, largest));
            CHECK(values.back() == largest);
            CHECK(std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end());
            CHECK(expected_loss(phi, values) == Approx(min_of_all(phi, count)).margin(1e-12));
        }
    }
}

TEST_CASE("Kernels that no dyn_dim needs stand in the widest gaps", "[sampling]") {
    std::vector<double> frequency(33, 0);
    frequency[20] = 5;
    const Distribution phi(frequency);
    CHECK(optimal_dyn_dims(phi, 2) == DynDims{20, 32});
    CHECK(optimal_dyn_dims(phi, 3) == DynDims{10, 20, 32});
    CHECK(optimal_dyn_dims(phi, 4) == DynDims{10, 20, 26, 32});
    CHECK(optimal_dyn_dims(phi, 64).size() == 32);
}

}  // namespace
}  // namespace switchyard::sched
