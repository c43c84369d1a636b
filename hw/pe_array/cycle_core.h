// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/pe_array/array_core.h"

namespace switchyard::hw {

/// The PE array cycle by cycle, as rtl/pe_array/pe_array.sv has it.
///
/// Each PE has two sets of accumulators, which blocks use in turn, and one word of its column's drain chain. A set is
/// taken with a block's first wave; rows cycles after the block's last wave the column drains: for each accumulator,
/// the whole column puts it into the chain at once and shifts it out, `rows` beats. The set is free again as soon as
/// its last accumulator is in the chain. Control moves to the right by a column a cycle, like the operands.
class CycleCore : public ArrayCore {
public:
    /// `accumulators`: in a set.
    CycleCore(unsigned rows, unsigned columns, unsigned accumulators, bool acc_fp16);

    void step(const ArrayInput& in, ArrayOutput& out) override;
    ArrayState state() const override;

private:
    struct Wave {
        bool valid = false, first = false, has_values = false;
        unsigned set = 0, accumulator = 0, rows = 0, column_begin = 0, column_end = 0;
        std::vector<std::uint16_t> row_operands, column_operands;
    };
    struct Beat {
        bool valid = false, load = false;
        unsigned set = 0, accumulator = 0;
    };
    const Wave& wave(unsigned cycles_ago) const {
        return waves_[(cycle_ + waves_.size() - cycles_ago) % waves_.size()];
    }
    const Beat& beat(unsigned cycles_ago) const {
        return beats_[(cycle_ + beats_.size() - cycles_ago) % beats_.size()];
    }
    std::size_t sum_index(unsigned row, unsigned column, unsigned set, unsigned accumulator) const {
        return ((std::size_t{row} * columns_ + column) * 2 + set) * accumulators_ + accumulator;
    }
    std::uint32_t& chain(unsigned row, unsigned column) { return chains_[std::size_t{row} * columns_ + column]; }

    void accept(const ArrayInput& in, bool accepted);
    void take(bool taken);
    void multiply();
    void shift_chains(ArrayOutput& out);

    unsigned rows_, columns_, accumulators_;
    bool acc_fp16_;
    std::uint64_t cycle_ = 0;
    std::vector<std::uint32_t> sums_, chains_;            ///< as in ArrayState; [row][column]
    std::vector<Wave> waves_;                             ///< by cycle, the last rows + columns
    std::vector<Beat> beats_;                             ///< by cycle, the last columns
    std::uint64_t multiply_until_ = 0, shift_until_ = 0;  ///< when no wave with values (no beat) is left
    std::array<ArrayState::Set, 2> sets_;
    bool fresh_ = true;
    unsigned feed_set_ = 0;
    unsigned drain_set_ = 0, drain_accumulator_ = 0;
    unsigned beats_left_ = 0;
};

}  // namespace switchyard::hw
