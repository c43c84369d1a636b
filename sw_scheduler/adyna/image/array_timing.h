// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Cycles of multiply-accumulate blocks on an output-stationary systolic PE array: one formula for the scheduler's cost
/// model and for the analytic PE array. docs/models/pe_array.md has it in words.
namespace switchyard {

inline constexpr std::uint32_t kWidestPort = 4096;  ///< bytes a cycle: the times of long kernels still fit 64 bits

/// Widths of the scratchpad towards the array, 1 to kWidestPort each.
struct ArrayPorts {
    std::uint32_t read_bytes_per_cycle = 128, write_bytes_per_cycle = 64;

    bool operator==(const ArrayPorts& o) const {
        return read_bytes_per_cycle == o.read_bytes_per_cycle && write_bytes_per_cycle == o.write_bytes_per_cycle;
    }
};

/// One block of the template nest: rows x columns PEs with row_outputs x column_outputs accumulators each, which add up
/// `reduction` products. Operands are binary16.
struct ArrayBlock {
    std::uint32_t rows = 1, columns = 1;
    std::uint32_t row_outputs = 1, column_outputs = 1;
    std::uint32_t reduction = 1;
    bool channelwise = false;        ///< each column has inputs of its own (depthwise), so that a wave feeds one column
    std::uint32_t result_bytes = 2;  ///< binary16, or binary32 of partial sums

    std::uint64_t accumulators() const { return std::uint64_t{row_outputs} * column_outputs; }
    /// Of operands, for one step of the reduction.
    std::uint64_t waves() const { return accumulators() * (channelwise ? columns : 1); }
    std::uint64_t step_bytes() const {
        const std::uint64_t row_side = std::uint64_t{rows} * row_outputs;
        const std::uint64_t column_side = std::uint64_t{columns} * column_outputs;
        return 2 * (row_side * (channelwise ? column_side : 1) + column_side);
    }
    /// One result a column.
    std::uint64_t beats() const { return rows * accumulators(); }
    std::uint64_t beat_bytes() const { return std::uint64_t{result_bytes} * columns; }
};

/// A loop over blocks along one dimension: `extent` outputs in blocks of reg x pe, of which PE i holds the outputs
/// [i * reg, (i + 1) * reg). The last block has what is left.
struct BlockLoop {
    std::uint32_t extent = 0;
    std::uint16_t reg = 1, pe = 1;
    bool over_columns = false;  ///< of PEs, as k; else over rows, as n, p and q

    std::uint32_t block() const { return std::uint32_t{reg} * pe; }
    std::uint32_t full() const { return extent / block(); }  ///< blocks before the one that is clipped
    std::uint32_t rest() const { return extent % block(); }  ///< outputs of that one; 0: there is none
    /// `block` with `outputs` outputs along this loop, which has not been applied to it yet.
    ArrayBlock clipped(ArrayBlock block, std::uint32_t outputs) const;

    bool operator==(const BlockLoop& o) const {
        return extent == o.extent && reg == o.reg && pe == o.pe && over_columns == o.over_columns;
    }
};

/// All blocks of an invocation in the order in which they come: four loops, the outermost first.
using BlockNest = std::array<BlockLoop, 4>;

/// When the array feeds, drains and writes the blocks of one invocation, in the order in which they are added.
///
/// A block of R rows, A accumulators, S steps of w waves each, whose operands take r cycles a step to read and whose
/// beats (one result a column, R * A of them) take b cycles each to write, or one if that is more, goes through
///
///   first wave   max(last wave of the block before + 1, its operands read - 1, accumulators free)
///   last step    max(first wave + (S - 1) * w, its operands read - 1)
///   fed          last step + w
///   first beat   max(fed + R - 1, last beat of the block before + b)
///   released     first beat + (A - 1) * R * b + 1: its accumulators are free for the next block but one
///   written      last beat + max(columns, b)
///
/// where operands are read one after another, S * r cycles a block, but no more than one step ahead. This is the array
/// of rtl/pe_array with one port for reads and one for writes, but that a wave or a beat that waits for a port does so
/// for fractions of a cycle.
///
/// All of it is maximum and addition, so a sequence of blocks is a matrix of the max-plus algebra, and a loop a power
/// of one (Baccelli, Cohen, Olsder, Quadrat: Synchronization and Linearity, 1992): repeats cost their logarithm.
class ArrayTimeline {
public:
    /// `latency_cycles` pass before the first operand is on its way.
    explicit ArrayTimeline(const ArrayPorts& ports = {}, std::uint64_t latency_cycles = 0);

    void add(const ArrayBlock& block, std::uint64_t repeats = 1);
    /// Every block of the nest is `like` in all but its sizes.
    void add(const BlockNest& nest, const ArrayBlock& like);
    /// No wave enters before `cycle`.
    void hold(std::uint64_t cycle);

    std::uint64_t fed() const;      ///< cycle behind the last wave
    std::uint64_t written() const;  ///< cycle in which the last result has been written

private:
    /// Times so far: fed; fetched (the last step's operands, and their place is free); drained; accumulators released
    /// by the last block but one, and by the last; written. In ticks, of which a cycle and a byte at either port take a
    /// whole number.
    using State = std::array<std::int64_t, 6>;
    struct Ticks;
    struct Matrix;

    Ticks ticks(const ArrayBlock& block) const;
    Matrix matrix(const ArrayBlock& block) const;
    /// Of the loops from `depth` on, of which `block` has none yet.
    Matrix matrix(const BlockNest& nest, std::size_t depth, const ArrayBlock& block) const;

    std::int64_t cycle_, read_byte_, written_byte_;  ///< in ticks
    State state_;
};

}  // namespace switchyard
