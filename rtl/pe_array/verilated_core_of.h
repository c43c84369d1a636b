// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/rtl/pe_array/array_state.h"
#include "switchyard/rtl/pe_array/verilated_core.h"

namespace switchyard::rtl {

/// The bytes of a Verilated port, lowest first: integers up to 64 bits, arrays of words beyond.
template <class Port>
void set_port(Port& port, const void* bytes, std::size_t count) {
    std::memcpy(static_cast<void*>(&port), bytes, count);
}
template <class Port>
void get_port(const Port& port, void* bytes, std::size_t count) {
    std::memcpy(bytes, static_cast<const void*>(&port), count);
}

struct ArrayPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.in_valid_i);
        visit(top.in_first_i);
        visit(top.in_last_i);
        visit(top.in_accumulator_i);
        visit(top.in_rows_i);
        visit(top.in_accumulators_i);
        visit(top.in_columns_i);
        visit(top.row_i);
        visit(top.column_i);
        visit(top.out_ready_i);
    }
};

/// VerilatedCore of one Verilated model, built with TRACE if `Traced`. Only sources that include the model's header
/// include this one.
template <class Model, unsigned Rows, unsigned Columns, bool AccFp16, bool Traced = true>
class VerilatedCoreOf : public VerilatedCore, private RecordedModel<Model, ArrayPins, Traced> {
    using Recorded = RecordedModel<Model, ArrayPins, Traced>;
    using Recorded::top_;

public:
    VerilatedCoreOf() { Recorded::reset(); }

    void step(const hw::ArrayInput& in, hw::ArrayOutput& out) override {
        top_.in_valid_i = in.valid;
        top_.out_ready_i = in.out_ready;
        if (in.valid) {
            top_.in_first_i = in.first;
            top_.in_last_i = in.last;
            top_.in_accumulator_i = in.accumulator;
            top_.in_rows_i = in.rows;
            top_.in_accumulators_i = in.accumulators;
            const std::uint64_t below_end = (std::uint64_t{1} << in.column_end) - 1;
            top_.in_columns_i = below_end & ~((std::uint64_t{1} << in.column_begin) - 1);
            set_port(top_.row_i, in.row_operands.data(), Rows * sizeof(std::uint16_t));
            set_port(top_.column_i, in.column_operands.data(), Columns * sizeof(std::uint16_t));
        }
        Recorded::settle();
        out.in_ready = top_.in_ready_o;
        out.out_valid = top_.out_valid_o;
        const std::uint64_t lanes = top_.lane_valid_o;
        if (lanes != 0) {
            Lane values[Columns];
            get_port(top_.lane_o, values, sizeof values);
            for (unsigned j = 0; j < Columns; ++j) out.lanes[j] = values[j];
        }
        for (unsigned j = 0; j < Columns; ++j) out.lane_valid[j] = lanes >> j & 1;
        Recorded::clock();
    }

    void keep_waveform(const std::string& file) override { Recorded::keep_waveform(file); }
    std::string evidence() override { return Recorded::evidence(); }
    std::uint64_t cycles() const override { return Recorded::cycles(); }
    void save_coverage(const std::string& file) const override { Recorded::save_coverage(file); }
    hw::ArrayState state() const override { return state_of(top_); }

private:
    using Lane = std::conditional_t<AccFp16, std::uint16_t, std::uint32_t>;
};

}  // namespace switchyard::rtl
