// SPDX-License-Identifier: Apache-2.0
// Units of operators that pack their samples.
#include <map>
#include <random>
#include <tuple>

#include "switchyard/hw/network_interface/index_lists.h"
#include "switchyard/hw/network_interface/packed_parts.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::hw;

namespace {

SampleSet some_of(const SampleSet& all, unsigned percent, std::mt19937& random) {
    std::vector<std::uint32_t> ids;
    for (const std::uint32_t id : all.ids())
        if (random() % 100 < percent) ids.push_back(id);
    return SampleSet(std::move(ids));
}

SampleIndexListPtr level(SampleSet samples, SampleIndexListPtr outer = nullptr) {
    return std::make_shared<const SampleIndexList>(SampleIndexList{std::move(samples), std::move(outer)});
}

OperatorPlacement with_units(std::uint32_t unit_samples) {
    OperatorPlacement placement;
    placement.unit_samples = unit_samples;
    return placement;
}

/// (producer's unit, consumer's unit, sample)
using Moved = std::map<std::tuple<unsigned, unsigned, std::uint32_t>, unsigned>;

}  // namespace

TEST_CASE("a unit of an operator that packs has consecutive ones of its samples", "[packing]") {
    const SampleSet all({1, 4, 5, 9, 12});
    CHECK(unit_of(all, 0, 2) == SampleSet({1, 4}));
    CHECK(unit_of(all, 2, 2) == SampleSet({12}));
    CHECK(unit_of(all, 3, 2).empty());
    CHECK(unit_of({}, 0, 2).empty());
}

TEST_CASE("a consumer sees its own unit on the branches that it closes, and the others' outside", "[packing]") {
    const SampleIndexListPtr whole =
        level(SampleSet({1, 4, 6, 7}), level(SampleSet({1, 3, 4, 5, 6, 7}), level(SampleSet::range(0, 8))));
    // A merge outside of one switch, in units of two: 1 and 3, 4 and 5, 6 and 7.
    const SampleIndexListPtr second = packed_unit(whole, 1, 1, 2), third = packed_unit(whole, 1, 2, 2);
    CHECK(second->samples == SampleSet({4}));
    CHECK(second->outer->samples == SampleSet({4, 5}));
    CHECK(second->outer->outer->samples == SampleSet({2, 3}));
    CHECK(third->samples == SampleSet({6, 7}));
    CHECK(second->invocation_samples() == 4);
    CHECK(second->outer->invocation_samples() == 6);
    CHECK(second->outer->whole == whole->outer);
    CHECK(packed_unit(whole, 1, 3, 2)->samples.empty());
}

TEST_CASE("both ends of an edge agree on what goes from which unit to which, and nothing is left out", "[packing]") {
    std::mt19937 random(19);
    for (unsigned round = 0; round < 200; ++round) {
        CAPTURE(round);
        const SampleSet batch = SampleSet::range(0, 48), outer = some_of(batch, 70, random),
                        taken = some_of(outer, random() % 101, random);
        // Into a switch, past it, out of a merge.
        Edge edge;
        const unsigned kind = round % 3;
        if (kind == 0) edge.switch_id = 3;
        if (kind == 2) edge.pops = 1;
        const SampleIndexListPtr whole = level(taken, level(outer, level(batch)));
        const SampleSet& made = kind == 0 ? outer : taken;
        const OperatorPlacement source = with_units(1 + random() % 9), destination = with_units(1 + random() % 9);
        Moved sent, received;
        for (std::size_t v = 0; v * source.unit_samples < made.size(); ++v) {
            const SampleSet of_unit = unit_of(made, v, source.unit_samples);
            for (const PackedPart& part :
                 packed_parts_from(edge, destination, of_unit, static_cast<std::uint16_t>(v), *whole)) {
                CHECK(part.source == of_unit);
                CHECK(part.allocations.source_batch == made.size());
                for (const std::uint32_t id : part.edge.ids()) {
                    ++sent[{part.source_unit, part.unit, id}];
                    CHECK(part.destination.contains(id));
                    CHECK(part.source.contains(id));
                }
            }
        }
        for (unsigned u = 0; u < 48; ++u) {
            const SampleIndexListPtr wanted = packed_unit(whole, edge.pops, u, destination.unit_samples);
            for (const PackedPart& part : packed_parts_to(edge, source, made, *whole, *wanted)) {
                for (const std::uint32_t id : part.edge.ids()) ++received[{part.source_unit, u, id}];
                CHECK(part.destination.size() <= destination.unit_samples);
            }
        }
        CHECK(sent == received);
        CHECK(sent.size() == taken.size());
    }
}
