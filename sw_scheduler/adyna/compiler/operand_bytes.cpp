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

InputBytes::InputBytes(const OperatorShape& shape, const Source& source) : bytes_(source.shape.element_bytes) {
    if (source.role == OperandRole::factor) {
        bytes_ *= source.taken_channels();
        return;
    }
    const bool pooled = source.reduce == EdgeReduce::global_pool;
    bytes_ *= pooled ? std::min<std::uint32_t>(kMaxPooledParts, source.shape.rows) : source.shape.columns;
    const std::uint32_t rows = pooled ? 1 : source.shape.rows;
    if (source.role == OperandRole::second_operand) {
        by_channels_ = true;
        row_step_ = pooled ? 0 : 1;
        return;
    }
    first_rows_ = rows;
    const bool whole = needs_whole_input(shape, source.taken_channels(), rows, false);
    if (shape.kind == OpKind::attention) {
        heads_ = &shape;
        return;
    }
    by_channels_ = !whole && shape.channelwise() && shape.in_channels == shape.out_channels;
    if (!by_channels_) bytes_ *= source.taken_channels();
    if (whole) return;
    const bool windows =
        shape.kind == OpKind::convolution || shape.kind == OpKind::depthwise || shape.kind == OpKind::pool;
    if (windows) {
        first_rows_ = shape.filter_rows;
        row_step_ = shape.stride;
        max_rows_ = rows;
    } else if (shape.in_rows == shape.out_rows) {
        first_rows_ = row_step_ = 1;
    }
}

std::uint64_t InputBytes::channels_of_heads(std::uint32_t channels) const {
    return std::uint64_t{heads_of(*heads_, channels)} * (heads_->in_channels / heads_->heads);
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
