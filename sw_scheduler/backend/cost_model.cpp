#include "switchyard/sw_scheduler/backend/cost_model.h"

#include <algorithm>
#include <cmath>

#include "switchyard/sw_scheduler/model/graph.h"

namespace switchyard::sched {

namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

std::uint64_t transfer_cycles(std::uint64_t bytes, double bytes_per_cycle) {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_cycle));
}

/// Blocks of one size along one dimension.
struct Piece {
    std::uint64_t count = 0;
    unsigned pes = 1, outputs = 1;
};
/// The full blocks of a dimension, then the clipped one at its end, if there is one.
using Pieces = std::array<Piece, 2>;

Pieces pieces_of(std::uint32_t size, std::uint32_t reg, std::uint32_t pe) {
    const std::uint32_t extent = reg * pe, tail = size % extent;
    return {Piece{size / extent, pe, reg},
            Piece{tail > 0 ? 1u : 0u, static_cast<unsigned>(ceil_div(tail, reg)), std::min(tail, reg)}};
}

}  // namespace

std::array<std::uint16_t, 3> reduction_loops(const OperatorShape& shape, unsigned operands) {
    switch (shape.kind) {
        case OpKind::convolution:
            return {shape.in_channels, shape.filter_rows, shape.filter_columns};
        case OpKind::depthwise:
        case OpKind::pool:
            return {1, shape.filter_rows, shape.filter_columns};
        case OpKind::matmul:
            if (shape.in_rows == shape.out_rows) return {shape.in_channels, 1, 1};
            return {shape.in_channels, shape.in_rows, shape.in_columns};  // flattens its input
        case OpKind::attention:
            return {static_cast<std::uint16_t>(2 * shape.in_rows), 1, 1};  // scores, then context
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

NestCost block_cost(const HardwareDescription& hardware, const TileWork& work, const Block& block) {
    const std::uint64_t row_side = std::uint64_t{block.rows} * block.row_outputs;
    const std::uint64_t column_side = std::uint64_t{block.columns} * block.column_outputs;
    const std::uint64_t outputs = row_side * column_side;
    const std::uint64_t outputs_per_pe = std::uint64_t{block.row_outputs} * block.column_outputs;
    std::uint64_t read = 0, compute = 0;
    if (work.vector_op) {
        read = kElementBytes * work.reduction * outputs;
        compute = ceil_div(outputs * work.reduction, hardware.pes());
    } else {
        read = kElementBytes * work.reduction * ((work.channelwise ? outputs : row_side) + column_side);
        // A depthwise convolution feeds one column at a time: each has inputs of its own.
        const std::uint64_t waves = std::uint64_t{work.reduction} * (work.channelwise ? block.columns : 1);
        compute = std::max<std::uint64_t>(waves, block.rows) * outputs_per_pe;
    }
    const std::uint64_t written = kElementBytes * outputs;
    return {std::max({compute, transfer_cycles(read, hardware.scratchpad_bytes_per_cycle),
                      transfer_cycles(written, hardware.scratchpad_write_bytes_per_cycle)}),
            read + written};
}

NestCost nest_cost(const HardwareDescription& hardware, const TileWork& work, const Blocking& blocking) {
    std::array<Pieces, 4> pieces{};
    for (unsigned dim = 0; dim < 4; ++dim) pieces[dim] = pieces_of(work.size[dim], blocking.reg[dim], blocking.pe[dim]);
    NestCost sum;
    Block block;
    for (const Piece& n : pieces[kN]) {
        for (const Piece& p : pieces[kP]) {
            for (const Piece& q : pieces[kQ]) {
                for (const Piece& k : pieces[kK]) {
                    const std::uint64_t count = n.count * p.count * q.count * k.count;
                    if (count == 0) continue;
                    block = {n.pes * p.pes * q.pes, k.pes, n.outputs * p.outputs * q.outputs, k.outputs};
                    const NestCost cost = block_cost(hardware, work, block);
                    sum.cycles += count * cost.cycles;
                    sum.scratchpad_bytes += count * cost.scratchpad_bytes;
                }
            }
        }
    }
    if (!work.vector_op) {  // `block` is the last of the walk: the one clipped in every dimension that has a tail
        sum.cycles += std::uint64_t{blocking.rows()} + blocking.columns() - 2 +
                      std::uint64_t{block.rows} * block.row_outputs * block.column_outputs;
    }
    return sum;
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
