#pragma once

#include <array>
#include <cstdint>

#include "switchyard/sw_scheduler/backend/hardware.h"
#include "switchyard/sw_scheduler/formats/kernel.h"
#include "switchyard/sw_scheduler/formats/partition.h"

namespace switchyard::sched {

/// Products summed up for one output (multiply-accumulate kernels) or elements read for one (vector kernels), as the
/// template nest's c, r and s loops. `operands`: tensors that a merge adds up.
std::array<std::uint16_t, 3> reduction_loops(const OperatorShape& shape, unsigned operands);

/// Pool, element-wise, norm and merge run as vector operations; the others multiply and accumulate.
bool is_vector(OpKind kind);

/// The dimensions that are blocked: n, k, p, q, as indices of Blocking's arrays.
inline constexpr std::array<Dim, 4> kBlockedDims{Dim::n, Dim::k, Dim::p, Dim::q};
enum BlockedDim : unsigned { kN, kK, kP, kQ };

/// What one tile computes in one invocation: n x k x p x q outputs of `reduction` products each.
struct TileWork {
    std::array<std::uint16_t, 4> size{1, 1, 1, 1};  ///< n, k, p, q
    std::uint32_t reduction = 1;
    bool vector_op = false;
    bool channelwise = false;  ///< depthwise: each column reads its own input channel

    std::uint64_t outputs() const { return std::uint64_t{size[kN]} * size[kK] * size[kP] * size[kQ]; }
    bool operator==(const TileWork& o) const {
        return size == o.size && reduction == o.reduction && vector_op == o.vector_op && channelwise == o.channelwise;
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

/// One block of the nest on the array; `rows`, `columns`, `row_outputs`, `column_outputs` as clipped to the work.
struct Block {
    unsigned rows = 1, columns = 1, row_outputs = 1, column_outputs = 1;
};
NestCost block_cost(const HardwareDescription& hardware, const TileWork& work, const Block& block);

/// Closed form for one invocation, the same as the analytic PE array's; docs/scheduler.md derives it:
///   sum over blocks of the block's cycles, and for multiply-accumulate kernels
///   + (rows + columns - 2) to fill at the first block + the last block's drain.
/// A multiply-accumulate block: max(reduction * outputs a PE, drain, reads, writes), drain = rows * outputs a PE; a
/// depthwise one takes its reduction once a column;
/// a vector block: max(ceil(outputs * reduction / PEs), reads, writes); reads and writes are binary16 bytes over the
/// scratchpad's widths. Blocks at the ends of n, k, p, q are clipped to the work.
NestCost nest_cost(const HardwareDescription& hardware, const TileWork& work, const Blocking& blocking);

/// A kernel's blocking, read back from its nest.
Blocking blocking_of(const Kernel& kernel);

}  // namespace switchyard::sched
