// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <set>
#include <string>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

namespace switchyard::sched {
namespace {

const std::string kChain = with_layers(
    "  - {name: a, kind: convolution, from: input, out_channels: 24, filter: 3, pad: 1, fused: [bias, relu]}\n"
    "  - {name: b, kind: convolution, out_channels: 40, filter: 3, stride: 2, pad: 1, fused: [bias]}\n"
    "  - {name: c, kind: pool, filter: 2, stride: 2}\n"
    "  - {name: d, kind: global_pool}\n"
    "  - {name: e, kind: matmul, out_channels: 10, fused: [bias]}\n");

TEST_CASE("Input slots are as large as what partition.h sends to the fullest tile") {
    const Model model = model_of(kChain);
    std::mt19937 random(7);
    for (const Operator& op : model.graph.operators) {
        const Source& source = op.inputs.front();
        if (source.shape.channels != op.shape.in_channels || source.shape.rows != op.shape.in_rows) continue;
        for (int round = 0; round < 20; ++round) {
            const auto dyn_dim = static_cast<std::uint16_t>(1 + random() % 8);
            const Partition part{dyn_dim, static_cast<std::uint16_t>(1 + random() % dyn_dim),
                                 static_cast<std::uint16_t>(1 + random() % op.shape.out_rows)};
            const unsigned k_factor = 1 + random() % op.shape.out_channels;
            const std::uint64_t slot = input_bytes(op.shape, source, tile_work(op.shape, 1, part, k_factor));
            std::uint64_t max = 0;
            for (unsigned rank = 0; rank < part.n * part.p * k_factor; ++rank) {
                const Box in = input_box(op.shape, output_box(op.shape, part, k_factor, rank, dyn_dim));
                max = std::max(
                    max, std::uint64_t{2} * (in.n1 - in.n0) * (in.k1 - in.k0) * (in.p1 - in.p0) * source.shape.columns);
            }
            CHECK(slot >= max);
            // Padding may hide a row of the window of every tile, never more than pad at each side.
            const std::uint64_t padding =
                std::uint64_t{2} * part.dyn_dim * source.shape.channels * 2 * op.shape.pad * source.shape.columns;
            CHECK(slot <= max + padding);
        }
    }
}

TEST_CASE("Input slots of an attention hold the heads that its fullest tile computes") {
    OperatorShape shape;
    shape.kind = OpKind::attention;
    shape.in_channels = 96;
    shape.out_channels = 32;
    shape.in_rows = shape.out_rows = 8;
    shape.in_columns = shape.out_columns = 1;
    Source source;
    source.shape = {96, 8, 1};
    for (const std::uint16_t heads : {std::uint16_t{1}, std::uint16_t{4}, std::uint16_t{8}}) {
        shape.heads = heads;
        for (unsigned k_factor = 1; k_factor <= 32; ++k_factor) {
            const Partition part{4, 2, 1};
            const std::uint64_t slot = input_bytes(shape, source, tile_work(shape, 1, part, k_factor));
            std::uint64_t max = 0;
            double read = 0, all = 0;
            Box before;
            for (unsigned rank = 0; rank < 2 * k_factor; ++rank) {
                const Box in = input_box(shape, output_box(shape, part, k_factor, rank, part.dyn_dim));
                const std::uint64_t bytes = std::uint64_t{2} * (in.n1 - in.n0) * (in.k1 - in.k0) * (in.p1 - in.p0);
                max = std::max(max, bytes);
                all += static_cast<double>(bytes);
                if (!(in == before)) read += static_cast<double>(bytes);
                before = in;
            }
            INFO(heads << " heads, " << k_factor << " k factors");
            CHECK(slot >= max);
            CHECK(slot <= max + std::uint64_t{2} * 2 * 96 * 8 / heads);  // where slices and heads do not come out even
            const bool even = 32 % k_factor == 0;
            if (even) CHECK(slot == max);
            if (even) CHECK(unit_read_bytes(shape, source, part, k_factor) == Approx(read));
            if (even) CHECK(unit_read_bytes(shape, source, part, k_factor, false) == Approx(all));
        }
    }
}

TEST_CASE("A group of the channels takes its part of a slot") {
    const Model model = model_of(with_layers(
        "  - {name: a, kind: convolution, from: input, out_channels: 24, filter: 3, pad: 1, group: 1, groups: 4}\n"));
    const Operator& op = model.graph.operators.front();
    CHECK(op.shape.in_channels == 4);
    CHECK(op.inputs.front().first_channel() == 4);
    const Partition whole{2, 1, 1};
    CHECK(input_bytes(op.shape, op.inputs.front(), tile_work(op.shape, 1, whole, 1)) == 2 * 2 * 4 * 8 * 8);
    CHECK(unit_read_bytes(op.shape, op.inputs.front(), whole, 1) == 2 * 2 * 4 * 8 * 8);
}

TEST_CASE("Bytes read for a unit are those of all input boxes, shared ones counted once") {
    const Model model = model_of(kChain);
    const Operator& op = model.graph.operators.front();
    REQUIRE(op.shape.kind == OpKind::convolution);
    const Source& source = op.inputs.front();
    const Partition part{8, 2, op.shape.out_rows};
    for (const unsigned k_factor : {1u, 4u}) {
        double bytes = 0;
        for (unsigned rank = 0; rank < part.n * part.p * k_factor; rank += k_factor) {
            const Box in = input_box(op.shape, output_box(op.shape, part, k_factor, rank, part.dyn_dim));
            bytes += 2.0 * (in.n1 - in.n0) * (in.k1 - in.k0) * (in.p1 - in.p0) * source.shape.columns;
        }
        const double padding = 2.0 * part.dyn_dim * source.shape.channels * 2 * op.shape.pad * source.shape.columns;
        CHECK(unit_read_bytes(op.shape, source, part, k_factor) >= bytes);
        CHECK(unit_read_bytes(op.shape, source, part, k_factor) <= bytes + padding);
        CHECK(unit_read_bytes(op.shape, source, part, k_factor, false) ==
              k_factor * unit_read_bytes(op.shape, source, part, k_factor));
    }
}

TEST_CASE("Usual samples are the mean and one standard deviation above it, within the unit") {
    const Model model = model_of(kChain);
    const std::size_t count = model.graph.operators.size();
    const Workload half(model.graph, mini_chip(), std::vector<double>(count, 0.5));
    CHECK(half.usual_samples(0, 16, 0) == std::array<double, 2>{8, 10});
    CHECK(half.usual_samples(0, 1, 0) == std::array<double, 2>{0.5, 1});
    const Workload all(model.graph, mini_chip(), std::vector<double>(count, 1.0));
    CHECK(all.usual_samples(0, 16, 0) == std::array<double, 2>{16, 16});

    // Of a compacted segment's units those that count have all samples on the branches that are decided.
    const Model exits = read_model("testbenches/data/early_exit.yaml");
    std::vector<double> shares(exits.graph.operators.size(), 1);
    int inner = -1;
    for (std::size_t op = 0; op < shares.size(); ++op) {
        const std::size_t depth = exits.graph.operators[op].path.size();
        shares[op] = depth == 0 ? 1 : depth == 1 ? 0.5 : 0.125;
        if (depth == 2) inner = static_cast<int>(op);
    }
    REQUIRE(inner >= 0);
    const Workload nested(exits.graph, mini_chip(), shares);
    CHECK(nested.share_on(inner, 0) == 1);
    CHECK(nested.share_on(inner, 1) == 0.5);
    CHECK(nested.share_on(inner, 2) == 0.125);
    CHECK(nested.usual_samples(inner, 16, 0)[0] == 2);
    CHECK(nested.usual_samples(inner, 16, 1)[0] == 4);
    CHECK(nested.usual_samples(inner, 16, 2) == std::array<double, 2>{16, 16});
}

TEST_CASE("More tiles never make a stage slower, and what fits stays within the data area") {
    const Model model = model_of(kChain);
    const HardwareDescription chip = mini_chip();
    const Workload workload(model.graph, chip, std::vector<double>(model.graph.operators.size(), 1.0));
    StageSearch search(workload, chip);
    for (int op = 0; op < static_cast<int>(model.graph.operators.size()); ++op) {
        const BufferSlots slots{BufferSlots::Inputs(model.graph.operators[op].inputs.size(), 2), 2};
        double before = 1e18;
        for (unsigned tiles = 1; tiles <= chip.tiles(); ++tiles) {
            const Stage& stage = search.best({op, 8, slots}, tiles);
            REQUIRE(stage.fits);
            CHECK(stage.cycles() <= before);
            CHECK(stage.footprint.total() <= chip.data_bytes());
            CHECK(stage.k_factor * stage.largest.n * stage.largest.p <= tiles);
            before = stage.cycles();
        }
    }
}

TEST_CASE("The fewest tiles of an operator, whatever its slots, bound those that it fits on") {
    const Model model = model_of(kChain);
    HardwareDescription chip = large_chip();
    chip.scratchpad_bytes = 16 * 1024;
    const Workload workload(model.graph, chip, std::vector<double>(model.graph.operators.size(), 0.5));
    StageSearch search(workload, chip);
    unsigned equal = 0, several = 0, nowhere = 0;
    for (int op = 0; op < static_cast<int>(model.graph.operators.size()); ++op) {
        for (const std::uint32_t unit : {1u, 2u, 8u}) {
            for (const unsigned copies : {1u, 2u}) {
                for (const unsigned sharers : {1u, 3u}) {
                    const unsigned bound = search.tiles_bound(op, unit, copies, sharers);
                    for (std::uint16_t count = 1; count <= 4; ++count) {
                        // Where there is one micro-batch, one slot is enough.
                        if (count == 1 && unit < model.graph.samples_in_flight()) continue;
                        const BufferSlots slots{BufferSlots::Inputs(model.graph.operators[op].inputs.size(), count),
                                                count};
                        const unsigned min = search.min_tiles({op, unit, slots, copies, sharers});
                        CAPTURE(op, unit, copies, sharers, count);
                        CHECK((min == 0 || bound <= min));
                        if (bound > chip.tiles()) CHECK(min == 0);
                        equal += bound == min ? 1 : 0;
                        several += bound > 1 ? 1 : 0;
                        nowhere += bound > chip.tiles() ? 1 : 0;
                    }
                }
            }
        }
    }
    CHECK(equal > 0);
    CHECK(several > 0);
    CHECK(nowhere > 0);
}

// min_tiles() and tiles_bound() leave numbers of tiles out, which takes this for granted.
TEST_CASE("What fits on some tiles fits on more of them") {
    const std::string network = GENERATE("tutel_moe", "dpsnet", "fbsnet_mcifarnet", "skipnet_resnet34", "pabee_bert");
    const Model model = read_model("configs/workloads/" + network + ".yaml");
    HardwareDescription chip = large_chip();
    chip.scratchpad_bytes = 128 * 1024;
    const Workload workload(model.graph, chip, std::vector<double>(model.graph.operators.size(), 0.5));
    StageSearch search(workload, chip);
    std::set<int> seen;
    unsigned several = 0;
    for (int op = 0; op < static_cast<int>(model.graph.operators.size()); ++op) {
        if (!seen.insert(search.class_of(op)).second) continue;
        // A slice that reaches into one head more needs more.
        if (model.graph.operators[static_cast<std::size_t>(op)].shape.kind == OpKind::attention) continue;
        const BufferSlots slots{
            BufferSlots::Inputs(model.graph.operators[static_cast<std::size_t>(op)].inputs.size(), 2), 2};
        for (const std::uint32_t unit : {1u, 8u}) {
            const StageQuery query{op, unit, slots, 2, 1};
            unsigned fewest = 0;
            for (unsigned tiles = 1; tiles <= chip.tiles(); ++tiles) {
                const bool fits = search.best(query, tiles).fits;
                CAPTURE(network, op, unit, tiles, fewest);
                CHECK((fits || fewest == 0));
                if (fits && fewest == 0) fewest = tiles;
            }
            CHECK(search.min_tiles(query) == fewest);
            const unsigned bound = search.tiles_bound(op, unit, 2, 1);
            CHECK((fewest == 0 || bound <= fewest));
            several += fewest > 1 ? 1 : 0;
        }
    }
    CHECK(several > 0);
}

TEST_CASE("The estimate that steers the search stays close to the kernel that is found") {
    const HardwareDescription chip = large_chip();
    const Model model = model_of(kChain);
    const Workload workload(model.graph, chip, std::vector<double>(model.graph.operators.size(), 1.0));
    StageSearch stages(workload, chip);
    KernelSearch search(chip);
    std::mt19937 random(8);
    for (int round = 0; round < 200; ++round) {
        TileWork work;
        work.size = {static_cast<std::uint16_t>(1 + random() % 8), static_cast<std::uint16_t>(1 + random() % 128),
                     static_cast<std::uint16_t>(1 + random() % 28), static_cast<std::uint16_t>(1 + random() % 28)};
        work.reduction = 32 + static_cast<std::uint32_t>(random() % 1000);
        const double found = static_cast<double>(search.best(work).cost.cycles);
        CHECK(stages.estimated_cycles(work) >= 0.9 * found);
        CHECK(stages.estimated_cycles(work) <= 1.1 * found);
    }
}

}  // namespace
}  // namespace switchyard::sched
