// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "small_image.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using switchyard::testing::error_of;

TEST_CASE("a sample set refuses ids that do not increase", "[samples]") {
    CHECK_NOTHROW(SampleSet({0, 1, 5}));
    CHECK_THROWS_AS(SampleSet({0, 0}), std::invalid_argument);
    CHECK_THROWS_AS(SampleSet({2, 1}), std::invalid_argument);
}

TEST_CASE("ranges are half open", "[samples]") {
    CHECK(SampleSet::range(3, 6) == SampleSet({3, 4, 5}));
    CHECK(SampleSet::range(3, 3).empty());
    CHECK(SampleSet::range(4, 3).empty());
}

TEST_CASE("sample sets agree with std::set", "[samples]") {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        // Sparse, dense and gapless sets.
        const unsigned keep = round % 3 == 0 ? 100 : round % 3 == 1 ? 60 : 5;
        const auto draw = [&] {
            std::set<std::uint32_t> ids;
            const std::uint32_t first = random() % 4;
            for (std::uint32_t id = first; id < first + random() % 30; ++id)
                if (random() % 100 < keep) ids.insert(id);
            return ids;
        };
        const std::set<std::uint32_t> a = draw(), b = draw();
        const SampleSet set_a({a.begin(), a.end()}), set_b({b.begin(), b.end()});
        for (std::uint32_t id = 0; id < 40; ++id) {
            REQUIRE(set_a.contains(id) == (a.count(id) == 1));
            REQUIRE(set_a.index_of(id) == static_cast<std::size_t>(std::distance(a.begin(), a.lower_bound(id))));
        }
        std::set<std::uint32_t> both = a;
        both.insert(b.begin(), b.end());
        REQUIRE(set_a.united(set_b) == SampleSet({both.begin(), both.end()}));
    }
}

namespace {

SampleIndexList nested_list() {
    auto batch = std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet::range(0, 4), nullptr});
    auto outer = std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet({0, 2, 3}), batch});
    return {SampleSet({2}), outer};
}

}  // namespace

TEST_CASE("popping goes outwards", "[samples]") {
    const SampleIndexList index_list = nested_list();
    CHECK(popped(index_list, 0).samples == SampleSet({2}));
    CHECK(popped(index_list, 1).samples == SampleSet({0, 2, 3}));
    CHECK(popped(index_list, 2).samples == SampleSet::range(0, 4));
    CHECK_THROWS_AS(popped(index_list, 3), std::out_of_range);
}

TEST_CASE("a serialised index list is depth, then counts and ids", "[samples]") {
    const std::vector<std::uint8_t> bytes = serialise(nested_list());
    const std::vector<std::uint32_t> words{3, 1, 2, 3, 0, 2, 3, 4, 0, 1, 2, 3};
    REQUIRE(bytes.size() == 4 * words.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(bytes[i] == (i % 4 == 0 ? words[i / 4] : 0));

    std::vector<std::uint8_t> room = bytes;
    room.resize(bytes.size() + 16, 0xEE);
    const SampleIndexListPtr index_list = deserialise_index_list(room.data(), room.size());
    CHECK(index_list->samples == SampleSet({2}));
    CHECK(popped(*index_list, 2).samples == SampleSet::range(0, 4));
    CHECK(popped(*index_list, 2).outer == nullptr);
    CHECK(serialise(*index_list) == bytes);
}

TEST_CASE("an index list's partner is stored behind its samples", "[samples]") {
    SampleIndexList inner = nested_list();
    inner.partner = SampleSet({0, 3});
    const std::vector<std::uint8_t> bytes = serialise(inner);
    const std::vector<std::uint32_t> words{3, 1, 2, 2, 0, 3, 3, 0, 2, 3, 0, 4, 0, 1, 2, 3, 0};
    REQUIRE(bytes.size() == 4 * words.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(bytes[i] == (i == 3 ? 0x80 : i % 4 == 0 ? words[i / 4] : 0));
    const SampleIndexListPtr index_list = deserialise_index_list(bytes.data(), bytes.size());
    CHECK(index_list->partner == SampleSet({0, 3}));
    CHECK(popped(*index_list, 1).partner.empty());
    CHECK(popped(*index_list, 2).samples == SampleSet::range(0, 4));
    CHECK(serialise(*index_list) == bytes);
    CHECK(error_of([&] { deserialise_index_list(bytes.data(), 16); }) != "");
}

TEST_CASE("malformed index lists are refused", "[samples]") {
    const std::vector<std::uint8_t> good = serialise(nested_list());
    const auto error = [](const std::vector<std::uint8_t>& bytes) {
        return error_of([&] { deserialise_index_list(bytes.data(), bytes.size()); });
    };
    for (std::size_t size = 0; size < good.size(); ++size) CHECK(error({good.begin(), good.begin() + size}) != "");
    CHECK(error({0, 0, 0, 0}) == "offset 0: sample-index list: expected a depth of 1 to 0, found 0");
    CHECK(error({255, 255, 255, 255, 0, 0, 0, 0}) ==
          "offset 0: sample-index list: expected a depth of 1 to 1, found 2147483647");
    CHECK(error({1, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0}) ==
          "offset 4: expected a list that fits the record, found 9 items");
    CHECK(error({1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}) ==
          "offset 12: sample-index list: expected ids in strictly rising order, found 1 before 1");
}
