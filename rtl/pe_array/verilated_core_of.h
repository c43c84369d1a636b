// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

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

/// VerilatedCore of one Verilated model. Only sources that include the model's header include this one.
template <class Model, unsigned Rows, unsigned Columns, bool AccFp16>
class VerilatedCoreOf : public VerilatedCore {
public:
    VerilatedCoreOf() : model_(std::make_unique<Model>(context_.get(), "pe_array")) {
        context_.get()->traceEverOn(true);
        model_->rst_ni = 0;
        edges();
        model_->rst_ni = 1;
    }
    ~VerilatedCoreOf() override {
        if (waves_) waves_->close();
        model_->final();
    }

    void step(const hw::ArrayInput& in, hw::ArrayOutput& out) override {
        model_->in_valid_i = in.valid;
        model_->out_ready_i = in.out_ready;
        if (in.valid) {
            model_->in_first_i = in.first;
            model_->in_last_i = in.last;
            model_->in_accumulator_i = in.accumulator;
            model_->in_rows_i = in.rows;
            model_->in_accumulators_i = in.accumulators;
            const std::uint64_t below_end = (std::uint64_t{1} << in.column_end) - 1;
            model_->in_columns_i = below_end & ~((std::uint64_t{1} << in.column_begin) - 1);
            set_port(model_->row_i, in.row_operands.data(), Rows * sizeof(std::uint16_t));
            set_port(model_->column_i, in.column_operands.data(), Columns * sizeof(std::uint16_t));
        }
        model_->clk_i = 0;
        evaluate();
        out.in_ready = model_->in_ready_o;
        out.out_valid = model_->out_valid_o;
        const std::uint64_t lanes = model_->lane_valid_o;
        if (lanes != 0) {
            Lane values[Columns];
            get_port(model_->lane_o, values, sizeof values);
            for (unsigned j = 0; j < Columns; ++j) out.lanes[j] = values[j];
        }
        for (unsigned j = 0; j < Columns; ++j) out.lane_valid[j] = lanes >> j & 1;
        model_->clk_i = 1;
        evaluate();
        if (context_.assertion_failed()) throw RtlFault("an assertion of the RTL failed (standard output)");
    }

    void trace(const std::string& file) override {
        waves_ = std::make_unique<VerilatedFstC>();
        model_->trace(waves_.get(), 99);
        waves_->open(file.c_str());
    }

    hw::ArrayState state() const override { return state_of(*model_); }

private:
    using Lane = std::conditional_t<AccFp16, std::uint16_t, std::uint32_t>;

    void edges() {
        model_->clk_i = 0;
        evaluate();
        model_->clk_i = 1;
        evaluate();
    }
    void evaluate() {
        model_->eval();
        ++evaluations_;
        context_.get()->timeInc(1);
        if (waves_) waves_->dump(context_.get()->time());
    }

    std::unique_ptr<Model> model_;
    std::unique_ptr<VerilatedFstC> waves_;
};

}  // namespace switchyard::rtl
