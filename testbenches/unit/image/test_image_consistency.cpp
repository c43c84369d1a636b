// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "small_image.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using switchyard::testing::error_of;
using switchyard::testing::small_image;

namespace {

/// The error of an image that was written with `spoil` applied, without "net.syk: ".
std::string error_after(const std::function<void(Image&)>& spoil) {
    Image image = small_image();
    spoil(image);
    const std::vector<std::uint8_t> bytes = encode(image);
    const std::string error = error_of([&] { decode_image(bytes, "net.syk"); });
    REQUIRE(error.compare(0, 9, "net.syk: ") == 0);
    return error.substr(9);
}

/// ... without the tile section's offset either, which depends on the length of what stands before.
std::string tile_error_after(const std::function<void(Image&)>& spoil) {
    const std::string error = error_after(spoil);
    return error.substr(0, error.find(" (offset ")) + error.substr(error.find("): ") + 1);
}

}  // namespace

TEST_CASE("the host's names are checked", "[image]") {
    CHECK(error_after([](Image& i) { i.meta.switches[0].branches = 65; }) == "meta: switch gate: 65 branches");
    CHECK(error_after([](Image& i) { i.meta.switches[1].name = "gate"; }) == "meta: switch gate: is there twice");
    CHECK(error_after([](Image& i) { i.meta.switches[1].parent = "x"; }) == "meta: switch inner: no branch 1 of x");
    CHECK(error_after([](Image& i) { i.meta.switches[1].parent_branch = 2; }) ==
          "meta: switch inner: no branch 2 of gate");
}

TEST_CASE("the chip's program is checked", "[image]") {
    CHECK(error_after([](Image& i) { i.chip.batch_samples = 9; }) ==
          "chip: batch_samples differs from the meta section's");
    CHECK(error_after([](Image& i) { i.chip.segments[0].tiles = {0, 1, 2}; }) == "chip: segment 0: tile 2 of 2");
    CHECK(error_after([](Image& i) { i.chip.segments[0].units = 0; }) == "chip: segment 0: no micro-batches");
}

TEST_CASE("a tile's program is checked against the image", "[image]") {
    CHECK(tile_error_after([](Image& i) { i.tiles[1].tile = 0; }) == "tile 1: the program is for tile 0");
    CHECK(tile_error_after([](Image& i) { i.meta.operators.pop_back(); }) ==
          "tile 0: operator 2: the image has 2 operators");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].placements[1].units = 5; }) ==
          "tile 1: operator 1: its placement differs from another tile's");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].edges[1].slot_offset = 5; }) ==
          "tile 1: edge 4: differs from another tile's");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].edges[2].dst_op = 7; }) == "tile 1: edge 5: unknown operator 7");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].edges[2].switch_id = 2; }) == "tile 1: edge 5: unknown switch 2");
    CHECK(tile_error_after([](Image& i) {
              std::swap(i.tiles[0].placements[1].tiles[0], i.tiles[0].placements[1].tiles[1]);
          }) == "tile 0: operator 1: rank 0 is not on this tile");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[2].tiles = {2}; }) ==
          "tile 0: operator 2: tile 2 of 2");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[2].segment = 1; }) ==
          "tile 0: operator 2: segment 1 of 1");
    CHECK(tile_error_after([](Image& i) {
              std::swap(i.tiles[0].placements[1].partitions[0], i.tiles[0].placements[1].partitions[1]);
          }) == "tile 0: operator 1: partitions are not sorted by dyn_dim");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].partitions[0].n = 2; }) ==
          "tile 0: operator 1: 4 ranks on 2 tiles");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].partitions[0].p = 0; }) ==
          "tile 0: operator 1: 0 ranks on 2 tiles");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].k_factor = 0; }) ==
          "tile 0: operator 1: a placement without partition factors or units");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].shape.heads = 0; }) ==
          "tile 0: operator 1: 0 heads of 3 and 16 channels");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].shape.heads = 4; }) ==
          "tile 0: operator 1: 4 heads of 3 and 16 channels");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].edges[1].first_channel = 16; }) ==
          "tile 0: edge 4: takes channels 16 to 27 of 16");
}

TEST_CASE("the order of a segment's samples is checked", "[image]") {
    const auto spoil_order = [](const std::function<void(SegmentOrder&)>& spoil) {
        return tile_error_after([&spoil](Image& i) {
            for (TileProgram& program : i.tiles) spoil(program.orders.at(0));
        });
    };
    CHECK(spoil_order([](SegmentOrder& o) { o.segment = 1; }) ==
          "tile 0: order of segment 1: twice, not sorted, or of 1 segments");
    CHECK(spoil_order([](SegmentOrder& o) { o.samples = 9; }) ==
          "tile 0: order of segment 0: 9 samples of a batch of 8");
    CHECK(spoil_order([](SegmentOrder& o) { o.keys[1].outer = 1; }) ==
          "tile 0: order of segment 0: key 1 stands on branch 1 of key 1");
    CHECK(spoil_order([](SegmentOrder& o) { o.keys[1].outer_branch = 64; }) ==
          "tile 0: order of segment 0: key 1 stands on branch 64 of key 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].orders[0].keys.pop_back(); }) ==
          "tile 1: order of segment 0: differs from another tile's");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].orders.push_back(i.tiles[0].orders[0]); }) ==
          "tile 0: order of segment 0: twice, not sorted, or of 1 segments");
}

TEST_CASE("operators that share tiles are checked", "[image]") {
    // Operator 2 in two allocations of one kernel each, for units of four samples; the second takes two at most.
    const auto error_with = [](const std::function<void(OperatorPlacement&)>& spoil) {
        Image image = small_image();
        for (TileProgram& program : image.tiles) {
            for (OperatorPlacement& placement : program.placements) {
                if (placement.op_id != 2) continue;
                std::swap(placement.partitions[0], placement.partitions[1]);
                placement.allocations = {{0, {{4, 100}}, {{2, 50}, {4, 90}}}, {1, {{2, 70}}, {{4, 60}}}};
                spoil(placement);
            }
            for (const TileOperator& op : program.operators) {
                if (op.op_id != 2) continue;
                std::swap(program.kernels[op.kernel_first], program.kernels[op.kernel_first + 1u]);
            }
        }
        return error_of([&] { decode_image(encode(image), "net.syk"); });
    };
    CHECK(error_with([](OperatorPlacement&) {}) == "");
    const auto says = [&](const std::function<void(OperatorPlacement&)>& spoil, const char* message) {
        CHECK_THAT(error_with(spoil), Catch::Matchers::EndsWith(message));
    };
    says([](OperatorPlacement& p) { p.allocations[0].first_partition = 1; }, "allocation 0 begins with kernel 1");
    says([](OperatorPlacement& p) { p.allocations[1].first_partition = 0; }, "allocation 1 begins with kernel 0");
    says([](OperatorPlacement& p) { p.allocations[1].first_partition = 2; }, "allocation 1 has no kernels");
    says([](OperatorPlacement& p) { p.allocations[0].own = {{3, 100}}; }, "allocation 0 takes units of 3 samples of 4");
    says([](OperatorPlacement& p) { p.allocations[0].partner.clear(); }, "allocation 0 takes units of 0 samples of 4");
    says(
        [](OperatorPlacement& p) {
            p.allocations[0].partner = {{4, 90}, {2, 50}};
        },
        "costs of allocation 0 are not sorted by dyn_dim");
    says([](OperatorPlacement& p) { p.allocations[1].own = {{3, 70}}; }, "allocation 1 has no kernel for 3 samples");
    says([](OperatorPlacement& p) { p.allocations.clear(); }, "partitions are not sorted by dyn_dim");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].edges[1].partner = 1; }) ==
          "tile 0: edge 4: branch 1 shares tiles with branch 1");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].edges[1].partner = 2; }) ==
          "tile 0: edge 4: branch 1 shares tiles with branch 2");
}

TEST_CASE("the allocation is that in which the slower branch is fastest", "[image]") {
    OperatorPlacement placement;
    CHECK(placement.allocation_for(3, 5) == 0);
    placement.partitions = {{8, 1, 1}, {4, 1, 1}, {8, 2, 1}, {2, 1, 1}};
    placement.allocations = {
        {0, {{4, 40}, {8, 80}}, {{4, 40}, {8, 80}}}, {1, {{8, 50}}, {{2, 50}, {4, 60}}}, {3, {{2, 60}}, {{8, 50}}}};
    CHECK(placement.allocation_for(4, 4) == 0);
    CHECK(placement.allocation_for(8, 0) == 1);  // 50 instead of 80
    CHECK(placement.allocation_for(8, 4) == 1);  // 60 instead of 80
    CHECK(placement.allocation_for(8, 5) == 0);  // the second has no kernel for 5 on the partner
    CHECK(placement.allocation_for(2, 8) == 2);
    CHECK(placement.allocation_for(0, 0) == 0);
    CHECK(placement.allocation_for(8, 8) == 0);
    CHECK(placement.best_fit(0, 8) == 0);
    CHECK(placement.best_fit(1, 3) == 1);
    CHECK(placement.best_fit(1, 5) == 2);
    CHECK(placement.best_fit(2, 3) == -1);
    SampleIndexList index_list{SampleSet::range(0, 8), nullptr, SampleSet({1, 2})};
    CHECK(placement.allocation_for(index_list) == 1);
}

TEST_CASE("a tile's operators are checked against its records", "[image]") {
    const auto spoil_operator = [](const std::function<void(TileOperator&)>& spoil) {
        return tile_error_after([&](Image& image) { spoil(image.tiles[1].operators[1]); });
    };
    CHECK(spoil_operator([](TileOperator& o) { o.op_id = 1; }) == "tile 1: operator 1: rank 0 is not on this tile");
    CHECK(spoil_operator([](TileOperator& o) { o.op_id = 3; }) == "tile 1: operator 3: has no placement");
    CHECK(spoil_operator([](TileOperator& o) { o.segment = 1; }) ==
          "tile 1: operator 2: segment 1, but it is placed in 0");
    CHECK(spoil_operator([](TileOperator& o) { o.rank = 1; }) == "tile 1: operator 2: rank 1 is not on this tile");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_switch = 2; }) == "tile 1: operator 2: gate of unknown switch 2");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_switch = 0; }) ==
          "tile 1: operator 2: is a gate, but keeps no logits");
    CHECK(spoil_operator([](TileOperator& o) { o.epilogue = {EpilogueStep::gate}; }) ==
          "tile 1: operator 2: keeps logits, but is no gate");
    CHECK(spoil_operator([](TileOperator& o) {
              o.gate_switch = 0;
              o.epilogue = {EpilogueStep::gate};
              o.kept_offset = o.out_slot_bytes;
          }) == "tile 1: operator 2: values kept at offset 2048 of output slots of 2048 bytes");
    const auto kept = [](std::vector<EpilogueStep> epilogue) {
        return [epilogue = std::move(epilogue)](TileOperator& o) {
            o.epilogue = epilogue;
            o.kept_offset = o.out_slot_bytes;
        };
    };
    CHECK(spoil_operator(kept({EpilogueStep::layer_norm})) ==
          "tile 1: operator 2: values kept at offset 2048 of output slots of 2048 bytes");
    CHECK(spoil_operator(kept({EpilogueStep::softmax, EpilogueStep::layer_norm})) ==
          "tile 1: operator 2: 2 steps across channels");
    CHECK(spoil_operator([](TileOperator& o) { o.epilogue = {EpilogueStep::position}; }) ==
          "tile 1: operator 2: positions of 0 tokens on 8 rows");
    CHECK(spoil_operator([](TileOperator& o) { o.position_tokens = 8; }) ==
          "tile 1: operator 2: positions of 8 tokens on 8 rows");
    CHECK(spoil_operator([](TileOperator& o) {
              o.epilogue = {EpilogueStep::position};
              o.position_tokens = 12;
          }) == "tile 1: operator 2: positions of 12 tokens on 8 rows");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_rule = GateRule::patience; }) ==
          "tile 1: operator 2: a patience of 0 that does not match its rule");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_patience = 2; }) ==
          "tile 1: operator 2: a patience of 2 that does not match its rule");
    CHECK(spoil_operator([](TileOperator& o) { o.previous_switch = 0; }) ==
          "tile 1: operator 2: takes labels of unknown switch 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].operators[0].epilogue.push_back(EpilogueStep::softmax); }) ==
          "tile 0: operator 1: a step across channels that 2 slices share");
    CHECK(spoil_operator([](TileOperator& o) { o.kernel_first = 3; }) ==
          "tile 1: operator 2: kernels 3 to 5, but the store has 4");
    CHECK(spoil_operator([](TileOperator& o) { o.kernel_count = 1; }) ==
          "tile 1: operator 2: 1 kernels, but 2 partitions");
    CHECK(spoil_operator([](TileOperator& o) { o.kernel_first = 1; }) ==
          "tile 1: operator 2: kernel 1 is of operator 1 for 4 samples");
    CHECK(spoil_operator([](TileOperator& o) { o.in_edges = {9}; }) == "tile 1: operator 2: edge 9 does not end here");
    CHECK(spoil_operator([](TileOperator& o) { o.in_edges = {3}; }) == "tile 1: operator 2: edge 3 does not end here");
    CHECK(spoil_operator([](TileOperator& o) { o.out_edges = {4}; }) ==
          "tile 1: operator 2: edge 4 does not begin here");
    CHECK(tile_error_after([](Image& i) { i.chip.segments[0].tiles = {0}; }) ==
          "tile 1: operator 1: the tile takes no part in segment 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].operators[0].segment = 1; }) ==
          "tile 1: operator 1: segment 1, but it is placed in 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].kernels[1].loop(Level::spm, Dim::c).block = 2; }) ==
          "tile 0: kernel 1: the blocks do not cover the totals");
}
