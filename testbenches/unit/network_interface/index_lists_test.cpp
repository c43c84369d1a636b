// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/index_lists.h"

#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::hw;

namespace {

RoutingModel blocks;

SampleIndexListPtr index_list(std::vector<std::uint32_t> ids, SampleIndexListPtr outer = nullptr) {
    return std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet(std::move(ids)), std::move(outer)});
}

}  // namespace

TEST_CASE("an index list is cut at every level", "[index_lists]") {
    const SampleIndexListPtr cut =
        restricted(index_list({1, 4, 9}, index_list({0, 1, 4, 5, 9})), SampleSet::range(4, 9));
    CHECK(cut->samples.ids() == std::vector<std::uint32_t>{4});
    CHECK(cut->outer->samples.ids() == std::vector<std::uint32_t>{4, 5});
    CHECK(cut->outer->outer == nullptr);
}

TEST_CASE("cutting an index list into pieces and uniting them gives it back", "[index_lists]") {
    const SampleIndexListPtr whole = index_list({2, 3, 7, 11}, index_list({0, 2, 3, 5, 7, 11}));
    const SampleIndexListPtr again =
        united({restricted(whole, SampleSet::range(0, 3)), restricted(whole, SampleSet({3, 5, 9})),
                restricted(whole, SampleSet({4, 6, 7, 8, 10, 11, 12, 13, 14, 15}))},
               blocks);
    CHECK(again->samples == whole->samples);
    CHECK(again->outer->samples == whole->outer->samples);
}

TEST_CASE("what takes the partner branch is cut and united like the samples", "[index_lists]") {
    const SampleIndexListPtr whole = std::make_shared<const SampleIndexList>(
        SampleIndexList{SampleSet({2, 7}), index_list({0, 2, 3, 5, 7, 11}), SampleSet({0, 3, 11})});
    const SampleIndexListPtr first = restricted(whole, SampleSet::range(0, 4)),
                             second = restricted(whole, SampleSet::range(4, 16));
    CHECK(first->partner == SampleSet({0, 3}));
    CHECK(second->partner == SampleSet({11}));
    CHECK(first->outer->partner.empty());
    CHECK(united({first, second}, blocks)->partner == whole->partner);
}

TEST_CASE("a piece says how many samples the batch has at each level, if kernels are invoked once a batch",
          "[index_lists]") {
    const SampleIndexListPtr whole = std::make_shared<const SampleIndexList>(
        SampleIndexList{SampleSet({2, 7}), index_list({0, 2, 3, 5, 7, 11}), SampleSet({0, 3, 11})});
    const SampleIndexListPtr piece = restricted(whole, SampleSet::range(0, 4), true);
    CHECK(piece->invocation_samples() == 2);
    CHECK(piece->invocation_partner() == 3);
    CHECK(piece->outer->invocation_samples() == 6);
    const SampleIndexListPtr alone = restricted(whole, SampleSet::range(0, 4));
    CHECK(alone->batch_samples == 0);
    CHECK(alone->invocation_samples() == 1);
    CHECK(whole_index_list(8, 11, 128)->invocation_samples() == 128);
}

TEST_CASE("an empty piece keeps the depth of its index list", "[index_lists]") {
    const SampleIndexListPtr cut = restricted(index_list({1}, index_list({0, 1})), SampleSet::range(8, 16));
    CHECK(cut->samples.empty());
    REQUIRE(cut->outer);
    CHECK(cut->outer->samples.empty());
}

TEST_CASE("a whole index list has consecutive ids and no switch around it", "[index_lists]") {
    const SampleIndexListPtr whole = whole_index_list(8, 11);
    CHECK(whole->samples.ids() == std::vector<std::uint32_t>{8, 9, 10});
    CHECK(whole->outer == nullptr);
}
