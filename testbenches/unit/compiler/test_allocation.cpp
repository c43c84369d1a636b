// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>
#include <stdexcept>

#include "switchyard/sw_scheduler/adyna/compiler/allocation.h"
#include "switchyard/sw_scheduler/adyna/compiler/workload.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

/// Adyna Fig. 6: a switch with two branches, one convolution on the first and two like it on the second; batch of 8.
const std::string kFig6 = with_switch(
    "  - {name: b1, kind: convolution, from: s.0, out_channels: 16, filter: 3, pad: 1}\n"
    "  - {name: b2a, kind: convolution, from: s.1, out_channels: 16, filter: 3, pad: 1}\n"
    "  - {name: b2b, kind: convolution, out_channels: 16, filter: 3, pad: 1}\n"
    "  - {name: out, kind: merge, from: [b1, b2b], mode: exclusive}\n");

std::vector<double> fig6_loads(double first_branch_samples) {
    const Model model = model_of(kFig6);
    std::vector<double> shares(model.graph.operators.size(), 1.0);
    const int b1 = model.graph.find_operator("b1"), b2a = model.graph.find_operator("b2a"),
              b2b = model.graph.find_operator("b2b");
    if (first_branch_samples > 0) {
        shares[b1] = first_branch_samples / 8;
        shares[b2a] = shares[b2b] = 1 - first_branch_samples / 8;
    }
    const Workload workload(model.graph, mini_chip(), shares);
    return {workload.load(b1), workload.load(b2a), workload.load(b2b)};
}

TEST_CASE("Fig. 6: worst-case sizes give 3:5, expectations of 5.03 and 2.97 give 4:4") {
    CHECK(allocate_proportional(8, {8, 16}) == std::vector<unsigned>{3, 5});
    CHECK(allocate_proportional(8, {5.03, 2 * 2.97}) == std::vector<unsigned>{4, 4});

    const std::vector<double> worst = fig6_loads(0), expected = fig6_loads(5.03);
    CHECK(worst[0] == worst[1]);
    CHECK(expected[0] / expected[1] == Approx(5.03 / 2.97));
    const auto of_worst = allocate_proportional(8, worst), of_expected = allocate_proportional(8, expected);
    CHECK(of_worst[0] == 3);
    CHECK(of_worst[1] + of_worst[2] == 5);
    CHECK(of_expected == std::vector<unsigned>{4, 2, 2});
}

TEST_CASE("Every operator gets its minimum and all tiles are given away") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        const std::size_t count = 1 + random() % 10;
        std::vector<double> loads;
        std::vector<unsigned> minimum;
        for (std::size_t i = 0; i < count; ++i) {
            loads.push_back(random() % 4 == 0 ? 0.0 : static_cast<double>(random() % 1000));
            minimum.push_back(1 + random() % 3);
        }
        const unsigned min = std::accumulate(minimum.begin(), minimum.end(), 0u);
        const unsigned tiles = min + static_cast<unsigned>(random() % 50);
        const auto result = allocate_proportional(tiles, loads, minimum);
        CHECK(std::accumulate(result.begin(), result.end(), 0u) == tiles);
        for (std::size_t i = 0; i < count; ++i) CHECK(result[i] >= minimum[i]);
    }
    CHECK_THROWS_AS(allocate_proportional(2, {1, 1, 1}), std::invalid_argument);
    CHECK_THROWS_AS(allocate_proportional(2, {1, -1}), std::invalid_argument);
    CHECK_THROWS_AS(allocate_proportional(4, {1, 1}, {1}), std::invalid_argument);
}

TEST_CASE("Refinement gives the slowest stage what others can spare") {
    // Stage 0 only gains from every second tile: a step of one would see no gain.
    const auto cycles = [](std::size_t i, unsigned tiles) {
        return i == 0 ? 100.0 / (tiles / 2 * 2 == 0 ? 1 : tiles / 2 * 2) : 10.0 / tiles;
    };
    std::vector<unsigned> allocation{2, 6};
    refine(allocation, {1, 1}, cycles);
    CHECK(allocation == std::vector<unsigned>{6, 2});

    std::vector<unsigned> pinned{2, 6};
    refine(pinned, {1, 5}, cycles);
    CHECK(pinned == std::vector<unsigned>{2, 6});
}

}  // namespace
}  // namespace switchyard::sched
