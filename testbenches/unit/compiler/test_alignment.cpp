// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/alignment.h"

#include <random>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

/// Pairs of ranks whose boxes overlap: `data` packets, tiles of one set of slices once, and an acknowledge for each
/// tile.
std::uint64_t counted(const Source& source, const Spread& producer, const Spread& consumer) {
    const auto ranks = [](const Spread& s) { return unsigned{s.partition.n} * s.partition.p * s.k_factor; };
    const bool second = source.role == OperandRole::second_operand;
    const std::uint32_t first_channel = source.first_channel();
    std::uint64_t packets = 0;
    for (unsigned from = 0; from < ranks(producer); ++from) {
        const Box made =
            output_box(producer.shape, producer.partition, producer.k_factor, from, producer.partition.dyn_dim);
        Box before;
        for (unsigned to = 0; to < ranks(consumer); ++to) {
            const Box out =
                output_box(consumer.shape, consumer.partition, consumer.k_factor, to, consumer.partition.dyn_dim);
            Box needed = input_box(consumer.shape, out, second);
            needed.k0 += first_channel;
            needed.k1 += first_channel;
            const bool shared = to % consumer.k_factor != 0 && needed == before;
            before = needed;
            if (made.empty() || needed.empty() || intersect(made, needed).empty()) continue;
            packets += shared ? 1 : 2;
        }
    }
    return packets;
}

TEST_CASE("Packets between two operators are pairs of tiles whose boxes overlap") {
    std::mt19937 random(20261121);
    const auto upto = [&random](std::uint16_t max) { return static_cast<std::uint16_t>(1 + random() % max); };
    for (int round = 0; round < 300; ++round) {
        OperatorShape made;
        made.kind = OpKind::convolution;
        made.out_channels = upto(8);
        made.out_rows = static_cast<std::uint16_t>(upto(8) + 2);
        made.out_columns = 4;
        Source source;
        source.producer = 0;
        if (round % 4 == 1) {  // one of several groups of channels
            source.groups = upto(4);
            source.group = static_cast<std::uint16_t>(upto(source.groups) - 1);
            made.out_channels = static_cast<std::uint16_t>(made.out_channels * source.groups);
        }
        const std::uint16_t heads = upto(4);
        if (round % 4 == 3) made.out_channels = static_cast<std::uint16_t>(3 * upto(3) * heads);
        source.shape = {made.out_channels, made.out_rows, 4};
        OperatorShape needs = made;
        needs.kind = round % 4 == 3 ? OpKind::attention : round % 3 == 0 ? OpKind::merge : OpKind::convolution;
        needs.in_channels = needs.out_channels = source.taken_channels();
        needs.in_rows = made.out_rows;
        needs.in_columns = 4;
        if (needs.kind == OpKind::convolution) {
            needs.filter_rows = needs.filter_columns = 3;
            needs.pad = 1;
            needs.out_channels = upto(8);
        }
        if (needs.kind == OpKind::attention) {
            needs.heads = heads;
            needs.out_channels = static_cast<std::uint16_t>(made.out_channels / 3);
        }
        const std::uint16_t unit = upto(6);
        // Factors that leave no rank without work, as the search gives them.
        const auto tight = [](std::uint16_t size, std::uint16_t factors) {
            const unsigned block = (size + factors - 1u) / factors;
            return static_cast<std::uint16_t>((size + block - 1u) / block);
        };
        const Spread producer{made,
                              {unit, tight(unit, upto(unit)), tight(made.out_rows, upto(made.out_rows))},
                              tight(made.out_channels, upto(made.out_channels))};
        const Spread consumer{needs,
                              {unit, tight(unit, upto(unit)), tight(needs.out_rows, upto(needs.out_rows))},
                              tight(needs.out_channels, upto(needs.out_channels))};
        CHECK(packets_between(source, producer, consumer) == counted(source, producer, consumer));
    }
}

TEST_CASE("Alignment saves packets, and a segment stays what it was but for its factors") {
    const HardwareDescription chip = large_chip();
    const Model model = read_model("configs/workloads/skipnet_resnet34.yaml");
    const Workload workload(model.graph, chip, std::vector<double>(model.graph.operators.size(), 0.6));
    StageSearch search(workload, chip);
    Segmenter segmenter(search, find_design("m-tile"), chip.tiles(), 0);
    double before = 0, after = 0;
    std::size_t changed = 0;
    for (const SegmentPlan& planned : segmenter.best()) {
        SegmentPlan aligned = planned;
        segmenter.align(aligned);
        CHECK(aligned.first == planned.first);
        CHECK(aligned.last == planned.last);
        CHECK(aligned.unit_samples == planned.unit_samples);
        CHECK(aligned.cycles <= 1.06 * planned.cycles);
        unsigned tiles = 0;
        for (std::size_t i = 0; i < aligned.stages.size(); ++i) {
            const Stage& stage = aligned.stages[i];
            CHECK(stage.fits);
            CHECK(unsigned{stage.largest.n} * stage.largest.p * stage.k_factor <= aligned.tiles[i]);
            tiles += aligned.tiles[i];
        }
        CHECK(tiles <= chip.tiles());
        before += planned.cycles;
        after += aligned.cycles;
        changed += aligned.tiles != planned.tiles ? 1 : 0;
    }
    CHECK(changed > 0);
    CHECK(after <= 1.06 * before);
}

}  // namespace
}  // namespace switchyard::sched
