#include <limits>
#include <map>
#include <random>
#include <set>

#include "switchyard/sw_scheduler/backend/kernel_search.h"
#include "switchyard/sw_scheduler/formats/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/scheduler_backend/chips.h"

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

/// The walk that the dispatcher does, output by output: which PE of which block computes it, and what that costs.
NestCost walked_cost(const HardwareDescription& chip, const TileWork& work, const Blocking& blocking) {
    NestCost sum;
    Block block;
    std::array<std::uint32_t, 4> at{};
    std::uint64_t covered = 0;
    for (at[kN] = 0; at[kN] < work.size[kN]; at[kN] += blocking.extent(kN)) {
        for (at[kP] = 0; at[kP] < work.size[kP]; at[kP] += blocking.extent(kP)) {
            for (at[kQ] = 0; at[kQ] < work.size[kQ]; at[kQ] += blocking.extent(kQ)) {
                for (at[kK] = 0; at[kK] < work.size[kK]; at[kK] += blocking.extent(kK)) {
                    // Outputs of each PE: row PEs are numbered by their place in n, p, q.
                    std::map<std::array<std::uint32_t, 3>, std::uint64_t> rows;
                    std::map<std::uint32_t, std::uint64_t> columns;
                    const auto limit = [&](unsigned dim) {
                        return std::min<std::uint32_t>(work.size[dim], at[dim] + blocking.extent(dim));
                    };
                    for (std::uint32_t n = at[kN]; n < limit(kN); ++n) {
                        for (std::uint32_t p = at[kP]; p < limit(kP); ++p) {
                            for (std::uint32_t q = at[kQ]; q < limit(kQ); ++q) {
                                ++rows[{(n - at[kN]) / blocking.reg[kN], (p - at[kP]) / blocking.reg[kP],
                                        (q - at[kQ]) / blocking.reg[kQ]}];
                            }
                        }
                    }
                    for (std::uint32_t k = at[kK]; k < limit(kK); ++k) ++columns[(k - at[kK]) / blocking.reg[kK]];
                    std::uint64_t row_outputs = 0, column_outputs = 0, row_sum = 0, column_sum = 0;
                    for (const auto& [pe, outputs] : rows) {
                        row_outputs = std::max(row_outputs, outputs);
                        row_sum += outputs;
                    }
                    for (const auto& [pe, outputs] : columns) {
                        column_outputs = std::max(column_outputs, outputs);
                        column_sum += outputs;
                    }
                    covered += row_sum * column_sum;
                    block = {static_cast<unsigned>(rows.size()), static_cast<unsigned>(columns.size()),
                             static_cast<unsigned>(row_outputs), static_cast<unsigned>(column_outputs)};
                    const NestCost cost = block_cost(chip, work, block);
                    sum.cycles += cost.cycles;
                    sum.scratchpad_bytes += cost.scratchpad_bytes;
                }
            }
        }
    }
    CHECK(covered == work.outputs());
    if (!work.vector_op) {
        sum.cycles += blocking.rows() + blocking.columns() - 2;
        sum.cycles += std::uint64_t{block.rows} * block.row_outputs * block.column_outputs;
    }
    return sum;
}

TEST_CASE("A block costs what the array, the scratchpad or the drain take, whichever is longest") {
    HardwareDescription chip = mini_chip();
    TileWork work;
    work.reduction = 100;
    // 8 + 8 operands of two bytes a cycle are 32 bytes: the array is the bottleneck.
    CHECK(block_cost(chip, work, {8, 8, 1, 1}).cycles == 100);
    CHECK(block_cost(chip, work, {8, 8, 2, 3}).cycles == 600);
    CHECK(block_cost(chip, work, {8, 8, 1, 1}).scratchpad_bytes == 100 * 32 + 128);
    chip.scratchpad_bytes_per_cycle = 16;
    CHECK(block_cost(chip, work, {8, 8, 1, 1}).cycles == 200);
    work.reduction = 3;
    CHECK(block_cost(chip, work, {8, 1, 1, 1}).cycles == 8);  // drain
    chip.scratchpad_write_bytes_per_cycle = 4;
    CHECK(block_cost(chip, work, {8, 8, 1, 1}).cycles == 32);
    work.vector_op = true;
    work.reduction = 2;
    CHECK(block_cost(mini_chip(), work, {8, 8, 1, 1}).cycles == 2);  // 128 elements on 64 PEs
}

TEST_CASE("The closed form of a nest equals a walk over its outputs") {
    std::mt19937 random(2);
    const HardwareDescription chip = mini_chip();
    for (int round = 0; round < 300; ++round) {
        const TileWork work = random_work(random);
        Blocking blocking;
        for (unsigned dim = 0; dim < 4; ++dim) {
            blocking.reg[dim] = std::min(work.size[dim], up_to(random, 3));
            const auto most = (work.size[dim] + blocking.reg[dim] - 1) / blocking.reg[dim];
            blocking.pe[dim] = std::min<std::uint16_t>(static_cast<std::uint16_t>(most), up_to(random, 4));
        }
        const NestCost closed = nest_cost(chip, work, blocking), walked = walked_cost(chip, work, blocking);
        CHECK(closed.cycles == walked.cycles);
        CHECK(closed.scratchpad_bytes == walked.scratchpad_bytes);
    }
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
        const auto k_ways = up_to(random, 4);
        Partition partition{up_to(random, 64), up_to(random, 4), up_to(random, 4)};
        partition.n = std::min(partition.n, partition.dyn_dim);
        const Kernel kernel = make_kernel(search, shape, 1, partition, k_ways, 7);
        CHECK_NOTHROW(decode_kernel(encode(kernel).data()));
        for (unsigned dim = 0; dim < kDims; ++dim) {
            std::uint64_t product = 1;
            for (unsigned level = 0; level < kLevels; ++level) product *= kernel.loops[level][dim].block;
            CHECK(product >= kernel.total[dim]);
        }
        CHECK(kernel.dyn_dim() == partition.dyn_dim);
        CHECK(kernel.loop(Level::tile, Dim::k).block == k_ways);
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
std::uint64_t walked_changes(const TileWork& work, const Blocking& blocking, const std::array<unsigned, 4>& order) {
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
        for (const unsigned dim : order) {
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
        for (const std::array<unsigned, 4>& order :
             {std::array<unsigned, 4>{kK, kP, kQ, kN}, {kQ, kP, kK, kN}, {kP, kK, kQ, kN}, {kN, kK, kP, kQ}}) {
            CHECK(changed_operand_bytes(work, blocking, order) == walked_changes(work, blocking, order));
        }
    }
}

}  // namespace
}  // namespace switchyard::sched
