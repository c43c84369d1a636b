// SPDX-License-Identifier: Apache-2.0
#include "small_image.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace switchyard::testing {

namespace {

Kernel kernel_of(std::uint16_t op_id, std::uint16_t dyn_dim, std::uint16_t channels) {
    Kernel kernel;
    kernel.op_id = op_id;
    kernel.total = {dyn_dim, channels, 3, 8, 8, 3, 3};
    kernel.pad = 1;
    kernel.loop(Level::pe, Dim::n).block = dyn_dim;
    kernel.loop(Level::pe, Dim::k).block = channels;
    kernel.loop(Level::spm, Dim::c) = {3, 1, 2};
    kernel.loop(Level::spm, Dim::p) = {8, 1, 3};
    kernel.loop(Level::spm, Dim::q) = {8, 1, 4};
    kernel.loop(Level::spm, Dim::r) = {3, 1, 0};
    kernel.loop(Level::spm, Dim::s) = {3, 1, 1};
    return kernel;
}

OperatorPlacement placement_of(std::uint16_t op_id, std::vector<std::uint16_t> tiles, std::uint16_t k_factor) {
    OperatorPlacement placement;
    placement.op_id = op_id;
    placement.shape = {OpKind::convolution, 16, 3, 8, 8, 8, 8, 3, 3, 1, 1};
    placement.k_factor = k_factor;
    placement.units = 2;
    placement.unit_samples = 4;
    placement.tiles = std::move(tiles);
    placement.partitions = {{2, 1, 1}, {4, 1, 1}};
    return placement;
}

TileOperator operator_of(std::uint16_t op_id, std::uint16_t rank, std::uint16_t kernel_first) {
    TileOperator op;
    op.op_id = op_id;
    op.rank = rank;
    op.kernel_first = kernel_first;
    op.kernel_count = 2;
    op.out_slots = 3;
    op.out_offset = 0x8000;
    op.out_slot_bytes = 2048;
    return op;
}

}  // namespace

Image small_image() {
    Image image;
    image.platform_fingerprint = 0x0123456789ABCDEF;

    ImageMeta& meta = image.meta;
    meta.model = "tiny \"net\"";
    meta.design = "adyna";
    meta.platform = "mini";
    meta.without = {"sharing"};
    meta.batch_samples = 8;
    meta.samples_per_input = 4;
    meta.operators = {
        {"input", "input", 0, false, kNone, "", "", 1, 0, 1, false, "", "", -1, 1},
        {"stem", "convolution", 27648, false, 0, "", "stem", 1, 0, 1, false, "", "", -1, 1},
        {"block", "convolution", 27648, true, 0, "gate", "block", 0.5, 1, 4, true, "block.norm", "pos", 2, 3}};
    meta.switches = {{"gate", 2, "", 0, 0x4000, 0x100, true}, {"inner", 3, "gate", 1, 0x5000, 0x100, false}};
    meta.tensors = {{"input", "input", 3072, {0x1000, 0x9000}, {1536, 1536}, 0x10000}};
    meta.routing_yaml = "switches: {}\n";

    image.chip.batch_samples = 8;
    image.chip.segments = {{2, 4, {0, 1}}};

    OperatorPlacement input = placement_of(0, {}, 1);
    input.segment = kNone;
    input.units = 1;
    input.unit_samples = 8;
    input.partitions = {{8, 2, 1}};
    input.store = {0x1000, 768, 0x10000, 1, 2, 0x7000, 64, 4};
    const OperatorPlacement stem = placement_of(1, {0, 1}, 2), block = placement_of(2, {1}, 1);

    Edge feed;
    feed.id = 3;
    feed.src_op = 0;
    feed.dst_op = 1;
    feed.path = EdgePath::memory;
    feed.channels = 3, feed.rows = 8, feed.columns = 8;
    feed.slot_offset = 0x2000, feed.slot_bytes = 1024;
    Edge branch;
    branch.id = 4;
    branch.src_op = 1;
    branch.dst_op = 2;
    branch.reduce = EdgeReduce::global_pool;
    branch.first_channel = 4, branch.channels = 12;
    branch.role = OperandRole::second_operand;
    branch.switch_id = 0;
    branch.branch = 1;
    branch.pops = 1;
    Edge weights;
    weights.id = 5;
    weights.dst_op = 2;
    weights.path = EdgePath::weights;
    weights.slice_addresses = {0x3000};
    weights.weight_bytes = 864;

    TileOperator stem_0 = operator_of(1, 0, 0), stem_1 = operator_of(1, 1, 0), block_1 = operator_of(2, 0, 2);
    for (TileOperator* op : {&stem_0, &stem_1}) {
        op->gate_switch = 0;
        op->gate_branches = 2;
        op->gate_threshold = 0xBF800000;  // -1
        op->kept_offset = 1024;
        op->epilogue = {EpilogueStep::bias, EpilogueStep::gate, EpilogueStep::sigmoid};
        op->mask_address = 0x4000;
        op->mask_bank_stride = 0x100;
        op->in_edges = {3};
        op->out_edges = {4};
    }
    block_1.in_edges = {4, 5};

    const Kernel stem_small = kernel_of(1, 2, 16), stem_large = kernel_of(1, 4, 16);
    const SegmentOrder order{0, 8, {{0x4000, 0x100, kNone, 0}, {0x5000, 0x100, 0, 1}}};
    image.tiles = {{0, {stem_0}, {order}, {input, stem, block}, {feed, branch}, {stem_small, stem_large}},
                   {1,
                    {stem_1, block_1},
                    {order},
                    {input, stem, block},
                    {feed, branch, weights},
                    {stem_small, stem_large, kernel_of(2, 2, 16), kernel_of(2, 4, 16)}}};
    return image;
}

TemporaryFile::TemporaryFile(const std::string& contents) {
    char name[] = "/tmp/switchyard_test_XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor < 0) throw std::runtime_error("no temporary file");
    close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << contents;
}

TemporaryFile::~TemporaryFile() {
    std::remove(path_.c_str());
}

std::string TemporaryFile::contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace switchyard::testing
