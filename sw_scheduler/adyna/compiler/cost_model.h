// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/sw_scheduler/adyna/image/array_timing.h"
#include "switchyard/sw_scheduler/adyna/image/kernel.h"
#include "switchyard/sw_scheduler/adyna/image/partition.h"

namespace switchyard::sched {

/// Products summed up for one output (multiply-accumulate kernels) or elements read for one (vector kernels), as the
/// template nest's c, r and s loops. `operands`: tensors that a merge adds up.
std::array<std::uint16_t, 3> reduction_loops(const OperatorShape& shape, unsigned operands);

/// Pool, element-wise, norm and merge run as vector operations; the others multiply and accumulate.
bool is_vector(OpKind kind);

/// The dimensions that are blocked: n, k, p, q, as indices of Blocking's arrays.
inline constexpr std::array<Dim, 4> kBlockedDims{Dim::n, Dim::k, Dim::p, Dim::q};
enum BlockedDim : unsigned { kN, kK, kP, kQ };

/// The cycles of what cannot be done.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// What one tile computes in one invocation: n x k x p x q outputs of `reduction` products each.
struct TileWork {
    std::array<std::uint16_t, 4> size{1, 1, 1, 1};  ///< n, k, p, q
    std::uint32_t reduction = 1;
    bool vector_op = false;
    bool channelwise = false;  ///< depthwise: each column reads its own input channel
    std::uint8_t operand_bytes = kElementBytes, element_bytes = kElementBytes;  ///< as in OperatorShape

    std::uint64_t outputs() const { return std::uint64_t{size[kN]} * size[kK] * size[kP] * size[kQ]; }
    std::uint64_t output_bytes() const { return outputs() * element_bytes; }
    bool operator==(const TileWork& o) const {
        return size == o.size && reduction == o.reduction && vector_op == o.vector_op && channelwise == o.channelwise &&
               operand_bytes == o.operand_bytes && element_bytes == o.element_bytes;
    }
};

/// Blocking factors of n, k, p, q: outputs that one PE holds, and PEs side by side (n, p, q over rows, k over columns).
struct Blocking {
    std::array<std::uint16_t, 4> reg{1, 1, 1, 1}, pe{1, 1, 1, 1};

    std::uint32_t extent(unsigned dim) const { return std::uint32_t{reg[dim]} * pe[dim]; }
    unsigned row_outputs() const { return unsigned{reg[kN]} * reg[kP] * reg[kQ]; }
    unsigned column_outputs() const { return reg[kK]; }
    unsigned rows() const { return unsigned{pe[kN]} * pe[kP] * pe[kQ]; }
    unsigned columns() const { return pe[kK]; }
};

/// Register bytes that a PE needs for row_outputs x column_outputs outputs: two sets of 4-byte accumulators (one
/// accumulates while the other drains), and one 2-byte operand for each row and column output.
unsigned register_bytes(unsigned row_outputs, unsigned column_outputs);

struct NestCost {
    std::uint64_t cycles = 0;
    std::uint64_t scratchpad_bytes = 0;
    bool operator<(const NestCost& o) const {
        return cycles != o.cycles ? cycles < o.cycles : scratchpad_bytes < o.scratchpad_bytes;
    }
};

/// Scratchpad-level loops over n, k, p, q in the order in which make_kernel() nests them, innermost first: samples
/// outermost, so that kernel fitting ends the walk at the first block beyond the real dyn_dim; within them the order of
/// k, p, q that changes the fewest operand bytes.
std::array<BlockedDim, 4> loop_order(const TileWork& work, const Blocking& blocking);

/// Operand bytes that differ from one block to the next over the whole walk of the loops, innermost first.
std::uint64_t changed_operand_bytes(const TileWork& work, const Blocking& blocking,
                                    const std::array<BlockedDim, 4>& order);

/// One invocation, scratchpad latency left out. Multiply-accumulate work takes what the analytic PE array makes of the
/// same nest (image/array_timing.h). Vector work is the sum over blocks of
/// max(ceil(outputs * reduction / PEs), reads, writes); reads and writes are bytes over the scratchpad's
/// widths. Blocks at the ends of n, k, p, q are clipped to the work.
NestCost nest_cost(const HardwareDescription& hardware, const TileWork& work, const Blocking& blocking);

/// The same bytes, and no more cycles than nest_cost(), at a fraction of the work: what the feed with the last block's
/// way out, the drain and either port of the scratchpad need by themselves.
NestCost min_cost(const HardwareDescription& hardware, const TileWork& work, const Blocking& blocking);

/// A kernel's blocking, read back from its nest.
Blocking blocking_of(const Kernel& kernel);

}  // namespace switchyard::sched
