// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/tensor_layout.h"

#include <algorithm>
#include <limits>
#include <set>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// Share of the interfaces' time that is used if each piece takes the same: below it some wait for others.
constexpr double kEven = 0.9;

/// Blocks of `size` that the half-open range reaches into.
std::uint64_t blocks_in(std::uint32_t first, std::uint32_t last, std::uint32_t size) {
    return last > first ? (last - 1) / size - first / size + 1 : 0;
}

}  // namespace

std::uint64_t requests_of(const TensorAccess& access, std::uint32_t rows, std::uint32_t block,
                          std::uint32_t piece_rows) {
    std::uint64_t requests = 0;
    for (unsigned rank = 0; rank < unsigned{access.partition.n} * access.partition.p; ++rank) {
        const Box out = output_box(access.shape, access.partition, 1, rank, access.partition.dyn_dim);
        if (out.empty()) continue;
        std::uint32_t first = 0, last = rows;
        if (access.writes) {  // a pool fused into the producer leaves fewer rows than it computes
            first = static_cast<std::uint32_t>(std::uint64_t{out.p0} * rows / access.shape.out_rows);
            last = static_cast<std::uint32_t>(std::uint64_t{out.p1} * rows / access.shape.out_rows);
        } else if (!access.all_rows) {
            const Box in = input_box(access.shape, out, access.second_operand);
            first = in.p0;
            last = in.p1;
        }
        requests += blocks_in(out.n0, out.n1, block) * blocks_in(first, last, piece_rows);
    }
    return requests * access.requests * access.units;
}

Partition cut_tensor(std::uint32_t samples, std::uint32_t rows, std::uint32_t interfaces,
                     const std::vector<TensorAccess>& accesses) {
    std::set<std::uint32_t> units;
    for (const TensorAccess& access : accesses) units.insert(access.partition.dyn_dim);
    if (units.empty()) units.insert(samples);
    std::uint32_t best_block = 1, best_rows = 1;
    double max_even = -1;
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t block = 1; block <= samples; ++block) {
        if (samples % block != 0) continue;
        std::uint32_t previous = 0;
        for (std::uint32_t factors = 1; factors <= std::min(rows, interfaces); ++factors) {
            const std::uint32_t piece_rows = ceil_div(rows, factors);
            if (piece_rows == previous) continue;
            previous = piece_rows;
            double even = kEven;
            for (const std::uint32_t unit : units) {
                const std::uint32_t pieces = 2 * ceil_div(unit, block) * ceil_div(rows, piece_rows);
                even = std::min(even, double{1} * pieces / interfaces / ceil_div(pieces, interfaces));
            }
            if (even < max_even) continue;
            std::uint64_t requests = 0;
            for (const TensorAccess& access : accesses) requests += requests_of(access, rows, block, piece_rows);
            if (even == max_even && requests >= fewest) continue;
            max_even = even;
            fewest = requests;
            best_block = block;
            best_rows = piece_rows;
        }
    }
    return {narrow(samples), narrow(samples / best_block), narrow(ceil_div(rows, best_rows))};
}

}  // namespace switchyard::sched
