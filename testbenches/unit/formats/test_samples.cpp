#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "small_image.h"
#include "switchyard/sw_scheduler/formats/samples.h"
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

SampleFrame nested_frame() {
    auto batch = std::make_shared<const SampleFrame>(SampleFrame{SampleSet::range(0, 4), nullptr});
    auto outer = std::make_shared<const SampleFrame>(SampleFrame{SampleSet({0, 2, 3}), batch});
    return {SampleSet({2}), outer};
}

}  // namespace

TEST_CASE("popping goes outwards", "[samples]") {
    const SampleFrame frame = nested_frame();
    CHECK(popped(frame, 0).samples == SampleSet({2}));
    CHECK(popped(frame, 1).samples == SampleSet({0, 2, 3}));
    CHECK(popped(frame, 2).samples == SampleSet::range(0, 4));
    CHECK_THROWS_AS(popped(frame, 3), std::out_of_range);
}

TEST_CASE("a serialised frame is depth, then counts and ids", "[samples]") {
    const std::vector<std::uint8_t> bytes = serialise(nested_frame());
    const std::vector<std::uint32_t> words{3, 1, 2, 3, 0, 2, 3, 4, 0, 1, 2, 3};
    REQUIRE(bytes.size() == 4 * words.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(bytes[i] == (i % 4 == 0 ? words[i / 4] : 0));

    std::vector<std::uint8_t> room = bytes;
    room.resize(bytes.size() + 16, 0xEE);
    const SampleFramePtr frame = deserialise_frame(room.data(), room.size());
    CHECK(frame->samples == SampleSet({2}));
    CHECK(popped(*frame, 2).samples == SampleSet::range(0, 4));
    CHECK(popped(*frame, 2).outer == nullptr);
    CHECK(serialise(*frame) == bytes);
}

TEST_CASE("a frame's partner is stored behind its samples", "[samples]") {
    SampleFrame inner = nested_frame();
    inner.partner = SampleSet({0, 3});
    const std::vector<std::uint8_t> bytes = serialise(inner);
    const std::vector<std::uint32_t> words{3, 1, 2, 2, 0, 3, 3, 0, 2, 3, 0, 4, 0, 1, 2, 3, 0};
    REQUIRE(bytes.size() == 4 * words.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(bytes[i] == (i == 3 ? 0x80 : i % 4 == 0 ? words[i / 4] : 0));
    const SampleFramePtr frame = deserialise_frame(bytes.data(), bytes.size());
    CHECK(frame->partner == SampleSet({0, 3}));
    CHECK(popped(*frame, 1).partner.empty());
    CHECK(popped(*frame, 2).samples == SampleSet::range(0, 4));
    CHECK(serialise(*frame) == bytes);
    CHECK(error_of([&] { deserialise_frame(bytes.data(), 16); }) != "");
}

TEST_CASE("malformed frames are refused", "[samples]") {
    const std::vector<std::uint8_t> good = serialise(nested_frame());
    const auto error = [](const std::vector<std::uint8_t>& bytes) {
        return error_of([&] { deserialise_frame(bytes.data(), bytes.size()); });
    };
    for (std::size_t size = 0; size < good.size(); ++size) CHECK(error({good.begin(), good.begin() + size}) != "");
    CHECK(error({0, 0, 0, 0}) == "offset 0: sample frame: a depth of 0 does not fit");
    CHECK(error({255, 255, 255, 255, 0, 0, 0, 0}) == "offset 0: sample frame: a depth of 2147483647 does not fit");
    CHECK(error({1, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0}) == "offset 4: a list of 9 items does not fit");
    CHECK(error({1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}) ==
          "offset 12: sample frame: ids are not strictly increasing");
}
