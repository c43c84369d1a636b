// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <random>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

const std::string kTwoBranches = with_switch(
    "  - {name: b1, kind: convolution, from: s.0, out_channels: 16, filter: 3, pad: 1}\n"
    "  - {name: b2a, kind: convolution, from: s.1, out_channels: 64, filter: 3, pad: 1}\n"
    "  - {name: b2b, kind: convolution, out_channels: 16, filter: 3, pad: 1}\n"
    "  - {name: out, kind: merge, from: [b1, b2b], mode: exclusive}\n"
    "  - {name: last, kind: convolution, out_channels: 32, filter: 3, pad: 1}\n");

const std::string kThreeInARow = with_layers(
    "  - {name: a, kind: convolution, from: input, out_channels: 32, filter: 3, pad: 1}\n"
    "  - {name: b, kind: convolution, out_channels: 48, filter: 3, pad: 1}\n"
    "  - {name: c, kind: convolution, out_channels: 16, filter: 1}\n"
    "  - {name: d, kind: convolution, out_channels: 16, filter: 3, pad: 1, stride: 2}\n");

struct Planned {
    /// `taken`: share of the samples that reach an operator behind a switch's branch 0; of the others, the rest.
    explicit Planned(const std::string& yaml, HardwareDescription with = mini_chip(), double taken = 0.5)
        : model(model_of(yaml)),
          chip(std::move(with)),
          workload(model.graph, chip, fractions(model.graph, taken)),
          search(workload, chip),
          segmenter(search, find_design("m-tile"), chip.tiles(), 0) {}
    static std::vector<double> fractions(const DynGraph& graph, double taken) {
        std::vector<double> result;
        for (const Operator& one : graph.operators)
            result.push_back(one.path.empty() ? 1 : one.path.back().branch == 0 ? taken : 1 - taken);
        return result;
    }
    Model model;
    HardwareDescription chip;
    Workload workload;
    StageSearch search;
    Segmenter segmenter;
};

/// Calls visit(tiles) for every way to give at most `tiles` to `tile groups`, each at least one.
void for_each_allocation(unsigned tiles, std::size_t tile_groups,
                         const std::function<void(std::vector<unsigned>)>& visit) {
    std::vector<unsigned> given;
    const std::function<void(unsigned)> give = [&](unsigned left) {
        if (given.size() == tile_groups) return visit(given);
        const auto others = static_cast<unsigned>(tile_groups - given.size() - 1);
        for (unsigned share = 1; share + others <= left; ++share) {
            given.push_back(share);
            give(left - share);
            given.pop_back();
        }
    };
    give(tiles);
}

TEST_CASE("Weights that are expected to stay are not counted as loaded") {
    Planned planned(kThreeInARow);
    Segmenter resident(planned.search, find_design("m-tile"), planned.chip.tiles(), 0, {}, Weights::resident);
    for (int op = 0; op < 3; ++op) {
        const auto loading = planned.segmenter.segment(op, op + 1), staying = resident.segment(op, op + 1);
        REQUIRE(loading);
        REQUIRE(staying);
        CHECK(loading->weight_cycles > 0);
        CHECK(staying->weight_cycles == 0);
        CHECK(staying->prefetchable);  // room for the weights of others
        CHECK(staying->memory_cycles < loading->memory_cycles);
        CHECK(staying->cycles <= loading->cycles);
    }
}

TEST_CASE("Inputs of dynamic operators get the slots that there is room for") {
    Planned planned(kTwoBranches);
    for (const std::uint32_t others : {0u, 4096u, 16384u}) {
        for (SegmentPlan& segment : planned.segmenter.best()) {
            const SegmentPlan before = segment;
            planned.segmenter.deepen(segment, others);
            for (std::size_t i = 0; i < segment.stages.size(); ++i) {
                const Operator& op = planned.model.graph.operators[static_cast<std::size_t>(segment.first) + i];
                CAPTURE(others, op.name);
                const Footprint& bytes = segment.stages[i].footprint;
                bool deeper = false, full = true;
                for (std::size_t s = 0; s < op.inputs.size(); ++s) {
                    CHECK(segment.slots[i].in[s] >= before.slots[i].in[s]);
                    deeper |= segment.slots[i].in[s] > before.slots[i].in[s];
                    full &= segment.slots[i].in[s] >= std::min(segment.units, Margins{}.deepest);
                }
                CHECK(segment.slots[i].out == before.slots[i].out);
                if (deeper) CHECK(bytes.total() + others <= planned.chip.data_bytes());
                if (op.dynamic() && !full) {  // one slot more each would not fit
                    std::uint64_t more = 0;
                    for (const std::uint32_t slot : bytes.slot_bytes) more += slot;
                    CHECK(bytes.total() + more + others > planned.chip.data_bytes());
                }
                const bool before_switch = op.path.empty() && op.inputs.front().switch_id == kNoSwitch;
                if (before_switch && op.inputs.size() == 1 &&
                    (op.inputs.front().producer < 0 ||
                     !planned.model.graph.operators[static_cast<std::size_t>(op.inputs.front().producer)].dynamic())) {
                    CHECK(!deeper);
                }
            }
        }
    }
}

TEST_CASE("The dynamic programme finds the cheapest of all segmentations") {
    for (const std::uint32_t scratchpad : {28u * 1024, 128u * 1024}) {
        HardwareDescription chip = mini_chip();
        chip.scratchpad_bytes = scratchpad;
        Planned planned(kTwoBranches, chip);
        const int count = static_cast<int>(planned.model.graph.operators.size());
        const std::function<double(int)> cheapest = [&](int first) {
            if (first == count) return 0.0;
            double best = 1e18;
            for (int last = first + 1; last <= count; ++last) {
                if (!planned.segmenter.may_cut(last)) continue;
                const auto segment = planned.segmenter.segment(first, last);
                if (segment) best = std::min(best, segment->cycles + cheapest(last));
            }
            return best;
        };
        double sum = 0;
        int next = 0;
        for (const SegmentPlan& segment : planned.segmenter.best()) {
            CHECK(segment.first == next);
            next = segment.last;
            sum += segment.cycles;
            unsigned tiles = 0;
            for (const unsigned share : segment.tiles) tiles += share;
            CHECK(tiles <= chip.tiles());
            CHECK(std::uint64_t{segment.units} * segment.unit_samples == planned.model.graph.batch_samples());
        }
        CHECK(next == count);
        CHECK(sum == Approx(cheapest(0)));
    }
}

// The search gives tiles in proportion to loads and moves them one by one to the slowest stage; what it leaves is
// measured against every way to share the tiles out, for any cut of the network into segments.
TEST_CASE("Tiles are shared out nearly as well as by exhaustive search") {
    HardwareDescription chip = mini_chip();
    chip.columns = 5;
    const std::string network = GENERATE(kTwoBranches, kThreeInARow);
    std::mt19937 random(1);
    double worst = 1, sum = 0;
    unsigned compared = 0;
    for (unsigned trial = 0; trial < 6; ++trial) {
        const double taken = 0.05 + 0.9 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
        Planned planned(network, chip, taken);
        const int count = static_cast<int>(planned.model.graph.operators.size());
        for (int first = 0; first < count; ++first) {
            for (int last = first + 1; last <= count; ++last) {
                if (!planned.segmenter.may_cut(first) || !planned.segmenter.may_cut(last)) continue;
                std::optional<SegmentPlan> found = planned.segmenter.segment(first, last);
                if (!found) continue;
                const std::uint64_t packets = planned.segmenter.packets(*found);
                planned.segmenter.improve(*found);
                CHECK(planned.segmenter.packets(*found) <= packets);
                double best = found->cycles;
                for_each_allocation(chip.tiles(), found->tile_groups.size(), [&](const std::vector<unsigned>& tiles) {
                    const std::optional<SegmentPlan> other = planned.segmenter.with_tiles(*found, tiles);
                    if (other && planned.segmenter.packets(*other) <= packets) best = std::min(best, other->cycles);
                });
                CAPTURE(taken, first, last, found->cycles, best);
                CHECK(found->cycles <= 1.20 * best);
                worst = std::max(worst, found->cycles / best);
                sum += found->cycles / best;
                ++compared;
            }
        }
    }
    CAPTURE(worst, sum / compared, compared);
    CHECK(compared >= 50);
    CHECK(sum / compared <= 1.01);
}

TEST_CASE("A switch's data operator and its gate are never separated") {
    Planned planned(kTwoBranches);
    const DynGraph& graph = planned.model.graph;
    for (const SegmentPlan& segment : planned.segmenter.best()) {
        for (const Switch& one : graph.switches) {
            const auto inside = [&](int op) { return op >= segment.first && op < segment.last; };
            CHECK(inside(one.data) == inside(one.gate));
        }
    }
}

TEST_CASE("Slots on the shorter of two paths hold what is under way on the longer one") {
    HardwareDescription chip = large_chip();
    Planned planned(kTwoBranches, chip);
    const DynGraph& graph = planned.model.graph;
    const int merge = graph.find_operator("out");
    const auto segment = planned.segmenter.segment(0, static_cast<int>(graph.operators.size()));
    REQUIRE(segment);
    // b1 is one stage, b2a and b2b are two: the merge's slots for b1 hold one unit more.
    const auto& slots = segment->slots[merge].in;
    const auto limited = [&](unsigned wanted) { return std::min<unsigned>(wanted, segment->units); };
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const bool shorter = graph.operators[merge].inputs[i].producer == graph.find_operator("b1");
        CHECK(slots[i] == limited(shorter ? 3 : 2));
    }
}

TEST_CASE("A gate that is quick beside the other stages holds up the switch's output for one stage") {
    Planned planned(kTwoBranches);  // 4 tiles: the convolutions take many times as long as the gate
    const DynGraph& graph = planned.model.graph;
    const Switch& one = graph.switches.front();
    Segmenter of_one_sample(planned.search, find_design("m-tile"), 4, 1);
    const auto segment = of_one_sample.segment(one.data, one.gate + 1);
    REQUIRE(segment);
    CHECK(segment->slots.front().out == 3);
    const auto alone = planned.segmenter.segment(graph.find_operator("last"), graph.find_operator("last") + 1);
    REQUIRE(alone);
    CHECK(alone->slots.front().out == std::min<unsigned>(2, alone->units));
    // As useful_slices looks at it: the gate stands behind the segment and holds up nothing.
    REQUIRE(one.data < one.gate);
    const auto data_alone = of_one_sample.segment(one.data, one.data + 1);
    REQUIRE(data_alone);
    CHECK(data_alone->slots.front().out == std::min<unsigned>(2, data_alone->units));
}

TEST_CASE("Few pieces are charged to the interfaces that hold them") {
    // One tile's result in one piece: half of a chip's two interfaces has nothing to do.
    const std::string store = with_layers("  - {name: only, kind: elementwise, from: input, fused: [relu]}\n");
    Planned planned(store);
    const auto on_one = Segmenter(planned.search, find_design("m-tile"), 1, 1).segment(0, 1);
    const auto on_two = Segmenter(planned.search, find_design("m-tile"), 2, 1).segment(0, 1);
    REQUIRE(on_one);
    REQUIRE(on_two);
    CHECK(on_one->memory_cycles >= on_two->memory_cycles);
}

TEST_CASE("What does not fit is refused with its name and bytes") {
    HardwareDescription chip = mini_chip();
    chip.scratchpad_bytes = 8 * 1024;
    const std::string heavy = with_layers(
        "  - {name: small, kind: convolution, from: input, out_channels: 4, filter: 1}\n"
        "  - {name: heavy, kind: convolution, out_channels: 64, filter: 7, pad: 3, fused: [bias]}\n");
    Planned planned(heavy, chip);
    CHECK_THROWS_WITH(planned.segmenter.best(), Catch::Matchers::ContainsSubstring("heavy") &&
                                                    Catch::Matchers::ContainsSubstring(" bytes of weights") &&
                                                    Catch::Matchers::ContainsSubstring("of each of 4 tiles"));

    chip = mini_chip();
    chip.columns = chip.rows = 1;
    chip.memory = {{0, 64}};
    Planned one_tile(kTwoBranches, chip);
    CHECK_THROWS_WITH(one_tile.segmenter.best(),
                      Catch::Matchers::ContainsSubstring("operators of the switch, which share a segment"));
}

TEST_CASE("Micro-batches divide the batch") {
    Planned planned(kTwoBranches);
    CHECK_NOTHROW(Segmenter(planned.search, find_design("m-tile"), 4, 4));
    CHECK_THROWS_AS(Segmenter(planned.search, find_design("m-tile"), 4, 3), InputError);
}

}  // namespace
}  // namespace switchyard::sched
