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
    CHECK(error_after([](Image& i) { i.meta.switches[0].branches = 65; }) ==
          "meta: switch gate: expected 1 to 64 branches, found 65");
    CHECK(error_after([](Image& i) { i.meta.switches[1].name = "gate"; }) ==
          "meta: switch gate: expected one switch of this name, found two");
    CHECK(error_after([](Image& i) { i.meta.switches[1].parent = "x"; }) ==
          "meta: switch inner: expected a branch of a switch, found branch 1 of x");
    CHECK(error_after([](Image& i) { i.meta.switches[1].parent_branch = 2; }) ==
          "meta: switch inner: expected a branch of a switch, found branch 2 of gate");
}

TEST_CASE("the chip's program is checked", "[image]") {
    CHECK(error_after([](Image& i) { i.chip.batch_samples = 9; }) ==
          "chip: expected 8 batch_samples, as in the meta section, found 9");
    CHECK(error_after([](Image& i) {
              i.chip.segments[0].tiles = {0, 1, 2};
          }) == "chip: segment 0: expected a tile below 2, found 2");
    CHECK_THAT(error_after([](Image& i) { i.chip.segments[0].units = 0; }),
               Catch::Matchers::StartsWith(
                   "chip: segment 0: expected at least 1 micro-batch of at least 1 sample, found 0 of "));
}

TEST_CASE("a tile's program is checked against the image", "[image]") {
    CHECK(tile_error_after([](Image& i) { i.tiles[1].tile = 0; }) ==
          "tile 1: expected the program of tile 1, found that of tile 0");
    CHECK(tile_error_after([](Image& i) { i.meta.operators.pop_back(); }) ==
          "tile 0: operator 2: expected one of the image's 2 operators, found 2");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].placements[1].units = 5; }) ==
          "tile 1: operator 1: expected the same placement in all tiles, found one that differs");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].edges[1].slot_offset = 5; }) ==
          "tile 1: edge 4: expected the same edge in all tiles, found one that differs");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].edges[2].dst_op = 7; }) ==
          "tile 1: edge 5: expected an operator below 3, found 7");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].edges[2].switch_id = 2; }) ==
          "tile 1: edge 5: expected a switch below 2, found 2");
    CHECK(tile_error_after([](Image& i) {
              std::swap(i.tiles[0].placements[1].tiles[0], i.tiles[0].placements[1].tiles[1]);
          }) == "tile 0: operator 1: expected a rank that is on this tile, found 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[2].tiles = {2}; }) ==
          "tile 0: operator 2: expected a tile below 2, found 2");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[2].segment = 1; }) ==
          "tile 0: operator 2: expected a segment below 1, found 1");
    CHECK_THAT(tile_error_after([](Image& i) {
                   std::swap(i.tiles[0].placements[1].partitions[0], i.tiles[0].placements[1].partitions[1]);
               }),
               Catch::Matchers::StartsWith("tile 0: operator 1: expected partitions with rising dyn_dim, found "));
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].partitions[0].n = 2; }) ==
          "tile 0: operator 1: expected 1 to 2 ranks, a tile each, found 4");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].partitions[0].p = 0; }) ==
          "tile 0: operator 1: expected 1 to 2 ranks, a tile each, found 0");
    CHECK_THAT(tile_error_after([](Image& i) { i.tiles[0].placements[1].k_factor = 0; }),
               Catch::Matchers::StartsWith(
                   "tile 0: operator 1: expected k_factor, units and unit_samples of at least 1, found 0, "));
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].shape.heads = 0; }) ==
          "tile 0: operator 1: expected heads that divide 3 and 16 channels, found 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].placements[1].shape.heads = 4; }) ==
          "tile 0: operator 1: expected heads that divide 3 and 16 channels, found 4");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].edges[1].first_channel = 16; }) ==
          "tile 0: edge 4: expected channels of the source's 16, found 16 to 27");
}

TEST_CASE("the order of a segment's samples is checked", "[image]") {
    const auto spoil_order = [](const std::function<void(SegmentOrder&)>& spoil) {
        return tile_error_after([&spoil](Image& i) {
            for (TileProgram& program : i.tiles) spoil(program.orders.at(0));
        });
    };
    CHECK(spoil_order([](SegmentOrder& o) { o.segment = 1; }) ==
          "tile 0: order of segment 1: expected a segment below 1, found 1");
    CHECK(spoil_order([](SegmentOrder& o) { o.samples = 9; }) ==
          "tile 0: order of segment 0: expected the 8 samples of a batch, found 9");
    CHECK(spoil_order([](SegmentOrder& o) { o.keys[1].outer = 1; }) ==
          "tile 0: order of segment 0: key 1: expected a branch of a key before it, found branch 1 of key 1");
    CHECK(spoil_order([](SegmentOrder& o) { o.keys[1].outer_branch = 64; }) ==
          "tile 0: order of segment 0: key 1: expected a branch of a key before it, found branch 64 of key 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].orders[0].keys.pop_back(); }) ==
          "tile 1: order of segment 0: expected the same order in all tiles, found one that differs");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].orders.push_back(i.tiles[0].orders[0]); }) ==
          "tile 0: order of segment 0: expected orders with rising segments, found 0 before it");
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
    says([](OperatorPlacement& p) { p.allocations[0].first_partition = 1; },
         "allocation 0: expected a first kernel of 0, found 1");
    says([](OperatorPlacement& p) { p.allocations[1].first_partition = 0; },
         "allocation 1: expected a first kernel above 0, found 0");
    says([](OperatorPlacement& p) { p.allocations[1].first_partition = 2; },
         "allocation 1: expected a first kernel below 2, found 2");
    says(
        [](OperatorPlacement& p) {
            p.allocations[0].own = {{3, 100}};
        },
        "allocation 0: expected costs for up to 4 samples, found up to 3");
    says([](OperatorPlacement& p) { p.allocations[0].partner.clear(); },
         "allocation 0: expected costs for up to 4 samples, found up to 0");
    says(
        [](OperatorPlacement& p) {
            p.allocations[0].partner = {{4, 90}, {2, 50}};
        },
        "allocation 0: expected costs with rising dyn_dim, found 2 after 4");
    says(
        [](OperatorPlacement& p) {
            p.allocations[1].own = {{3, 70}};
        },
        "allocation 1: expected costs for at most the 2 samples of its kernels, found 3");
    says([](OperatorPlacement& p) { p.allocations.clear(); },
         "expected partitions with rising dyn_dim, found 2 after 4");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].edges[1].partner = 1; }) ==
          "tile 0: edge 4: expected another branch that shares tiles with branch 1, found branch 1");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].edges[1].partner = 2; }) ==
          "tile 0: edge 4: expected another branch that shares tiles with branch 1, found branch 2");
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
    CHECK(spoil_operator([](TileOperator& o) { o.op_id = 1; }) ==
          "tile 1: operator 1: expected a rank that is on this tile, found 0");
    CHECK(spoil_operator([](TileOperator& o) { o.op_id = 3; }) ==
          "tile 1: operator 3: expected a placement, found none");
    CHECK(spoil_operator([](TileOperator& o) { o.segment = 1; }) ==
          "tile 1: operator 2: expected segment 0 of its placement, found 1");
    CHECK(spoil_operator([](TileOperator& o) { o.rank = 1; }) ==
          "tile 1: operator 2: expected a rank that is on this tile, found 1");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_switch = 2; }) ==
          "tile 1: operator 2: expected the gate of a switch below 2, found that of 2");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_switch = 0; }) ==
          "tile 1: operator 2: expected a gate that keeps logits, found one that does not");
    CHECK(spoil_operator([](TileOperator& o) { o.epilogue = {EpilogueStep::gate}; }) ==
          "tile 1: operator 2: expected a gate, as it keeps logits, found no switch");
    CHECK(
        spoil_operator([](TileOperator& o) {
            o.gate_switch = 0;
            o.epilogue = {EpilogueStep::gate};
            o.kept_offset = o.out_slot_bytes;
        }) ==
        "tile 1: operator 2: expected kept values within the 2048 bytes of an output slot, found them at offset 2048");
    const auto kept = [](std::vector<EpilogueStep> epilogue) {
        return [epilogue = std::move(epilogue)](TileOperator& o) {
            o.epilogue = epilogue;
            o.kept_offset = o.out_slot_bytes;
        };
    };
    CHECK(
        spoil_operator(kept({EpilogueStep::layer_norm})) ==
        "tile 1: operator 2: expected kept values within the 2048 bytes of an output slot, found them at offset 2048");
    CHECK(spoil_operator(kept({EpilogueStep::softmax, EpilogueStep::layer_norm})) ==
          "tile 1: operator 2: expected at most 1 step across channels, found 2");
    CHECK(spoil_operator([](TileOperator& o) { o.epilogue = {EpilogueStep::position}; }) ==
          "tile 1: operator 2: expected positions of a multiple of 8 rows, found 0 tokens");
    CHECK(spoil_operator([](TileOperator& o) { o.position_tokens = 8; }) ==
          "tile 1: operator 2: expected positions of no tokens, found 8 tokens");
    CHECK(spoil_operator([](TileOperator& o) {
              o.epilogue = {EpilogueStep::position};
              o.position_tokens = 12;
          }) == "tile 1: operator 2: expected positions of a multiple of 8 rows, found 12 tokens");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_rule = GateRule::patience; }) ==
          "tile 1: operator 2: expected a patience of at least 1 for its rule, found 0");
    CHECK(spoil_operator([](TileOperator& o) { o.gate_patience = 2; }) ==
          "tile 1: operator 2: expected a patience of 0 for its rule, found 2");
    CHECK(spoil_operator([](TileOperator& o) { o.previous_switch = 0; }) ==
          "tile 1: operator 2: expected labels for a gate with patience, of a switch below 2, found those of switch 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].operators[0].epilogue.push_back(EpilogueStep::softmax); }) ==
          "tile 0: operator 1: expected 1 slice for a step across channels, found 2");
    CHECK(spoil_operator([](TileOperator& o) { o.kernel_first = 3; }) ==
          "tile 1: operator 2: expected kernels of the store's 4, found [3, 5)");
    CHECK(spoil_operator([](TileOperator& o) { o.kernel_count = 1; }) ==
          "tile 1: operator 2: expected 2 kernels, one a partition, found 1");
    CHECK_THAT(spoil_operator([](TileOperator& o) { o.kernel_first = 1; }),
               Catch::Matchers::StartsWith("tile 1: operator 2: kernel 1: expected one of this operator for ") &&
                   Catch::Matchers::EndsWith(" samples, found one of operator 1 for 4"));
    CHECK(spoil_operator([](TileOperator& o) { o.in_edges = {9}; }) ==
          "tile 1: operator 2: expected an edge that ends here, found edge 9");
    CHECK(spoil_operator([](TileOperator& o) { o.in_edges = {3}; }) ==
          "tile 1: operator 2: expected an edge that ends here, found edge 3");
    CHECK(spoil_operator([](TileOperator& o) { o.out_edges = {4}; }) ==
          "tile 1: operator 2: expected an edge that begins here, found edge 4");
    CHECK(tile_error_after([](Image& i) { i.chip.segments[0].tiles = {0}; }) ==
          "tile 1: operator 1: expected a segment of the tile, found 0");
    CHECK(tile_error_after([](Image& i) { i.tiles[1].operators[0].segment = 1; }) ==
          "tile 1: operator 1: expected segment 0 of its placement, found 1");
    CHECK(tile_error_after([](Image& i) { i.tiles[0].kernels[1].loop(Level::spm, Dim::c).block = 2; }) ==
          "tile 0: kernel 1: expected blocks that cover the totals, found smaller ones");
}
