// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/sw_scheduler/adyna/image/kernel.h"

namespace switchyard::rtl {

/// How a command ended: dispatcher_pkg::status_e.
enum class DispatcherStatus : unsigned {
    ok,
    out_of_range,
    unsorted,
    none_found,
    full,
    fetch_failed,
    bad_kernel,
    changed,
    units,  ///< this one to too_long: hw::NestFault
    tiles,
    pes,
    reduction,
    rows,
    uncovered,
    too_long,
    refused,
    send_refused
};

/// dispatcher_pkg::state_e.
enum class DispatcherState : unsigned { idle, search, fetch, issue, send, load, result };
const char* state_name(DispatcherState state);

/// Bits of DispatcherOutputs::instr_ops.
enum DispatcherOp : unsigned { kOpLoad = 1, kOpMac = 2, kOpStore = 4, kOpUnicast = 8, kOpMulticast = 16 };

/// The pins of rtl/dispatcher/dispatcher.sv, without clock and reset.
struct DispatcherInputs {
    bool cmd_valid = false, cmd_configure = false, cmd_multicast = false, cmd_channelwise = false;
    std::uint16_t cmd_first = 0, cmd_rank = 0;
    std::uint32_t cmd_count = 0, cmd_dyn_dim = 0, cmd_invocation = 0;
    bool cmd_continued = false;
    std::uint32_t cmd_input_offset = 0, cmd_weight_offset = 0, cmd_output_offset = 0;
    std::uint16_t cmd_in_channels = 0, cmd_in_rows = 0, cmd_in_columns = 0;
    bool fetch_ready = false, data_valid = false, data_error = false;
    KernelBytes data{};
    bool instr_ready = false, instr_error = false;
    bool result_ready = false;
};
struct DispatcherOutputs {
    bool cmd_ready = false, fetch_valid = false, data_ready = false, instr_valid = false, result_valid = false;
    std::uint32_t fetch_index = 0;
    unsigned instr_ops = 0;
    bool instr_vector = false, instr_first = false, instr_last = false;
    std::uint32_t instr_rows = 0, instr_columns = 0, instr_row_outputs = 0, instr_column_outputs = 0;
    std::uint32_t instr_reduction = 0;
    hw::OutputIndex instr_position{}, instr_extent{}, instr_box{};
    std::uint32_t instr_input_address = 0, instr_weight_address = 0, instr_output_address = 0;
    DispatcherStatus result_status = DispatcherStatus::ok;
    std::uint32_t result_index = 0, result_largest = 0, result_search_cycles = 0, result_invocations = 0;
    std::uint64_t result_issued = 0, result_skipped = 0;
    std::uint32_t kernels = 0;
    DispatcherState state = DispatcherState::idle;
};

/// A Verilated dispatcher with its clock in the hand of whoever drives its pins. Comes out of reset when constructed.
/// Outputs depend on registers alone, so `out` is what the pins show during the cycle that step() ends.
class DispatcherModel {
public:
    virtual ~DispatcherModel() = default;

    DispatcherInputs in;
    const DispatcherOutputs& out() const { return out_; }

    /// One clock cycle with the inputs as they are. Throws RtlFault if an assertion of the RTL fails.
    virtual void step() = 0;
    virtual std::uint64_t cycles() const = 0;

    /// As RecordedModel: a waveform of every pin and register in the last cycles, once something has failed.
    virtual void keep_waveform(const std::string& file) = 0;
    virtual std::string evidence() = 0;
    /// As ModelContext::save_coverage().
    virtual void save_coverage(const std::string& file) const = 0;

protected:
    DispatcherOutputs out_;
};

/// The model of the library.
std::unique_ptr<DispatcherModel> make_dispatcher_model();

/// Kernels that its directory holds.
inline constexpr unsigned kDispatcherKernels = 256;

}  // namespace switchyard::rtl
