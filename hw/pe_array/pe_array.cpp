// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/pe_array.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/hw/pe_array/analytic_pe_array.h"
#include "switchyard/hw/pe_array/attention.h"
#include "switchyard/hw/pe_array/block_math.h"
#include "switchyard/hw/pe_array/cycle_core.h"
#include "switchyard/hw/pe_array/stepped_pe_array.h"
#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw {
namespace {

constexpr std::uint64_t kOperandBytes = 2;  // binary16

/// Accumulators of a PE, and so passes of a block's reduction.
std::uint64_t outputs_of_a_pe(const PeWorkExtension& work) {
    return std::uint64_t{work.row_outputs} * work.column_outputs;
}

std::uint64_t outputs_of_a_block(const PeWorkExtension& work) {
    return std::uint64_t{work.rows} * work.columns * outputs_of_a_pe(work);
}

}  // namespace

unsigned accumulators_of_a_pe(const PeArray::Config& config) {
    return config.register_bytes / (config.acc == "fp16" ? 4 : 8);
}

PeArray::PeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : sc_module(name),
      command("command"),
      scratchpad("scratchpad"),
      config_(config),
      registry_(registry),
      clock_(config.clock_ghz),
      memory_(scratchpad) {
    if (config.acc != "fp32" && config.acc != "fp16")
        throw ModelError(*this, not_among("acc", {"fp32", "fp16"}, config.acc));
    command.register_b_transport(this, &PeArray::b_transport);
    scratchpad.register_invalidate_direct_mem_ptr(this, &PeArray::invalidate_direct_mem_ptr);
    register_counters(registry, this->name(), kCounters, [this]() -> const Stats& { return stats_; });
}

void PeArray::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* work = payload.get_extension<PeWorkExtension>();
    if (work == nullptr)
        return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "expected a command with work, found none");
    const std::string why_not = validation_error(*work);
    if (!why_not.empty()) return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, why_not);

    const sc_core::sc_time busy = busy_until_ - std::min(busy_until_, sc_core::sc_time_stamp());
    const sc_core::sc_time start = std::max(delay, busy);
    try {
        const Traffic traffic = move_operands(*work, start);
        if (attends(*work))
            for (std::uint64_t n = 0; n < work->repeats; ++n) attend_block(work->addresses[n], acc_fp16(), memory_);
        work->cycles = work->vector_op ? run_vector(*work, traffic) : run(*work, traffic, idle_cycles(start));
        if (work->last && work->addresses != nullptr) finish_across(*work->addresses->kernel, memory_);
    } catch (const ModelError&) {
        throw;
    } catch (const RtlFault& fault) {
        throw ModelError(*this, fault.what());
    } catch (const std::runtime_error& error) {
        return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, error.what());
    }
    const std::uint64_t wanted = work->outputs == 0 ? outputs_of_a_block(*work) : work->outputs;
    work->macs = wanted * work->reduction * work->repeats;
    ++stats_.commands;
    (work->vector_op ? stats_.vector_elements : stats_.macs) += work->macs;
    stats_.busy_cycles += work->cycles;
    delay = start + clock_.cycles(work->cycles);
    busy_until_ = sc_core::sc_time_stamp() + delay;
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

bool PeArray::attends(const PeWorkExtension& work) {
    return work.addresses != nullptr && work.addresses->kernel->attention.tokens > 0;
}

std::uint64_t PeArray::idle_cycles(const sc_core::sc_time& start) const {
    return clock_.count(sc_core::sc_time_stamp() + start - busy_until_);
}

std::string PeArray::validation_error(const PeWorkExtension& work) const {
    if (work.rows == 0 || work.columns == 0 || outputs_of_a_pe(work) == 0 || work.reduction == 0 || work.repeats == 0)

        return fmt::format(
            "expected a block with work, found {} x {} PEs with {} outputs each, a reduction of {} and {} "
            "repeats",
            work.rows, work.columns, outputs_of_a_pe(work), work.reduction, work.repeats);
    if (work.rows > config_.rows || work.columns > config_.columns)
        return fmt::format("expected a block of at most the array's {} x {} PEs, found {} x {}", config_.rows,
                           config_.columns, work.rows, work.columns);
    for (const std::uint8_t bytes : {work.operand_bytes, work.result_bytes})
        if (bytes != 2 && bytes != 4) return fmt::format("expected elements of 2 or 4 bytes, found {}", bytes);
    // One set of accumulators works while the other drains; operands are held for one step.
    const std::uint64_t accumulator_bytes = acc_fp16() ? 2 : 4;
    const std::uint64_t registers = 2 * accumulator_bytes * outputs_of_a_pe(work) +
                                    kOperandBytes * (std::uint64_t{work.row_outputs} + work.column_outputs);
    if (registers > config_.register_bytes)
        return fmt::format("expected a block of at most {} bytes of registers a PE, found {} for {} x {} accumulators",
                           config_.register_bytes, registers, work.row_outputs, work.column_outputs);
    if (work.outputs > outputs_of_a_block(work))
        return fmt::format("expected at most the block's {} outputs, found {}", outputs_of_a_block(work), work.outputs);
    const std::uint64_t read =
        work.vector_op || work.channelwise
            ? outputs_of_a_block(work)
            : std::max(std::uint64_t{work.rows} * work.row_outputs, std::uint64_t{work.columns} * work.column_outputs);
    if (read * work.reduction * work.operand_bytes > std::numeric_limits<unsigned>::max())
        return fmt::format("expected operands of a block of at most {} bytes, which is a burst, found {}",
                           std::numeric_limits<unsigned>::max(), read * work.reduction * work.operand_bytes);
    return work.addresses == nullptr ? "" : address_error(work);
}

PeArray::Traffic PeArray::move_operands(const PeWorkExtension& work, const sc_core::sc_time& start) {
    const std::uint64_t passes = outputs_of_a_pe(work);
    Operand input{::tlm::TLM_READ_COMMAND, work.input_offset, 0, 0, work.input_bytes};
    Operand weights{::tlm::TLM_READ_COMMAND, work.weight_offset, 0, 0};
    const Operand output{::tlm::TLM_WRITE_COMMAND, work.output_offset, std::uint64_t{work.columns} * work.result_bytes,
                         work.rows * passes};
    if (work.vector_op) {
        input.wave_bytes = std::uint64_t{work.rows} * work.columns * work.operand_bytes;
        input.waves = passes * work.reduction;
    } else {
        input.wave_bytes = work.rows * kOperandBytes;
        input.waves = std::uint64_t{work.row_outputs} * work.reduction;
        if (work.channelwise) input.waves *= std::uint64_t{work.columns} * work.column_outputs;
        weights.wave_bytes = work.columns * kOperandBytes;
        weights.waves = std::uint64_t{work.column_outputs} * work.reduction;
    }
    const Stream reads = stream(input, work.repeats, start);
    if (weights.waves > 0) stream(weights, work.repeats, start);
    const Stream writes = stream(output, work.repeats, start);
    Traffic traffic;
    traffic.read_bytes = input.bytes() + weights.bytes();
    traffic.write_bytes = output.bytes();
    traffic.read_bytes_per_cycle = reads.bytes_per_cycle;
    traffic.write_bytes_per_cycle = writes.bytes_per_cycle;
    const std::uint64_t streaming_cycles = ceil_div(input.bytes() * work.repeats, reads.bytes_per_cycle);
    traffic.latency_cycles = clock_.count(reads.time) - streaming_cycles;
    return traffic;
}

PeArray::Stream PeArray::stream(const Operand& operand, std::uint64_t repeats, const sc_core::sc_time& start) {
    burst_->repeats = repeats;
    burst_->has_values = false;
    burst_->bytes_per_cycle = 0;
    // Operands of one wave share addresses where windows overlap, and have none in the padding: they all lie in the
    // slot.
    const std::uint64_t span =
        operand.slot_bytes == 0 ? operand.wave_bytes : std::min(operand.wave_bytes, operand.slot_bytes);
    ::tlm::tlm_generic_payload& payload = burst_.fresh_burst(
        operand.command, operand.address, static_cast<unsigned>(operand.bytes()), static_cast<unsigned>(span));
    sc_core::sc_time end = start;
    scratchpad->b_transport(payload, end);
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("expected the scratchpad to take a burst of {} bytes at {:#x}, found {}",
                                             operand.bytes(), operand.address, payload.get_response_string()));
    if (burst_->bytes_per_cycle == 0)
        throw std::runtime_error("expected a scratchpad that knows repeated bursts, found 0 bytes per cycle");
    return {burst_->bytes_per_cycle, end - start};
}

std::uint64_t PeArray::run_vector(const PeWorkExtension& work, const Traffic& traffic) {
    if (work.addresses != nullptr)
        for (std::uint64_t n = 0; n < work.repeats; ++n) reduce_block(work.addresses[n], acc_fp16(), memory_);
    const std::uint64_t pes = std::uint64_t{config_.rows} * config_.columns;
    const std::uint64_t block_cycles = std::max({ceil_div(outputs_of_a_block(work) * work.reduction, pes),
                                                 ceil_div(traffic.read_bytes, traffic.read_bytes_per_cycle),
                                                 ceil_div(traffic.write_bytes, traffic.write_bytes_per_cycle)});
    return block_cycles * work.repeats + (work.first ? traffic.latency_cycles : 0);
}

void PeArray::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {
    memory_.forget();
}

void PeArray::refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status, const std::string& why) {
    registry_.add_error(*this, why);
    payload.set_response_status(status);
}

std::unique_ptr<PeArray> make_pe_array(const char* name, const PeArray::Config& config, SimulationRegistry& registry) {
    if (config.impl == "analytic") return std::make_unique<AnalyticPeArray>(name, config, registry);
    if (config.impl != "cycle")
        throw InputError(not_made("pe_array.impl", kPeArrayImplementations, config.impl, "make_pe_array"));
    return std::make_unique<SteppedPeArray>(name, config, registry, [&config](const std::string&) {
        return std::make_unique<CycleCore>(config.rows, config.columns, accumulators_of_a_pe(config),
                                           config.acc == "fp16");
    });
}

}  // namespace switchyard::hw
