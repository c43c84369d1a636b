// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "switchyard/sw_scheduler/adyna/image/segment_order.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;

namespace {

using Masks = std::vector<std::vector<std::uint64_t>>;

}  // namespace

TEST_CASE("samples are sorted by masks, then by id", "[segment_order]") {
    // The second switch stands on branch 1 of the first: masks of samples that are not there do not count.
    const SegmentOrder order{0, 8, {{0, 0, kNone, 0}, {0, 0, 0, 1}}};
    const Masks masks{{1, 2, 1, 2, 2, 1, 2, 2}, {9, 2, 7, 1, 2, 8, 1, 2}};
    CHECK(ordered_samples(order, masks) == std::vector<std::uint32_t>{0, 2, 5, 3, 6, 1, 4, 7});
    CHECK(ordered_samples({0, 3, {}}, {}) == std::vector<std::uint32_t>{0, 1, 2});
    CHECK_THROWS_AS(ordered_samples(order, {{1, 1, 1}, masks[1]}), std::invalid_argument);
}

TEST_CASE("samples of several batches are sorted batch by batch", "[segment_order]") {
    const SegmentOrder order{0, 4, {{0, 0, kNone, 0}}};
    CHECK(ordered_samples(order, {{2, 1, 2, 1, 1, 2, 1, 1}}) == std::vector<std::uint32_t>{1, 3, 0, 2, 4, 6, 7, 5});
    CHECK_THROWS_AS(ordered_samples(order, {{2, 1, 2}}), std::invalid_argument);
}

TEST_CASE("units have their samples in the order of ids", "[segment_order]") {
    const std::vector<SampleSet> units = units_of({0, 2, 5, 3, 6, 1, 4, 7}, 3);
    CHECK(units == std::vector<SampleSet>{SampleSet({0, 2, 5}), SampleSet({1, 3, 6}), SampleSet({4, 7})});
}

TEST_CASE("behind a switch all units but one are full or empty", "[segment_order]") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const auto samples = static_cast<std::uint32_t>(1 + random() % 64);
        const auto unit = static_cast<std::uint32_t>(1 + random() % 9);
        const unsigned taken = random() % 101;
        Masks masks(1);
        for (std::uint32_t id = 0; id < samples; ++id) masks[0].push_back(random() % 100 < taken ? 2 : 1);
        const std::vector<std::uint32_t> ids = ordered_samples({0, samples, {{0, 0, kNone, 0}}}, masks);
        REQUIRE(std::is_permutation(ids.begin(), ids.end(),
                                    [&] {
                                        std::vector<std::uint32_t> all(samples);
                                        std::iota(all.begin(), all.end(), 0);
                                        return all;
                                    }()
                                        .begin()));
        unsigned partly = 0;
        for (const SampleSet& one : units_of(ids, unit)) {
            const auto there = std::count_if(one.ids().begin(), one.ids().end(),
                                             [&masks](std::uint32_t id) { return masks[0][id] == 2; });
            partly += there > 0 && static_cast<std::size_t>(there) < one.size() ? 1 : 0;
        }
        REQUIRE(partly <= 1);
    }
}
