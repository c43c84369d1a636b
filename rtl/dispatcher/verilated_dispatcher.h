// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind DispatcherModel: the library's, and those of the tests, which
// have mutants and a build with coverage.
#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/rtl/dispatcher/dispatcher_model.h"

namespace switchyard::rtl {

struct DispatcherPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.cmd_valid_i);
        visit(top.cmd_configure_i);
        visit(top.cmd_first_i);
        visit(top.cmd_count_i);
        visit(top.cmd_dyn_dim_i);
        visit(top.cmd_invocation_i);
        visit(top.cmd_continued_i);
        visit(top.cmd_rank_i);
        visit(top.cmd_multicast_i);
        visit(top.cmd_input_offset_i);
        visit(top.cmd_weight_offset_i);
        visit(top.cmd_output_offset_i);
        visit(top.cmd_channelwise_i);
        visit(top.cmd_in_channels_i);
        visit(top.cmd_in_rows_i);
        visit(top.cmd_in_columns_i);
        visit(top.fetch_ready_i);
        visit(top.data_valid_i);
        visit(top.data_error_i);
        visit(top.data_i);
        visit(top.instr_ready_i);
        visit(top.instr_error_i);
        visit(top.result_ready_i);
    }
};

/// `Top`: the Verilated class of module dispatcher, built with TRACE if `Traced`.
template <class Top, bool Traced>
class VerilatedDispatcher : public DispatcherModel, private RecordedModel<Top, DispatcherPins, Traced> {
    using Clocked = RecordedModel<Top, DispatcherPins, Traced>;
    using Clocked::top_;

public:
    VerilatedDispatcher() {
        Clocked::reset();
        read_pins();
    }

    void step() override {
        write_pins();
        Clocked::settle();
        Clocked::clock();
        read_pins();
    }
    std::uint64_t cycles() const override { return Clocked::cycles(); }
    void keep_waveform(const std::string& file) override { Clocked::keep_waveform(file); }
    std::string evidence() override { return Clocked::evidence(); }
    void save_coverage(const std::string& file) const override { Clocked::save_coverage(file); }

private:
    void write_pins() {
        top_.cmd_valid_i = in.cmd_valid;
        top_.cmd_configure_i = in.cmd_configure;
        top_.cmd_first_i = in.cmd_first;
        top_.cmd_count_i = in.cmd_count;
        top_.cmd_dyn_dim_i = in.cmd_dyn_dim;
        top_.cmd_invocation_i = in.cmd_invocation;
        top_.cmd_continued_i = in.cmd_continued;
        top_.cmd_rank_i = in.cmd_rank;
        top_.cmd_multicast_i = in.cmd_multicast;
        top_.cmd_input_offset_i = in.cmd_input_offset;
        top_.cmd_weight_offset_i = in.cmd_weight_offset;
        top_.cmd_output_offset_i = in.cmd_output_offset;
        top_.cmd_channelwise_i = in.cmd_channelwise;
        top_.cmd_in_channels_i = in.cmd_in_channels;
        top_.cmd_in_rows_i = in.cmd_in_rows;
        top_.cmd_in_columns_i = in.cmd_in_columns;
        top_.fetch_ready_i = in.fetch_ready;
        top_.data_valid_i = in.data_valid;
        top_.data_error_i = in.data_error;
        if (in.data_valid) {
            for (unsigned byte = 0; byte < kKernelBytes; byte += 4)
                top_.data_i[byte / 4] = std::uint32_t{in.data[byte]} | std::uint32_t{in.data[byte + 1]} << 8 |
                                        std::uint32_t{in.data[byte + 2]} << 16 | std::uint32_t{in.data[byte + 3]} << 24;
        }
        top_.instr_ready_i = in.instr_ready;
        top_.instr_error_i = in.instr_error;
        top_.result_ready_i = in.result_ready;
    }
    static hw::OutputIndex fields(std::uint64_t packed) {
        hw::OutputIndex index;
        for (unsigned axis = 0; axis < index.size(); ++axis) index[axis] = packed >> 16 * axis & 0xFFFF;
        return index;
    }
    void read_pins() {
        out_.cmd_ready = top_.cmd_ready_o;
        out_.fetch_valid = top_.fetch_valid_o;
        out_.fetch_index = top_.fetch_index_o;
        out_.data_ready = top_.data_ready_o;
        out_.instr_valid = top_.instr_valid_o;
        out_.result_valid = top_.result_valid_o;
        out_.kernels = top_.kernels_o;
        out_.state = static_cast<DispatcherState>(top_.state_o);
        if (out_.instr_valid) {
            out_.instr_ops = top_.instr_ops_o;
            out_.instr_vector = top_.instr_vector_o;
            out_.instr_first = top_.instr_first_o;
            out_.instr_last = top_.instr_last_o;
            out_.instr_rows = top_.instr_rows_o;
            out_.instr_columns = top_.instr_columns_o;
            out_.instr_row_outputs = top_.instr_row_outputs_o;
            out_.instr_column_outputs = top_.instr_column_outputs_o;
            out_.instr_reduction = top_.instr_reduction_o;
            out_.instr_position = fields(top_.instr_position_o);
            out_.instr_extent = fields(top_.instr_extent_o);
            out_.instr_box = fields(top_.instr_box_o);
            out_.instr_input_address = top_.instr_input_address_o;
            out_.instr_weight_address = top_.instr_weight_address_o;
            out_.instr_output_address = top_.instr_output_address_o;
        }
        if (out_.result_valid) {
            out_.result_status = static_cast<DispatcherStatus>(top_.result_status_o);
            out_.result_index = top_.result_index_o;
            out_.result_largest = top_.result_largest_o;
            out_.result_search_cycles = top_.result_search_cycles_o;
            out_.result_invocations = top_.result_invocations_o;
            out_.result_issued = top_.result_issued_o;
            out_.result_skipped = top_.result_skipped_o;
        }
    }
};

}  // namespace switchyard::rtl
