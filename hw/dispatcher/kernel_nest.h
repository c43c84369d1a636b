// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/array_timing.h"
#include "switchyard/sw_scheduler/adyna/image/kernel.h"
#include "switchyard/sw_scheduler/adyna/image/partition.h"

namespace switchyard::hw {

/// What one block puts on the PE array: rows x columns PEs with row_outputs x column_outputs accumulators each.
struct BlockShape {
    std::uint32_t rows = 1, columns = 1;
    std::uint32_t row_outputs = 1, column_outputs = 1;
    std::uint64_t outputs = 1;  ///< results that are wanted; the last PE of a dimension may hold fewer than the others
};

/// Of n, k, p, q.
using OutputIndex = std::array<std::uint32_t, 4>;

/// A rule of the template that a kernel breaks, in the order in which they are checked.
enum class NestFault : unsigned { units, tiles, pes, reduction, rows, uncovered, too_long };
const char* text(NestFault fault);

/// The template loop nest of one kernel for one rank's box, clipped to the real dyn_dim.
///
/// Output-stationary: a block is one iteration of the scratchpad-level loops over n, k, p, q; its PEs take n, p, q
/// along the rows and k along the columns, PE i of a dimension holding the reg-level outputs [i * reg, (i + 1) * reg).
/// The whole reduction over c, r, s runs inside the block, at whichever temporal level the kernel puts it.
/// A kernel of several units has the same nest for each of them: `dyn_dim` is then the unit's, not the batch's.
class KernelNest {
public:
    /// Throws std::domain_error if the kernel does not cover its operator, spreads c, r or s over PEs or anything but
    /// n, k, p over tiles, or iterates over units of anything but n.
    KernelNest(const Kernel& kernel, unsigned rank, std::uint32_t dyn_dim);

    /// Blocks of the kernel with at least one output that is wanted, and the others.
    std::uint64_t issued() const;
    std::uint64_t skipped() const;
    std::uint32_t reduction() const { return reduction_; }
    /// Output box of the rank, q from 0 on.
    const Box& box() const { return box_; }
    /// The scratchpad-level loops, without the iterations that are skipped.
    BlockNest loops() const;
    /// Outputs of the block at `position`, by n, k, p, q.
    OutputIndex extent_at(const OutputIndex& position) const;

    struct Run {
        BlockShape shape;
        std::uint64_t repeats = 1;
        OutputIndex position{}, step{},
            count{};  ///< they stand at position + i * step, i < count, along each of n, k, p, q
    };
    /// Closed form: the distinct shapes, at most 2^4. The first run holds the block that any order begins with, the
    /// last one the block that any order ends with.
    std::vector<Run> runs() const;

    struct Visit {
        BlockShape shape;
        bool first = false, last = false;
        OutputIndex position{};  ///< in the box
    };
    /// The block that begins at `position`, if there is one that is not skipped.
    std::optional<Visit> block_at(const OutputIndex& position) const;
    /// The state machine: calls visit(const Visit&) for every block that is not skipped, in the kernel's order.
    /// Returns the number of blocks skipped.
    template <class F>
    std::uint64_t walk(F&& visit) const {
        Indices indices{};
        return descend(0, indices, visit);
    }

private:
    static constexpr unsigned kOutputDims = 4;
    struct Axis {
        Dim dim = Dim::n;
        BlockLoop loop;           ///< over the box
        std::uint64_t trips = 1;  ///< of the kernel's loop
        std::uint64_t used() const { return std::uint64_t{loop.full()} + (loop.rest() > 0); }
        std::uint64_t extent_of(std::uint64_t index) const { return index < loop.full() ? loop.block() : loop.rest(); }
    };
    using Indices = std::array<std::uint64_t, kOutputDims>;

    /// Of the blocks whose part of each axis has `extents`.
    BlockShape shape(const Indices& extents) const;

    template <class F>
    std::uint64_t descend(unsigned depth, Indices& indices, F& visit) const {
        if (depth == kOutputDims) {
            visit(visited(indices));
            return 0;
        }
        const Axis& axis = axes_[depth];
        std::uint64_t skipped_blocks = 0;
        std::uint64_t index = 0;
        for (; index < axis.trips && index * axis.loop.block() < axis.loop.extent; ++index) {
            indices[depth] = index;
            skipped_blocks += descend(depth + 1, indices, visit);
        }
        return skipped_blocks + (axis.trips - index) * blocks_below(depth);
    }
    Visit visited(const Indices& indices) const;
    std::uint64_t blocks_below(unsigned depth) const;

    Box box_;
    std::array<Axis, kOutputDims> axes_;  ///< outermost loop first
    std::uint32_t reduction_ = 1;
};

/// KernelNest in the form in which the dispatcher issues it, remembered by (rank, dyn_dim).
struct NestPlan {
    BlockNest loops;
    std::vector<KernelNest::Run> runs;
    std::uint64_t issued = 0, skipped = 0;
    std::uint32_t reduction = 1;
};
class NestCache {
public:
    /// Throws as KernelNest does.
    const NestPlan& plan(const Kernel& kernel, unsigned rank, std::uint32_t dyn_dim);

private:
    std::unordered_map<std::uint64_t, NestPlan> plans_;
};

}  // namespace switchyard::hw
