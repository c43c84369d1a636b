// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/array_timing.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard {
namespace {

ArrayBlock block(std::uint32_t rows, std::uint32_t columns, std::uint32_t reduction) {
    ArrayBlock block;
    block.rows = rows;
    block.columns = columns;
    block.reduction = reduction;
    return block;
}

std::uint32_t up_to(std::mt19937& random, unsigned max) {
    return 1 + static_cast<std::uint32_t>(random() % max);
}

ArrayBlock random_block(std::mt19937& random) {
    ArrayBlock one = block(up_to(random, 12), up_to(random, 12), up_to(random, 20));
    one.row_outputs = up_to(random, 2);
    one.column_outputs = up_to(random, 2);
    one.channelwise = random() % 4 == 0;
    return one;
}

ArrayPorts random_ports(std::mt19937& random) {
    if (random() % 2 == 0) return {};
    return {up_to(random, 100), up_to(random, 50)};
}

}  // namespace

TEST_CASE("Array timing of a few blocks by hand") {
    ArrayTimeline one;
    one.add(block(4, 5, 10));
    CHECK(one.fed() == 10);
    CHECK(one.written() == 10 + 3 + 4 + 4);  // down three rows, four beats, four columns to the right

    ArrayTimeline late({}, 7);
    late.add(block(4, 5, 10));
    CHECK(late.written() == 7 + one.written());

    // Feeds of 2 cycles, drains of 8: the first beats come at 9, 17, 25 and release their accumulators at 10, 18, 26,
    // so that the third block is fed from 10 and the fourth from 18.
    ArrayTimeline short_reductions;
    std::vector<std::uint64_t> fed;
    for (unsigned i = 0; i < 4; ++i) {
        short_reductions.add(block(8, 1, 2));
        fed.push_back(short_reductions.fed());
    }
    CHECK(fed == std::vector<std::uint64_t>{2, 4, 12, 20});
    CHECK(short_reductions.written() == 9 + 4 * 8);

    // Pairs of a long and a short drain. Neither the feeds (8 cycles a pair) nor the drains (10) decide, but the way of
    // one set of accumulators through both: 4 cycles of feed, 7 down to the last row, 1 until it is free again.
    ArrayTimeline in_turn;
    for (unsigned i = 0; i < 10; ++i) {
        in_turn.add(block(8, 1, 4));
        in_turn.add(block(2, 1, 4));
    }
    CHECK(in_turn.written() == 4 + 7 + 9 * 12 + 8 + 2);

    ArrayTimeline wide_then_narrow;  // whose last results leave first
    wide_then_narrow.add(block(1, 30, 5));
    wide_then_narrow.add(block(1, 1, 5));
    CHECK(wide_then_narrow.fed() == 10);
    CHECK(wide_then_narrow.written() == 5 + 30);

    ArrayTimeline reads({10, 64});  // 2 x (4 + 5) bytes a step, of which the last come while they are used
    reads.add(block(4, 5, 10));
    CHECK(reads.fed() == 18);
    ArrayTimeline writes({128, 2});  // five cycles a beat
    writes.add(block(4, 5, 10), 2);
    CHECK(writes.written() == 10 + 3 + 2 * 4 * 5);

    ArrayTimeline held;
    held.add(block(4, 5, 10));
    held.hold(100);
    held.add(block(4, 5, 10));
    CHECK(held.fed() == 110);
}

TEST_CASE("Array timing of repeated blocks is that of one block after another") {
    std::mt19937 random(1);
    for (unsigned trial = 0; trial < 300; ++trial) {
        const ArrayPorts ports = random_ports(random);
        ArrayTimeline together(ports, trial % 5), apart = together;
        for (unsigned run = 0; run < 3; ++run) {
            const ArrayBlock one = random_block(random);
            const std::uint64_t repeats = random() % 100;
            CAPTURE(trial, run, repeats);
            together.add(one, repeats);
            for (std::uint64_t n = 0; n < repeats; ++n) apart.add(one);
            CHECK(together.fed() == apart.fed());
            CHECK(together.written() == apart.written());
        }
    }
}

TEST_CASE("Array timing of a nest is that of its blocks in their order") {
    std::mt19937 random(2);
    unsigned clipped = 0;
    for (unsigned trial = 0; trial < 300; ++trial) {
        const ArrayPorts ports = random_ports(random);
        BlockNest nest;
        for (BlockLoop& loop : nest) {
            loop.extent = up_to(random, 30);
            loop.reg = static_cast<std::uint16_t>(up_to(random, 2));
            loop.pe = static_cast<std::uint16_t>(up_to(random, 6));
            clipped += loop.rest() > 0;
        }
        nest[random() % nest.size()].over_columns = true;
        ArrayBlock like = random_block(random);
        CAPTURE(trial, like.reduction, like.channelwise, ports.read_bytes_per_cycle, ports.write_bytes_per_cycle);
        ArrayTimeline closed(ports, 3), walked = closed;
        closed.add(nest, like);
        like.rows = like.columns = like.row_outputs = like.column_outputs = 1;
        const auto walk = [&](const auto& descend, std::size_t depth, const ArrayBlock& outside) -> void {
            if (depth == nest.size()) return walked.add(outside);
            const BlockLoop& loop = nest[depth];
            for (std::uint32_t at = 0; at < loop.extent; at += loop.block())
                descend(descend, depth + 1, loop.clipped(outside, std::min(loop.block(), loop.extent - at)));
        };
        walk(walk, 0, like);
        CHECK(closed.fed() == walked.fed());
        CHECK(closed.written() == walked.written());
    }
    CHECK(clipped > 300);

    ArrayTimeline empty;
    BlockNest nothing;
    nothing.fill({4, 1, 4, false});
    nothing[2].extent = 0;
    empty.add(nothing, block(1, 1, 5));
    CHECK(empty.written() == 0);
}

}  // namespace switchyard
