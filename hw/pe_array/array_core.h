// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {

/// The edges of the array during one cycle (rtl/pe_array/pe_array.sv has the same ports).
///
/// A wave is one operand for each row and each column, of one accumulator of every PE and one step of the reduction;
/// PE (i, j) multiplies it i + j cycles later. The waves of a block come step by step, in each step one for every
/// accumulator. Results leave row by row, accumulator by accumulator: a beat that is taken at column 0 leaves column j
/// j cycles later.
struct ArrayInput {
    bool valid = false;
    bool first = false;  ///< first product of its accumulator, which starts from +0
    bool last = false;   ///< last wave of the block
    std::uint32_t accumulator = 0;
    std::uint32_t rows = 1;          ///< in use; the others hold what they have
    std::uint32_t accumulators = 1;  ///< of the block: read with its last wave, as `rows` is for the drain
    std::uint32_t column_begin = 0, column_end = 1;  ///< columns in use in this wave
    bool has_values = true;                          ///< false: the operands and what comes of them do not matter
    std::vector<std::uint16_t> row_operands, column_operands;
    bool out_ready = false;  ///< takes a beat

    ArrayInput(unsigned array_rows, unsigned array_columns)
        : row_operands(array_rows), column_operands(array_columns) {}
};

struct ArrayOutput {
    bool in_ready = false;                 ///< takes a wave
    bool out_valid = false;                ///< offers a beat at column 0
    std::vector<std::uint8_t> lane_valid;  ///< a result leaves column j
    std::vector<std::uint32_t> lanes;      ///< its accumulator's bits

    explicit ArrayOutput(unsigned array_columns) : lane_valid(array_columns), lanes(array_columns) {}
};

/// The registers of an array, for who looks for a difference.
struct ArrayState {
    struct Set {
        bool busy = false, filled = false;  ///< belongs to a block; all waves of which have entered
        unsigned wait = 0;                  ///< cycles until column 0 has finished
        unsigned rows = 0, accumulators = 0;
    };
    unsigned columns = 1, accumulators = 1;
    bool fresh = true;  ///< the next wave begins a block
    unsigned feed_set = 0, drain_set = 0, drain_accumulator = 0;
    unsigned beats_left = 0;  ///< of the accumulator that is in the chains
    std::array<Set, 2> sets;
    std::vector<std::uint32_t> sums;  ///< [row][column][set][accumulator]
};
/// One line for the control and one a PE.
std::string to_text(const ArrayState& state);

/// The PE array itself, between its edges, for SteppedPeArray: one call a cycle.
class ArrayCore : public RtlPart {
public:
    /// One cycle. `in_ready` and `out_valid` do not depend on this cycle's input. An RTL implementation throws
    /// RtlFault.
    virtual void step(const ArrayInput& in, ArrayOutput& out) = 0;

    virtual ArrayState state() const = 0;
};

}  // namespace switchyard::hw
