// SPDX-License-Identifier: Apache-2.0
// Bytes of operands: in a tile's input slots, and of what an operator's tiles read.

#include <algorithm>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// Heads of an attention into which a slice of `channels` of its output can reach.
std::uint32_t heads_of(const OperatorShape& shape, std::uint32_t channels) {
    const std::uint32_t head = shape.out_channels / shape.heads;
    if (head % channels == 0) return 1;
    const std::uint32_t max = channels % head == 0 ? channels / head : (channels + head - 2) / head + 1;
    return std::min<std::uint32_t>(shape.heads, max);
}

}  // namespace

std::uint32_t aligned(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(round_up(bytes, kAlignment));
}

std::uint64_t input_bytes(const OperatorShape& shape, const Source& source, const TileWork& block) {
    const bool pooled = source.reduce == EdgeReduce::global_pool;
    const std::uint32_t parts = pooled ? std::min<std::uint32_t>(kMaxPooledParts, source.shape.rows) : 1;
    const std::uint32_t rows = pooled ? 1 : source.shape.rows, columns = pooled ? 1 : source.shape.columns;
    if (source.role == OperandRole::factor)
        return source.shape.element_bytes * std::uint64_t{block.size[kN]} * source.taken_channels();
    if (source.role == OperandRole::second_operand) {
        return source.shape.element_bytes * std::uint64_t{block.size[kN]} * block.size[kK] *
               (pooled ? 1 : block.size[kP]) * columns * parts;
    }
    std::uint32_t needed_rows = rows, channels = source.taken_channels();
    const bool whole = needs_whole_input(shape, source.taken_channels(), rows, false);
    if (shape.kind == OpKind::attention) {
        channels = heads_of(shape, block.size[kK]) * (shape.in_channels / shape.heads);
    } else if (!whole) {
        if (shape.channelwise() && shape.in_channels == shape.out_channels) channels = block.size[kK];
        const bool windows =
            shape.kind == OpKind::convolution || shape.kind == OpKind::depthwise || shape.kind == OpKind::pool;
        if (windows) {
            needed_rows =
                std::min<std::uint32_t>(rows, (std::uint32_t{block.size[kP]} - 1) * shape.stride + shape.filter_rows);
        } else if (shape.in_rows == shape.out_rows) {
            needed_rows = block.size[kP];
        }
    }
    return source.shape.element_bytes * std::uint64_t{block.size[kN]} * channels * needed_rows * columns * parts;
}

double unit_read_bytes(const OperatorShape& shape, const Source& source, const Partition& partition, unsigned k_factor,
                       bool multicast) {
    const TileWork work = tile_work(shape, 1, partition, k_factor);
    double readers = double{1} * partition.dyn_dim / work.size[kN] * shape.out_rows / work.size[kP];
    const double slices = double{1} * shape.out_channels / work.size[kK];
    const bool own_channels =
        source.role == OperandRole::second_operand ||
        (source.role == OperandRole::input && shape.channelwise() && shape.in_channels == shape.out_channels);
    if (own_channels || !multicast) {
        readers *= slices;
    } else if (shape.kind == OpKind::attention) {
        readers *= std::min<double>(slices, shape.heads);
    }
    return readers * static_cast<double>(input_bytes(shape, source, work));
}

}  // namespace switchyard::sched
