// SPDX-License-Identifier: Apache-2.0
// Random networks on random chips: nothing is lost or made in either model, and where chip.impl: auto takes stages
// their latencies are those of tiles within the bounds of docs/models/stages.md. The seeds are others than those with
// which the bounds of platform/systems/adyna/stages/validated_domain.cpp were chosen.

#include <algorithm>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/property/pair.h"
#include "switchyard/testbenches/property/summary.h"

using namespace switchyard::testing;

namespace {

void check_pairs(std::uint64_t first, std::size_t count, PairSize size) {
    const unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
    const std::vector<nlohmann::ordered_json> results = run_pairs(first, count, size, jobs);
    INFO(fmt::format("seeds {} to {}\n{}", first, first + count - 1, summary_text(results)));
    const Summary all = summary_of(results), validated_ones = summary_of(validated(results));
    CHECK(all.errors == 0);
    CHECK(all.tiles_failed == 0);
    CHECK(all.stages_failed == 0);
    // A bound on nothing would hold as well.
    CHECK(validated_ones.pairs >= count / 20);
    CHECK(validated_ones.median <= 0.02);
    CHECK(validated_ones.percentile_95 <= 0.08);
    CHECK(validated_ones.worst <= 0.20);
}

}  // namespace

TEST_CASE("small random networks on random chips", "[property]") {
    check_pairs(17'000'000, 200, PairSize::small);
}

TEST_CASE("further random networks on random chips", "[.ci-long][property]") {
    check_pairs(17'000'200, 3800, PairSize::small);
}

TEST_CASE("attentions of one shape with other numbers of heads need other slots", "[property]") {
    const nlohmann::ordered_json result = run_pair(100154, PairSize::small);
    CHECK_FALSE(result.at("tiles").contains("error"));
    CHECK_FALSE(result.at("stages").contains("error"));
}

TEST_CASE("masks of a gate behind another switch are of the samples that reach it", "[property]") {
    const nlohmann::ordered_json result = run_pair(13002094, PairSize::small);
    CHECK_FALSE(result.at("stages").contains("error"));
    CHECK(result.at("stages").at("failed").empty());
}

TEST_CASE("many random networks on random chips", "[.property-long]") {
    check_pairs(20'000'000, 30'000, PairSize::small);
    check_pairs(3'000'000, 40, PairSize::large);
}
