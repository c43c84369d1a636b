// SPDX-License-Identifier: Apache-2.0
// Scratchpad regions and the order of segments, over random programs of a tile.
#include <algorithm>
#include <set>
#include <vector>

#include "switchyard/sw_scheduler/adyna/rules/segments.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::rules;

namespace {

constexpr unsigned kBytes = 256;

/// Operators with an input, weights or none, and a mask edge; regions anywhere, also on top of one another.
TileProgram random_program(RandomSource& random) {
    TileProgram program;
    const unsigned operators = random.integer(1, 4);
    for (unsigned i = 0; i < operators; ++i) {
        TileOperator op;
        op.op_id = static_cast<std::uint16_t>(i);
        op.segment = static_cast<std::uint16_t>(random.integer(0, 2) * 3);
        op.out_slots = static_cast<std::uint16_t>(random.integer(1, 2));
        op.out_offset = random.integer(0, kBytes - 40);
        op.out_slot_bytes = random.integer(1, 20);
        for (const EdgePath path : {EdgePath::on_chip, EdgePath::weights, EdgePath::mask}) {
            if (path == EdgePath::weights && random.chance(0.3)) continue;
            Edge edge;
            edge.id = static_cast<std::uint16_t>(program.edges.size());
            edge.path = path;
            edge.slots = static_cast<std::uint16_t>(random.integer(1, 2));
            edge.slot_offset = random.integer(0, kBytes - 40);
            edge.slot_bytes = random.integer(1, 20);
            edge.weight_bytes = path == EdgePath::weights ? random.integer(1, 40) : 0;
            edge.resident = random.chance(0.5);
            edge.switch_id = static_cast<std::uint16_t>(random.chance(0.5) ? kNone : 3);
            op.in_edges.push_back(edge.id);
            program.edges.push_back(edge);
        }
        program.operators.push_back(op);
    }
    return program;
}

/// The bytes of the slots and weights of an operator, one by one.
std::set<std::uint64_t> bytes_of(const TileOperator& op, const TileProgram& program, bool weights_alone) {
    std::set<std::uint64_t> bytes;
    const auto add = [&](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) bytes.insert(first + i);
    };
    for (unsigned unit = 0; unit < op.out_slots && !weights_alone; ++unit)
        add(output_slot(op, unit), op.out_slot_bytes);
    for (const std::uint16_t id : op.in_edges) {
        const Edge& edge = program.edge(id);
        if (edge.path == EdgePath::weights) add(edge.slot_offset, edge.weight_bytes);
        for (unsigned unit = 0; unit < edge.slots && edge.path == EdgePath::on_chip && !weights_alone; ++unit)
            add(input_slot(edge, unit), edge.slot_bytes);
    }
    return bytes;
}

}  // namespace

TEST_CASE("regions are the bytes of slots and weights", "[rules]") {
    RandomSource random(54, 3);
    for (int run = 0; run < 300; ++run) {
        const TileProgram program = random_program(random);
        for (const TileOperator& op : program.operators) {
            std::set<std::uint64_t> bytes;
            for (const Region& region : regions_of(op, program))
                for (std::uint64_t i = region.first; i < region.last; ++i) bytes.insert(i);
            CHECK(bytes == bytes_of(op, program, false));
        }
    }
}

TEST_CASE("weights are fetched early if no running operator uses their bytes", "[rules]") {
    RandomSource random(54, 4);
    unsigned early = 0, late = 0;
    for (int run = 0; run < 500; ++run) {
        const TileProgram now = random_program(random), next = random_program(random);
        std::vector<const TileOperator*> running;
        std::set<std::uint64_t> used;
        for (const TileOperator& op : now.operators) {
            running.push_back(&op);
            used.merge(bytes_of(op, now, false));
        }
        for (const TileOperator& op : next.operators) {
            const std::set<std::uint64_t> weights = bytes_of(op, next, true);
            const bool overlap = std::any_of(weights.begin(), weights.end(), [&](auto b) { return used.count(b) > 0; });
            const WeightsFetch fetch = fetch_of_weights(op, next, running, now);
            CHECK((fetch == WeightsFetch::after_segment) == overlap);
            ++(overlap ? late : early);
        }
    }
    CHECK(early > 100);
    CHECK(late > 100);
}

TEST_CASE("a tile runs its segments in order, and then the first one again", "[rules]") {
    RandomSource random(54, 5);
    for (int run = 0; run < 200; ++run) {
        std::vector<std::uint16_t> segments;
        for (unsigned i = random.integer(1, 8); i > 0; --i)
            segments.push_back(static_cast<std::uint16_t>(random.integer(0, 30)));
        const std::set<std::uint16_t> all(segments.begin(), segments.end());
        std::uint16_t segment = *all.begin();
        for (auto expected = std::next(all.begin()); expected != all.end(); ++expected) {
            segment = static_cast<std::uint16_t>(segment_after(segments, segment));
            CHECK(segment == *expected);
        }
        CHECK(segment_after(segments, segment) == *all.begin());
    }
    CHECK(segment_after({}, 3) == -1);
}

TEST_CASE("weights stay if they are resident, and outputs wait for the masks of their switch", "[rules]") {
    Edge edge;
    CHECK_FALSE(weights_stay(edge));
    CHECK_FALSE(waits_for_masks(edge));
    edge.resident = true;
    edge.switch_id = 3;
    CHECK(weights_stay(edge));
    CHECK(waits_for_masks(edge));
    edge.path = EdgePath::mask;
    CHECK_FALSE(waits_for_masks(edge));
}
