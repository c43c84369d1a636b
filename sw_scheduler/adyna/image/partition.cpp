// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/partition.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard {

namespace {

struct Range {
    std::uint32_t begin, end;
};

/// Share `index` of `size` cut into `factor` blocks of equal size (the last ones may be short or empty), up to `limit`.
Range block_of(std::uint32_t size, std::uint32_t factors, std::uint32_t index, std::uint32_t limit) {
    const std::uint64_t block = ceil_div(size, factors);
    const auto clip = [limit](std::uint64_t at) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(at, limit));
    };
    return {clip(block * index), clip(block * (index + 1))};
}

/// Input rows under the windows of output rows [p0, p1), without the zero padding.
Range window_rows(const OperatorShape& shape, std::uint32_t p0, std::uint32_t p1) {
    const auto clip = [&shape](std::int64_t row) {
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(row, 0, shape.in_rows));
    };
    const std::int64_t stride = shape.stride, pad = shape.pad;
    return {clip(p0 * stride - pad), clip((std::int64_t{p1} - 1) * stride - pad + shape.filter_rows)};
}

Range input_rows(const OperatorShape& shape, const Box& output) {
    switch (shape.kind) {
        case OpKind::convolution:
        case OpKind::depthwise:
        case OpKind::pool:
            return window_rows(shape, output.p0, output.p1);
        case OpKind::attention:
            return {0, shape.in_rows};  // every token attends to every token
        case OpKind::matmul:
        case OpKind::elementwise:
        case OpKind::norm:
        case OpKind::merge:
            break;
    }
    if (shape.in_rows == shape.out_rows) return {output.p0, output.p1};
    return {0, shape.in_rows};  // a matmul that flattens its input
}

Box normalised(const Box& box) {
    return box.empty() ? Box{} : box;
}

}  // namespace

bool keeps_groups(const OperatorShape& shape, const Partition& partition) {
    return ceil_div(std::uint32_t{partition.dyn_dim}, std::uint32_t{partition.n}) % shape.joined == 0;
}

int best_fit(const std::vector<Partition>& partitions, std::uint32_t dyn_dim) {
    return best_fit(partitions, dyn_dim, 0, partitions.size());
}

int best_fit(const std::vector<Partition>& partitions, std::uint32_t dyn_dim, std::size_t first, std::size_t last) {
    const auto begin = partitions.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = partitions.begin() + static_cast<std::ptrdiff_t>(last);
    const auto fit = std::lower_bound(begin, end, dyn_dim,
                                      [](const Partition& p, std::uint32_t wanted) { return p.dyn_dim < wanted; });
    return fit == end ? -1 : static_cast<int>(fit - partitions.begin());
}

Box output_box(const OperatorShape& shape, const Partition& part, unsigned k_factor, unsigned rank,
               std::uint32_t dyn_dim) {
    if (dyn_dim > part.dyn_dim)
        throw std::invalid_argument(
            fmt::format("output_box: expected at most the {} samples of the kernel, found {}", part.dyn_dim, dyn_dim));
    if (rank >= std::uint64_t{part.n} * part.p * k_factor) return {};
    const unsigned ik = rank % k_factor, ip = rank / k_factor % part.p, in = rank / k_factor / part.p;
    const Range n = block_of(part.dyn_dim, part.n, in, dyn_dim);
    const Range k = block_of(shape.out_channels, k_factor, ik, shape.out_channels);
    const Range p = block_of(shape.out_rows, part.p, ip, shape.out_rows);
    return normalised({n.begin, n.end, k.begin, k.end, p.begin, p.end});
}

Box input_box(const OperatorShape& shape, const Box& output, bool second_operand) {
    if (output.empty()) return {};
    if (second_operand) return output;
    Box input = output;
    if (shape.kind == OpKind::attention) {
        const std::uint32_t made = shape.out_channels / shape.heads, needed = shape.in_channels / shape.heads;
        input.k0 = output.k0 / made * needed;
        input.k1 = ((output.k1 - 1) / made + 1) * needed;
    } else if (!shape.channelwise() || shape.in_channels != shape.out_channels) {
        input.k0 = 0;
        input.k1 = shape.in_channels;
    }
    const Range rows = input_rows(shape, output);
    input.p0 = rows.begin;
    input.p1 = rows.end;
    return normalised(input);
}

bool needs_whole_input(const OperatorShape& shape, std::uint32_t channels, std::uint32_t rows, bool second_operand) {
    return !second_operand && (shape.in_channels != channels || shape.in_rows != rows);
}

Box intersect(const Box& a, const Box& b) {
    return normalised({std::max(a.n0, b.n0), std::min(a.n1, b.n1), std::max(a.k0, b.k0), std::min(a.k1, b.k1),
                       std::max(a.p0, b.p0), std::min(a.p1, b.p1)});
}

}  // namespace switchyard
