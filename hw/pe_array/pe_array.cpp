#include "switchyard/hw/pe_array/pe_array.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::hw {
namespace {

constexpr std::uint64_t kOperandBytes = 2;  // binary16

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

/// Accumulators of a PE, and so passes of a block's reduction.
std::uint64_t outputs_of_a_pe(const PeWorkExtension& work) {
    return std::uint64_t{work.row_outputs} * work.column_outputs;
}

std::uint64_t outputs_of_a_block(const PeWorkExtension& work) {
    return std::uint64_t{work.rows} * work.columns * outputs_of_a_pe(work);
}

}  // namespace

PeArray::PeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : sc_module(name),
      command("command"),
      scratchpad("scratchpad"),
      config_(config),
      registry_(registry),
      clock_(config.clock_ghz),
      accumulator_bytes_(config.acc == "fp16" ? 2 : 4) {
    if (config.impl != "analytic") throw ModelError(*this, "no implementation called \"" + config.impl + "\"");
    if (config.acc != "fp32" && config.acc != "fp16")
        throw ModelError(*this, "no accumulator type called \"" + config.acc + "\"");
    command.register_b_transport(this, &PeArray::b_transport);
    registry.add(*this, "commands", "1", stats_.commands);
    registry.add(*this, "macs", "1", stats_.macs);
    registry.add(*this, "vector_elements", "1", stats_.vector_elements);
    registry.add(*this, "busy_cycles", "cycles", stats_.busy_cycles);
}

void PeArray::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* work = payload.get_extension<PeWorkExtension>();
    if (work == nullptr) return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "a command without work");
    const std::string why_not = objection(*work);
    if (!why_not.empty()) return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, why_not);

    const sc_core::sc_time start = std::max(delay, busy_until_ - std::min(busy_until_, sc_core::sc_time_stamp()));
    try {
        work->cycles = run(*work, start);
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

std::string PeArray::objection(const PeWorkExtension& work) const {
    if (work.rows == 0 || work.columns == 0 || outputs_of_a_pe(work) == 0 || work.reduction == 0 || work.repeats == 0)
        return "a block without work";
    if (work.rows > config_.rows || work.columns > config_.columns)
        return fmt::format("a block of {} x {} PEs on an array of {} x {}", work.rows, work.columns, config_.rows,
                           config_.columns);
    // One set of accumulators works while the other drains; operands are held for one step.
    const std::uint64_t registers = 2 * accumulator_bytes_ * outputs_of_a_pe(work) +
                                    kOperandBytes * (std::uint64_t{work.row_outputs} + work.column_outputs);
    if (registers > config_.register_bytes)
        return fmt::format("a block with {} x {} accumulators a PE, which needs {} bytes of registers and has {}",
                           work.row_outputs, work.column_outputs, registers, config_.register_bytes);
    if (work.outputs > outputs_of_a_block(work))
        return fmt::format("{} outputs wanted of a block that has {}", work.outputs, outputs_of_a_block(work));
    const std::uint64_t read = work.vector_op ? outputs_of_a_block(work)
                                              : std::max(std::uint64_t{work.rows} * work.row_outputs,
                                                         std::uint64_t{work.columns} * work.column_outputs);
    if (read * work.reduction * kOperandBytes > std::numeric_limits<unsigned>::max())
        return fmt::format("a block with a reduction of {}, more than one burst can hold", work.reduction);
    return "";
}

std::uint64_t PeArray::run(const PeWorkExtension& work, const sc_core::sc_time& start) {
    const std::uint64_t passes = outputs_of_a_pe(work);
    const std::uint64_t outputs = outputs_of_a_block(work);
    std::uint64_t fill_cycles = 0, drain_cycles = 0, block_cycles = 0;
    Operand input{::tlm::TLM_READ_COMMAND, work.input_offset, 0, 0};
    Operand weights{::tlm::TLM_READ_COMMAND, work.weight_offset, 0, 0};
    const Operand output{::tlm::TLM_WRITE_COMMAND, work.output_offset, work.columns * kOperandBytes,
                         work.rows * passes};
    if (work.vector_op) {
        block_cycles = ceil_div(outputs * work.reduction, std::uint64_t{config_.rows} * config_.columns);
        input.wave_bytes = std::uint64_t{work.rows} * work.columns * kOperandBytes;
        input.waves = passes * work.reduction;
    } else {
        fill_cycles = work.rows + work.columns - 2;
        drain_cycles = work.rows * passes;
        block_cycles = std::max(work.reduction * passes, drain_cycles);
        input.wave_bytes = work.rows * kOperandBytes;
        input.waves = std::uint64_t{work.row_outputs} * work.reduction;
        weights.wave_bytes = work.columns * kOperandBytes;
        weights.waves = std::uint64_t{work.column_outputs} * work.reduction;
    }
    const Stream reads = stream(input, work.repeats, start);
    if (weights.waves > 0) stream(weights, work.repeats, start);
    const Stream writes = stream(output, work.repeats, start);
    block_cycles = std::max({block_cycles, ceil_div(input.bytes() + weights.bytes(), reads.bytes_per_cycle),
                             ceil_div(output.bytes(), writes.bytes_per_cycle)});
    std::uint64_t cycles = block_cycles * work.repeats;
    if (work.first) {
        const std::uint64_t streaming_cycles = ceil_div(input.bytes() * work.repeats, reads.bytes_per_cycle);
        cycles += clock_.count(reads.time) - streaming_cycles + fill_cycles;  // the difference is latency
    }
    if (work.last) cycles += drain_cycles;
    return cycles;
}

PeArray::Stream PeArray::stream(const Operand& operand, std::uint64_t repeats, const sc_core::sc_time& start) {
    burst_->repeats = repeats;
    burst_->has_values = false;
    burst_->bytes_per_cycle = 0;
    ::tlm::tlm_generic_payload& payload =
        burst_.fresh_burst(operand.command, operand.address, static_cast<unsigned>(operand.bytes()),
                           static_cast<unsigned>(operand.wave_bytes));
    sc_core::sc_time end = start;
    scratchpad->b_transport(payload, end);
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("scratchpad answers {} to a burst of {} bytes at {:#x}",
                                             payload.get_response_string(), operand.bytes(), operand.address));
    if (burst_->bytes_per_cycle == 0) throw std::runtime_error("scratchpad does not know repeated bursts");
    return {burst_->bytes_per_cycle, end - start};
}

void PeArray::refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status, const std::string& why) {
    registry_.add_error(*this, why);
    payload.set_response_status(status);
}

}  // namespace switchyard::hw
