// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>
#include <random>
#include <set>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

std::uint16_t up_to(std::mt19937& random, unsigned limit) {
    return static_cast<std::uint16_t>(1 + random() % limit);
}

TileWork random_work(std::mt19937& random) {
    TileWork work;
    work.size = {up_to(random, 6), up_to(random, 20), up_to(random, 7), up_to(random, 9)};
    work.reduction = up_to(random, 40);
    work.vector_op = random() % 5 == 0;
    work.channelwise = !work.vector_op && random() % 5 == 0;
    return work;
}

/// PEs that the outputs of one block lie in, along the rows or the columns of the array, and what the fullest holds.
struct PeIndices {
    std::map<std::array<std::uint32_t, 3>, std::uint64_t> outputs;

    std::uint32_t pes() const { return static_cast<std::uint32_t>(outputs.size()); }
    std::uint32_t deepest() const {
        std::uint64_t max = 0;
        for (const auto& [pe, count] : outputs) max = std::max(max, count);
        return static_cast<std::uint32_t>(max);
    }
    std::uint64_t sum() const {
        std::uint64_t all = 0;
        for (const auto& [pe, count] : outputs) all += count;
        return all;
    }
};

/// The walk that the dispatcher does, output by output: which PE of which block computes it, and what that costs.
NestCost walked_cost(const HardwareDescription& chip, const TileWork& work, const Blocking& blocking) {
    NestCost sum;
    ArrayTimeline timeline(chip.ports());
    const std::array<BlockedDim, 4> order = loop_order(work, blocking);
    std::array<std::uint32_t, 4> at{};
    std::uint64_t covered = 0;
    const auto visit = [&] {
        const auto limit = [&](unsigned dim) {
            return std::min<std::uint32_t>(work.size[dim], at[dim] + blocking.extent(dim));
        };
        PeIndices rows, columns;  // row PEs are numbered by their place in n, p, q
        for (std::uint32_t n = at[kN]; n < limit(kN); ++n) {
            for (std::uint32_t p = at[kP]; p < limit(kP); ++p) {
                for (std::uint32_t q = at[kQ]; q < limit(kQ); ++q) {
                    ++rows.outputs[{(n - at[kN]) / blocking.reg[kN], (p - at[kP]) / blocking.reg[kP],
                                    (q - at[kQ]) / blocking.reg[kQ]}];
                }
            }
        }
        for (std::uint32_t k = at[kK]; k < limit(kK); ++k) ++columns.outputs[{(k - at[kK]) / blocking.reg[kK], 0, 0}];
        covered += rows.sum() * columns.sum();
        ArrayBlock block;
        block.rows = rows.pes();
        block.columns = columns.pes();
        block.row_outputs = rows.deepest();
        block.column_outputs = columns.deepest();
        block.reduction = work.reduction;
        block.channelwise = work.channelwise;
        const std::uint64_t outputs = block.beats() * block.columns;
        const std::uint64_t read = work.reduction * (work.vector_op ? 2 * outputs : block.step_bytes());
        const std::uint64_t written = 2 * outputs;
        sum.scratchpad_bytes += read + written;
        const auto ceil = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
        if (work.vector_op)
            sum.cycles +=
                std::max({ceil(outputs * work.reduction, chip.pes()), ceil(read, chip.scratchpad_bytes_per_cycle),
                          ceil(written, chip.scratchpad_write_bytes_per_cycle)});
        else
            timeline.add(block);
    };
    const auto loop = [&](BlockedDim dim, const auto& body) {
        for (at[dim] = 0; at[dim] < work.size[dim]; at[dim] += blocking.extent(dim)) body();
    };
    loop(order[3], [&] { loop(order[2], [&] { loop(order[1], [&] { loop(order[0], visit); }); }); });
    CHECK(covered == work.outputs());
    if (!work.vector_op) sum.cycles = timeline.written();
    return sum;
}

/// One block of `pes` PEs along k and n each, with `reg` outputs of n in each of them.
NestCost one_block(const HardwareDescription& chip, TileWork work, std::uint16_t n, std::uint16_t k,
                   std::uint16_t reg) {
    work.size = {static_cast<std::uint16_t>(n * reg), k, 1, 1};
    Blocking blocking;
    blocking.reg = {reg, 1, 1, 1};
    blocking.pe = {n, k, 1, 1};
    return nest_cost(chip, work, blocking);
}

TEST_CASE("A block costs its waves, its reads or its way out") {
    HardwareDescription chip = mini_chip();
    TileWork work;
    work.reduction = 100;
    // Down 7 rows, out in 8 beats for each output of a PE, 7 columns to the right. 8 + 8 operands of two bytes a cycle
    // are 32 bytes: the array is the bottleneck.
    CHECK(one_block(chip, work, 8, 8, 1).cycles == 100 + 7 + 8 + 7);
    CHECK(one_block(chip, work, 8, 8, 3).cycles == 300 + 7 + 24 + 7);
    CHECK(one_block(chip, work, 8, 8, 1).scratchpad_bytes == 100 * 32 + 128);
    chip.scratchpad_bytes_per_cycle = 16;
    CHECK(one_block(chip, work, 8, 8, 1).cycles == 200 + 7 + 8 + 7);
    chip.scratchpad_write_bytes_per_cycle = 4;  // a beat takes 4 cycles; the last one is still on its way for 8
    CHECK(one_block(chip, work, 8, 8, 1).cycles == 200 + 7 + 7 * 4 + 8);
    work.vector_op = true;
    work.reduction = 2;
    CHECK(one_block(mini_chip(), work, 8, 8, 1).cycles == 2);  // 128 elements on 64 PEs
}

TEST_CASE("A scratchpad without width, or wider than the cost model's times allow, is refused") {
    HardwareDescription chip = mini_chip();
    chip.scratchpad_bytes_per_cycle = chip.scratchpad_write_bytes_per_cycle = 4096;
    CHECK_NOTHROW(chip.check());
    for (const unsigned width : {0u, 4097u}) {
        chip.scratchpad_write_bytes_per_cycle = width;
        CHECK_THROWS_AS(chip.check(), InputError);
    }
}

TEST_CASE("The closed form of a nest equals a walk over its outputs") {
    std::mt19937 random(2);
    HardwareDescription chip = mini_chip();
    unsigned equal = 0;
    for (int round = 0; round < 300; ++round) {
        chip.scratchpad_bytes_per_cycle = round % 4 == 0 ? 12 : 128;
        chip.scratchpad_write_bytes_per_cycle = round % 8 == 0 ? 5 : 64;
        const TileWork work = random_work(random);
        Blocking blocking;
        for (unsigned dim = 0; dim < 4; ++dim) {
            blocking.reg[dim] = std::min(work.size[dim], up_to(random, 3));
            const auto max = (work.size[dim] + blocking.reg[dim] - 1) / blocking.reg[dim];
            blocking.pe[dim] = std::min<std::uint16_t>(static_cast<std::uint16_t>(max), up_to(random, 4));
        }
        const NestCost closed = nest_cost(chip, work, blocking), walked = walked_cost(chip, work, blocking);
        CHECK(closed.cycles == walked.cycles);
        CHECK(closed.scratchpad_bytes == walked.scratchpad_bytes);
        const NestCost min = min_cost(chip, work, blocking);
        CHECK(min.cycles <= closed.cycles);
        CHECK(min.scratchpad_bytes == closed.scratchpad_bytes);
        equal += min.cycles == closed.cycles;
    }
    CHECK(equal > 120);  // so that it rules out most blockings
}

NestCost exhaustive_best(const HardwareDescription& chip, const TileWork& work) {
    NestCost best{std::numeric_limits<std::uint64_t>::max(), 0};
    Blocking b;
    const auto loop = [](std::uint16_t& factor, std::uint32_t last, auto&& body) {
        for (std::uint32_t value = 1; value <= last; ++value) {
            factor = static_cast<std::uint16_t>(value);
            body();
        }
    };
    const auto pes = [&](unsigned dim, std::uint32_t room) {
        return std::min<std::uint32_t>(room, (work.size[dim] + b.reg[dim] - 1u) / b.reg[dim]);
    };
    loop(b.reg[kN], work.size[kN], [&] {
        loop(b.reg[kP], work.size[kP], [&] {
            loop(b.reg[kQ], work.size[kQ], [&] {
                loop(b.reg[kK], work.size[kK], [&] {
                    if (register_bytes(b.row_outputs(), b.column_outputs()) > chip.pe_register_bytes) return;
                    loop(b.pe[kK], pes(kK, chip.pe_columns), [&] {
                        loop(b.pe[kN], pes(kN, chip.pe_rows), [&] {
                            loop(b.pe[kP], pes(kP, chip.pe_rows / b.pe[kN]), [&] {
                                loop(b.pe[kQ], pes(kQ, chip.pe_rows / (b.pe[kN] * b.pe[kP])),
                                     [&] { best = std::min(best, nest_cost(chip, work, b)); });
                            });
                        });
                    });
                });
            });
        });
    });
    return best;
}

TEST_CASE("The kernel found is as good as the best of all blockings") {
    std::mt19937 random(3);
    HardwareDescription chip = mini_chip();
    for (int round = 0; round < 25; ++round) {
        TileWork work = random_work(random);
        work.vector_op = false;
        chip.scratchpad_bytes_per_cycle = round % 2 == 0 ? 128 : 16;  // the second makes register blocking pay
        KernelSearch search(chip);
        const KernelSearch::Result& found = search.best(work);
        const NestCost best = exhaustive_best(chip, work);
        CHECK(found.cost.cycles == best.cycles);
        CHECK(found.cost.scratchpad_bytes == best.scratchpad_bytes);
        CHECK(found.blocking.rows() <= chip.pe_rows);
        CHECK(found.blocking.columns() <= chip.pe_columns);
    }
}

TEST_CASE("Vector kernels are within a tenth, or two cycles, of the best of all blockings") {
    std::mt19937 random(4);
    const HardwareDescription chip = mini_chip();
    KernelSearch search(chip);
    for (int round = 0; round < 25; ++round) {
        TileWork work = random_work(random);
        work.vector_op = true;
        work.channelwise = false;
        work.reduction = 1 + static_cast<std::uint32_t>(random() % 9);
        const auto best = static_cast<double>(exhaustive_best(chip, work).cycles);
        CHECK(static_cast<double>(search.best(work).cost.cycles) <= std::max(1.1 * best, best + 2));
    }
}

OperatorShape convolution(std::uint16_t channels, std::uint16_t size, std::uint16_t stride) {
    OperatorShape shape;
    shape.kind = OpKind::convolution;
    shape.out_channels = channels;
    shape.in_channels = 5;
    shape.in_rows = shape.in_columns = size;
    shape.filter_rows = shape.filter_columns = 3;
    shape.stride = stride;
    shape.pad = 1;
    shape.out_rows = shape.out_columns = static_cast<std::uint16_t>((size + 2 - 3) / stride + 1);
    return shape;
}

TEST_CASE("A kernel's blocks cover the operator, and its loops obey the format") {
    std::mt19937 random(5);
    KernelSearch search(mini_chip());
    for (int round = 0; round < 100; ++round) {
        const OperatorShape shape =
            convolution(up_to(random, 40), static_cast<std::uint16_t>(2 + up_to(random, 20)), up_to(random, 2));
        const auto k_factor = up_to(random, 4);
        Partition partition{up_to(random, 64), up_to(random, 4), up_to(random, 4)};
        partition.n = std::min(partition.n, partition.dyn_dim);
        const Kernel kernel = make_kernel(search, shape, 1, partition, k_factor, 7);
        CHECK_NOTHROW(decode_kernel(encode(kernel).data()));
        for (unsigned dim = 0; dim < kDims; ++dim) {
            std::uint64_t product = 1;
            for (unsigned level = 0; level < kLevels; ++level) product *= kernel.loops[level][dim].block;
            CHECK(product >= kernel.total[dim]);
        }
        CHECK(kernel.dyn_dim() == partition.dyn_dim);
        CHECK(kernel.loop(Level::tile, Dim::k).block == k_factor);
        CHECK(kernel.loop(Level::reg, Dim::p).stride == shape.stride);
        for (unsigned level = 0; level < kLevels; ++level) {
            std::set<unsigned> orders;
            for (unsigned dim = 0; dim < kDims; ++dim) orders.insert(kernel.loops[level][dim].order);
            CHECK(orders.size() == kDims);
        }
    }
    OperatorShape wide = convolution(4, 40, 1);
    wide.stride = 16;
    CHECK_THROWS_AS(make_kernel(search, wide, 1, {1, 1, 1}, 1, 0), InputError);
}

/// Operand bytes that change from block to block, counted on the walk itself.
std::uint64_t walked_changes(const TileWork& work, const Blocking& blocking, const std::array<BlockedDim, 4>& order) {
    std::array<std::uint32_t, 4> trips{}, index{};
    std::uint64_t blocks = 1;
    for (unsigned dim = 0; dim < 4; ++dim) {
        trips[dim] = (work.size[dim] + blocking.extent(dim) - 1) / blocking.extent(dim);
        blocks *= trips[dim];
    }
    const std::uint64_t rows = std::uint64_t{blocking.rows()} * blocking.row_outputs();
    const std::uint64_t columns = std::uint64_t{blocking.columns()} * blocking.column_outputs();
    std::uint64_t bytes = 0;
    std::array<std::uint32_t, 4> before{};
    for (std::uint64_t b = 0; b < blocks; ++b) {
        std::uint64_t rest = b;
        for (const BlockedDim dim : order) {
            index[dim] = static_cast<std::uint32_t>(rest % trips[dim]);
            rest /= trips[dim];
        }
        const bool new_rows = b == 0 || index[kN] != before[kN] || index[kP] != before[kP] || index[kQ] != before[kQ];
        const bool new_columns = b == 0 || index[kK] != before[kK];
        bytes += 2 * work.reduction * ((new_rows ? rows : 0) + (new_columns ? columns : 0));
        before = index;
    }
    return bytes;
}

TEST_CASE("The loop order changes the fewest operand bytes") {
    std::mt19937 random(6);
    KernelSearch search(mini_chip());
    for (int round = 0; round < 50; ++round) {
        TileWork work = random_work(random);
        work.vector_op = work.channelwise = false;
        const Blocking& blocking = search.best(work).blocking;
        std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
        for (const std::array<BlockedDim, 4>& order : {std::array<BlockedDim, 4>{kK, kP, kQ, kN},
                                                       {kK, kQ, kP, kN},
                                                       {kP, kK, kQ, kN},
                                                       {kP, kQ, kK, kN},
                                                       {kQ, kK, kP, kN},
                                                       {kQ, kP, kK, kN}}) {
            CHECK(changed_operand_bytes(work, blocking, order) == walked_changes(work, blocking, order));
            fewest = std::min(fewest, walked_changes(work, blocking, order));
        }
        CHECK(walked_changes(work, blocking, loop_order(work, blocking)) == fewest);
        CHECK(changed_operand_bytes(work, blocking, {kN, kK, kP, kQ}) ==
              walked_changes(work, blocking, {kN, kK, kP, kQ}));
    }
}

}  // namespace
}  // namespace switchyard::sched
