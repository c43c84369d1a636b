// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

namespace {

/// By dimension, as BlockedDim.
using Loops = std::array<BlockLoop, 4>;

Loops loops_of(const TileWork& work, const Blocking& blocking) {
    Loops loops;
    for (unsigned dim = 0; dim < loops.size(); ++dim)
        loops[dim] = {work.size[dim], blocking.reg[dim], blocking.pe[dim], dim == kK};
    return loops;
}

ArrayBlock without_size(const TileWork& work) {
    ArrayBlock block;
    block.reduction = work.reduction;
    block.channelwise = work.channelwise;
    block.result_bytes = work.element_bytes;
    return block;
}

/// Of all blocks of a nest together.
struct Sums {
    std::uint64_t waves = 0, beats = 0;
    std::uint64_t read_bytes = 0, written_bytes = 0;
};

/// Every part of n meets every part of k, p and q in a block, so a sum over blocks is a product of sums over parts.
Sums sums_of(const TileWork& work, const Loops& loops) {
    struct Side {
        std::uint64_t blocks = 1;
        std::uint64_t serial = 1;    // outputs of the fullest PE, summed over the blocks
        std::uint64_t operands = 1;  // outputs of all PEs in use as if they were all as full, summed over the blocks
    } rows, columns;
    for (const BlockLoop& loop : loops) {
        Side& side = loop.over_columns ? columns : rows;
        const std::uint32_t full = loop.full(), rest = loop.rest();
        const std::uint32_t deepest = std::min<std::uint32_t>(loop.reg, rest);
        side.blocks *= full + (rest > 0 ? 1 : 0);
        side.serial *= std::uint64_t{full} * loop.reg + deepest;
        side.operands *= std::uint64_t{full} * loop.block() + ceil_div(rest, loop.reg) * deepest;
    }
    const std::uint64_t outputs = rows.operands * columns.operands;
    Sums sums;
    sums.waves = work.reduction * rows.serial * (work.channelwise ? columns.operands : columns.serial);
    sums.beats = rows.operands * columns.serial;
    const std::uint64_t inputs = work.channelwise || work.vector_op ? outputs : rows.operands * columns.blocks;
    const std::uint64_t weights = work.vector_op ? 0 : rows.blocks * columns.operands;
    sums.read_bytes = work.operand_bytes * work.reduction * (inputs + weights);
    sums.written_bytes = work.element_bytes * outputs;
    return sums;
}

std::uint64_t vector_cycles(const HardwareDescription& hardware, const TileWork& work, const Loops& loops) {
    std::uint64_t cycles = 0;
    for (unsigned clipped = 0; clipped < 1u << loops.size(); ++clipped) {  // bit: the last block of that dimension
        std::uint64_t blocks = 1;
        ArrayBlock block;
        for (unsigned dim = 0; dim < loops.size() && blocks > 0; ++dim) {
            const BlockLoop& loop = loops[dim];
            const bool last = (clipped >> dim & 1) != 0;
            blocks *= last ? (loop.rest() > 0 ? 1 : 0) : loop.full();
            block = loop.clipped(block, last ? loop.rest() : loop.block());
        }
        const std::uint64_t outputs = block.beats() * block.columns;
        cycles +=
            blocks *
            std::max({ceil_div(outputs * work.reduction, hardware.pes()),
                      ceil_div(work.operand_bytes * outputs * work.reduction, hardware.scratchpad_bytes_per_cycle),
                      ceil_div(work.element_bytes * outputs, hardware.scratchpad_write_bytes_per_cycle)});
    }
    return cycles;
}

}  // namespace

std::array<std::uint16_t, 3> reduction_loops(const OperatorShape& shape, unsigned operands) {
    switch (shape.kind) {
        case OpKind::convolution:
            return {shape.in_channels, shape.filter_rows, shape.filter_columns};
        case OpKind::depthwise:
        case OpKind::pool:
            return {shape.joined, shape.filter_rows, shape.filter_columns};
        case OpKind::matmul:
            if (shape.in_rows == shape.out_rows) return {shape.in_channels, 1, 1};
            return {shape.in_channels, shape.in_rows, shape.in_columns};  // flattens its input
        case OpKind::attention:
            return {static_cast<std::uint16_t>(2 * shape.in_rows * shape.joined), 1, 1};  // scores, then context
        case OpKind::elementwise:
        case OpKind::norm:
        case OpKind::merge:
            break;
    }
    return {static_cast<std::uint16_t>(std::max(1u, operands)), 1, 1};
}

bool is_vector(OpKind kind) {
    return kind == OpKind::elementwise || kind == OpKind::pool || kind == OpKind::norm || kind == OpKind::merge;
}

unsigned register_bytes(unsigned row_outputs, unsigned column_outputs) {
    constexpr unsigned kAccumulatorBytes = 4;
    return 2 * kAccumulatorBytes * row_outputs * column_outputs + kElementBytes * (row_outputs + column_outputs);
}

std::uint64_t changed_operand_bytes(const TileWork& work, const Blocking& blocking,
                                    const std::array<BlockedDim, 4>& order) {
    std::array<std::uint64_t, 4> trips{};
    for (unsigned dim = 0; dim < 4; ++dim) trips[dim] = ceil_div(work.size[dim], blocking.extent(dim));
    const std::uint64_t rows = std::uint64_t{blocking.rows()} * blocking.row_outputs();
    const std::uint64_t columns = std::uint64_t{blocking.columns()} * blocking.column_outputs();
    const std::uint64_t input = kElementBytes * work.reduction * (work.channelwise ? rows * columns : rows);
    const std::uint64_t weights = kElementBytes * work.reduction * columns;
    // A step of a loop resets those inside it, so it changes what they address too.
    std::uint64_t bytes = input + weights, outside = trips[0] * trips[1] * trips[2] * trips[3];
    bool k_inside = false, rows_inside = false;
    for (const BlockedDim dim : order) {
        const std::uint64_t inner = outside / trips[dim];
        const std::uint64_t steps = outside - inner;  // times that this loop advances
        outside = inner;
        if (trips[dim] > 1) (dim == kK ? k_inside : rows_inside) = true;
        const bool input_changes = rows_inside || (work.channelwise && k_inside);
        bytes += steps * ((input_changes ? input : 0) + (k_inside ? weights : 0));
    }
    return bytes;
}

std::array<BlockedDim, 4> loop_order(const TileWork& work, const Blocking& blocking) {
    std::array<BlockedDim, 4> order{kK, kP, kQ, kN}, best = order;
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    do {
        const std::uint64_t bytes = changed_operand_bytes(work, blocking, order);
        if (bytes < fewest) {
            fewest = bytes;
            best = order;
        }
    } while (std::next_permutation(order.begin(), order.begin() + 3));
    return best;
}

NestCost nest_cost(const HardwareDescription& hardware, const TileWork& work, const Blocking& blocking) {
    const Loops loops = loops_of(work, blocking);
    const Sums sums = sums_of(work, loops);
    const std::uint64_t bytes = sums.read_bytes + sums.written_bytes;
    if (work.vector_op) return {vector_cycles(hardware, work, loops), bytes};
    const std::array<BlockedDim, 4> order = loop_order(work, blocking);
    BlockNest nest;
    for (std::size_t i = 0; i < nest.size(); ++i) nest[i] = loops[order[nest.size() - 1 - i]];
    ArrayTimeline timeline(hardware.ports());
    timeline.add(nest, without_size(work));
    return {timeline.written(), bytes};
}

NestCost min_cost(const HardwareDescription& hardware, const TileWork& work, const Blocking& blocking) {
    const Loops loops = loops_of(work, blocking);
    const Sums sums = sums_of(work, loops);
    const std::uint64_t bytes = sums.read_bytes + sums.written_bytes;
    if (work.vector_op) return {vector_cycles(hardware, work, loops), bytes};
    ArrayBlock last = without_size(work);
    for (const BlockLoop& loop : loops) last = loop.clipped(last, loop.rest() > 0 ? loop.rest() : loop.block());
    // The last block's way out, behind its last wave.
    const std::uint64_t out = last.rows - 1 + last.beats() + last.columns - 1;
    const std::uint64_t fed = std::max(sums.waves, ceil_div(sums.read_bytes, hardware.scratchpad_bytes_per_cycle));
    const std::uint64_t written = ceil_div(sums.written_bytes, hardware.scratchpad_write_bytes_per_cycle);
    return {std::max({fed + out, sums.beats, written}), bytes};
}

Blocking blocking_of(const Kernel& kernel) {
    Blocking blocking;
    for (unsigned i = 0; i < kBlockedDims.size(); ++i) {
        blocking.reg[i] = kernel.loop(Level::reg, kBlockedDims[i]).block;
        blocking.pe[i] = kernel.loop(Level::pe, kBlockedDims[i]).block;
    }
    return blocking;
}

}  // namespace switchyard::sched
