// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "small_image.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using switchyard::testing::error_of;
using switchyard::testing::small_image;

namespace {

std::string tile_error(const std::vector<std::uint8_t>& bytes) {
    return error_of([&] { decode_tile_program(bytes.data(), bytes.size()); });
}

}  // namespace

TEST_CASE("programs survive a round trip, kernels included", "[program]") {
    const Image image = small_image();
    for (const TileProgram& program : image.tiles) {
        const std::vector<std::uint8_t> bytes = encode(program);
        const TileProgram decoded = decode_tile_program(bytes.data(), bytes.size());
        CHECK(decoded.kernels.size() == program.kernels.size());
        CHECK(encode(decoded) == bytes);
    }
    const std::vector<std::uint8_t> bytes = encode(image.chip);
    const ChipProgram chip = decode_chip_program(bytes.data(), bytes.size());
    CHECK(chip.batch_samples == 8);
    CHECK(chip.segments.at(0).tiles == std::vector<std::uint16_t>{0, 1});
    CHECK(encode(chip) == bytes);
}

TEST_CASE("every field of a decoded program is the one that was encoded", "[program]") {
    const std::vector<std::uint8_t> bytes = encode(small_image().tiles[0]);
    const TileProgram program = decode_tile_program(bytes.data(), bytes.size());
    const OperatorPlacement& stem = program.placement(1);
    CHECK(stem.shape.kind == OpKind::convolution);
    CHECK(stem.shape.out_channels == 16);
    CHECK(stem.shape.in_channels == 3);
    CHECK(stem.shape.pad == 1);
    CHECK(stem.k_factor == 2);
    CHECK(stem.units == 2);
    CHECK(stem.unit_samples == 4);
    CHECK(stem.partitions.at(1).dyn_dim == 4);
    const Edge& feed = program.edge(3);
    CHECK(feed.path == EdgePath::memory);
    CHECK(feed.slot_offset == 0x2000);
    CHECK(feed.slot_bytes == 1024);
    const OperatorPlacement& input = program.placement(0);
    CHECK(input.in_memory());
    CHECK_FALSE(stem.in_memory());
    CHECK(input.store.offset == 0x1000);
    CHECK(input.store.piece_stride == 768);
    CHECK(input.store.bank_stride == 0x10000);
    CHECK(input.store.first_interface == 1);
    CHECK(input.store.interfaces == 2);
    CHECK(input.store.index_list_address == 0x7000);
    CHECK(input.store.index_list_bytes == 64);
    CHECK(input.store.index_list_samples == 4);
    const Edge& branch = program.edge(4);
    CHECK(branch.reduce == EdgeReduce::global_pool);
    CHECK(branch.role == OperandRole::second_operand);
    CHECK(branch.switch_id == 0);
    CHECK(branch.branch == 1);
    CHECK(branch.pops == 1);
    const TileOperator& op = program.operators.at(0);
    CHECK(op.out_slots == 3);
    CHECK(op.out_slot_bytes == 2048);
    CHECK(op.gate_switch == 0);
    CHECK(op.gate_branches == 2);
    CHECK(op.gate_threshold == 0xBF800000);
    CHECK(op.kept_offset == 1024);
    CHECK(op.epilogue == std::vector<EpilogueStep>{EpilogueStep::bias, EpilogueStep::gate, EpilogueStep::sigmoid});
    CHECK(op.mask_address == 0x4000);
    CHECK(op.mask_bank_stride == 0x100);
    CHECK(op.out_edges == std::vector<std::uint16_t>{4});
    REQUIRE(program.order(0) != nullptr);
    CHECK(program.order(0)->samples == 8);
    CHECK(program.order(0)->keys.at(1).mask_address == 0x5000);
    CHECK(program.order(0)->keys.at(1).mask_bank_stride == 0x100);
    CHECK(program.order(0)->keys.at(1).outer == 0);
    CHECK(program.order(0)->keys.at(1).outer_branch == 1);
    CHECK(program.order(1) == nullptr);
    CHECK_THROWS_AS(program.placement(7), std::out_of_range);
    CHECK_THROWS_AS(program.edge(7), std::out_of_range);
}

TEST_CASE("a chip program is laid out as documented", "[program]") {
    const ChipProgram chip{0x0102, {{3, 0x10203, {7, 0x105}}}};
    const std::vector<std::uint8_t> expected{2, 1, 0, 0, 1, 0, 0, 0, 3, 0, 3, 2, 1, 0, 2, 0, 0, 0, 7, 0, 5, 1};
    CHECK(encode(chip) == expected);
}

TEST_CASE("an edge is laid out as documented", "[program]") {
    TileProgram program;
    program.tile = 9;
    Edge edge;
    edge.id = 1, edge.src_op = 2, edge.dst_op = 3;
    edge.path = EdgePath::mask;
    edge.switch_id = 4, edge.branch = 5, edge.partner = 16, edge.pops = 6;
    edge.first_channel = 15, edge.channels = 7, edge.rows = 8, edge.columns = 9;
    edge.element_bytes = 4;
    edge.slots = 10, edge.slot_offset = 11, edge.slot_bytes = 12;
    edge.slice_addresses = {13};
    edge.weight_bytes = 14;
    edge.resident = true;
    program.edges = {edge};
    program.orders = {{16, 17, {{18, 19, kNone, 20}}}};
    // clang-format off
    const std::vector<std::uint8_t> expected{
        9, 0,                                     // tile
        0, 0, 0, 0,                               // no operators
        1, 0, 0, 0, 16, 0, 17, 0, 0, 0,           // one order: segment, samples
        1, 0, 0, 0,                               // of one key
        18, 0, 0, 0, 0, 0, 0, 0,                  // mask_address
        19, 0, 0, 0, 0, 0, 0, 0,                  // mask_bank_stride
        255, 255, 20, 0,                          // outer, outer_branch
        0, 0, 0, 0,                               // no placements
        1, 0, 0, 0,                               // one edge
        1, 0, 2, 0, 3, 0,                         // id, src_op, dst_op
        2, 0, 0,                                  // path, reduce, role
        4, 0, 5, 0, 16, 0, 6,                     // switch_id, branch, partner, pops
        15, 0, 7, 0, 8, 0, 9, 0, 4,               // first_channel, channels, rows, columns, element_bytes
        10, 0, 11, 0, 0, 0, 12, 0, 0, 0,          // slots, slot_offset, slot_bytes
        1, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0,      // slice_addresses
        14, 0, 0, 0, 1,                           // weight_bytes, resident
        0, 0, 0, 0};                              // no kernels
    // clang-format on
    CHECK(encode(program) == expected);
}

TEST_CASE("a tile operator is laid out as documented", "[program]") {
    TileProgram program;
    program.tile = 9;
    TileOperator op;
    op.op_id = 1, op.segment = 2, op.rank = 3, op.kernel_first = 4, op.kernel_count = 5, op.out_slots = 6;
    op.out_offset = 7, op.out_slot_bytes = 8;
    op.gate_switch = 9, op.gate_branches = 10, op.gate_rule = GateRule::patience, op.gate_threshold = 11;
    op.gate_patience = 12, op.previous_switch = 13, op.kept_offset = 14, op.mask_address = 15, op.mask_bank_stride = 16;
    op.epilogue = {EpilogueStep::position, EpilogueStep::layer_norm, EpilogueStep::softmax, EpilogueStep::scale};
    op.position_tokens = 17, op.pool = PoolKind::mean;
    op.in_edges = {18}, op.out_edges = {19};
    program.operators = {op};
    // clang-format off
    const std::vector<std::uint8_t> expected{
        9, 0, 1, 0, 0, 0,                         // tile, one operator
        1, 0, 2, 0, 3, 0, 4, 0, 5, 0,             // op_id, segment, rank, kernel_first, kernel_count
        6, 0, 7, 0, 0, 0, 8, 0, 0, 0,             // out_slots, out_offset, out_slot_bytes
        9, 0, 10, 0, 3, 11, 0, 0, 0,              // gate_switch, gate_branches, gate_rule, gate_threshold
        12, 0, 13, 0, 14, 0, 0, 0,                // gate_patience, previous_switch, kept_offset
        15, 0, 0, 0, 0, 0, 0, 0,                  // mask_address
        16, 0, 0, 0, 0, 0, 0, 0,                  // mask_bank_stride
        4, 0, 0, 0, 6, 7, 8, 9,                   // epilogue
        17, 0, 1,                                 // position_tokens, pool
        1, 0, 0, 0, 18, 0, 1, 0, 0, 0, 19, 0,     // in_edges, out_edges
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};  // no orders, placements, edges, kernels
    // clang-format on
    CHECK(encode(program) == expected);
    const TileProgram decoded = decode_tile_program(expected.data(), expected.size());
    CHECK(encode(decoded) == expected);
    CHECK(decoded.operators.at(0).previous_switch == 13);
    CHECK(decoded.operators.at(0).position_tokens == 17);
}

TEST_CASE("a placement is laid out as documented", "[program]") {
    TileProgram program;
    program.tile = 9;
    OperatorPlacement placement;
    placement.op_id = 1, placement.segment = 2, placement.k_factor = 3, placement.units = 4, placement.unit_samples = 5;
    placement.tiles = {6};
    placement.partitions = {{7, 8, 9}};
    placement.allocations = {{10, {{11, 12}}, {{13, 14}, {15, 16}}}};
    program.placements = {placement};
    // clang-format off
    const std::vector<std::uint8_t> before{
        9, 0,                                     // tile
        0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,       // no operators, no orders, one placement
        1, 0, 2, 0};                              // op_id, segment
    const std::vector<std::uint8_t> middle{
        3, 0, 4, 0, 5, 0, 0, 0,                   // k_factor, units, unit_samples
        1, 0, 0, 0, 6, 0,                         // tiles
        1, 0, 0, 0, 7, 0, 8, 0, 9, 0};            // partitions
    const std::vector<std::uint8_t> after{
        1, 0, 0, 0, 10, 0,                        // one allocation, first_partition
        1, 0, 0, 0, 11, 0, 12, 0, 0, 0,           // own
        2, 0, 0, 0, 13, 0, 14, 0, 0, 0, 15, 0, 16, 0, 0, 0,  // partner
        0, 0, 0, 0, 0, 0, 0, 0};                  // no edges, no kernels
    // clang-format on
    constexpr std::size_t kShape = 27, kStore = 40;
    const std::vector<std::uint8_t> bytes = encode(program);
    REQUIRE(bytes.size() == before.size() + kShape + middle.size() + kStore + after.size());
    CHECK(std::equal(before.begin(), before.end(), bytes.begin()));
    CHECK(std::equal(middle.begin(), middle.end(), bytes.begin() + static_cast<long>(before.size() + kShape)));
    CHECK(std::equal(after.rbegin(), after.rend(), bytes.rbegin()));
    const TileProgram decoded = decode_tile_program(bytes.data(), bytes.size());
    CHECK(decoded.placements.at(0).allocations.at(0).partner.at(1).cycles == 16);
    CHECK(encode(decoded) == bytes);
}

TEST_CASE("pieces of a tensor lie on one interface after another", "[program]") {
    const TensorStore store{0x100, 0x40, 0x1000, 1, 3, 0, 0, 0};
    constexpr std::uint64_t kRegion = 1 << 20;
    CHECK(store.address(0, 0, kRegion) == kRegion + 0x100);
    CHECK(store.address(1, 0, kRegion) == 2 * kRegion + 0x100);
    CHECK(store.address(2, 0, kRegion) == 0x100);
    CHECK(store.address(3, 0, kRegion) == kRegion + 0x140);
    CHECK(store.address(3, 5, kRegion) == kRegion + 0x1140);
}

TEST_CASE("truncated and corrupt programs throw InputError and nothing else", "[program]") {
    const std::vector<std::uint8_t> good = encode(small_image().tiles[1]);
    for (std::size_t size = 0; size < good.size(); ++size) {
        const std::string error = tile_error({good.begin(), good.begin() + size});
        CHECK_THAT(error, Catch::Matchers::StartsWith("tile program: offset "));
    }
    std::vector<std::uint8_t> bytes = good;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
        bytes[bit / 8] ^= 1U << bit % 8;
        CHECK_NOTHROW(tile_error(bytes));  // may be another valid program: the image's checksums are the guard
        bytes[bit / 8] ^= 1U << bit % 8;
    }
    bytes.push_back(0);
    CHECK(tile_error(bytes) == "tile program: offset " + std::to_string(good.size()) +
                                   ": expected the end of the record, found 1 more bytes");
}

TEST_CASE("malformed records name the offset", "[program]") {
    TileProgram program = small_image().tiles[0];
    std::swap(program.placements[0], program.placements[1]);
    CHECK_THAT(tile_error(encode(program)), Catch::Matchers::ContainsSubstring(
                                                "expected the op_ids of placements in strictly rising order, found "));
    program = small_image().tiles[0];
    program.edges[1].id = program.edges[0].id;
    CHECK_THAT(tile_error(encode(program)),
               Catch::Matchers::ContainsSubstring("expected the ids of edges in strictly rising order, found "));

    program = {};
    program.edges.resize(1);
    std::vector<std::uint8_t> bytes = encode(program);
    bytes[24] = 5;  // path
    CHECK(tile_error(bytes) == "tile program: offset 24: expected a known code, found 5");
    bytes = encode(program);
    bytes[26] = 3;  // role
    CHECK(tile_error(bytes) == "tile program: offset 26: expected a known code, found 3");
    bytes = encode(program);
    bytes[bytes.size() - 5] = 2;  // resident
    CHECK(tile_error(bytes) ==
          "tile program: offset " + std::to_string(bytes.size() - 5) + ": expected 0 or 1, found 2");

    const std::vector<std::uint8_t> chip{1, 0, 0, 0, 1, 0, 0, 0, 1};
    CHECK(error_of([&] { decode_chip_program(chip.data(), chip.size()); }) ==
          "chip program: offset 8: expected more bytes, found the end of the record");
}
