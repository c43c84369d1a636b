// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dispatcher/dispatcher.h"

#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::hw {

KernelDispatcher::KernelDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : sc_module(name),
      dispatch("dispatch"),
      configure("configure"),
      scratchpad("scratchpad"),
      pe_array("pe_array"),
      network_interface("network_interface"),
      registry_(registry),
      clock_(config.clock_ghz) {
    dispatch.register_b_transport(this, &KernelDispatcher::transport_dispatch);
    configure.register_b_transport(this, &KernelDispatcher::transport_configure);
    configure.register_transport_dbg(this, &KernelDispatcher::debug_configure);
    fetch_.set_read();
    fetch_.set_data_length(kKernelBytes);
    fetch_.set_streaming_width(kKernelBytes);
    register_counters(registry, this->name(), kCounters, [this]() -> const Stats& { return stats_; });
}

void KernelDispatcher::transport_dispatch(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* request = payload.get_extension<DispatchExtension>();
    if (request == nullptr) return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "a dispatch without a request");
    ++stats_.dispatches;
    begin_ = delay;
    request->kernel = -1;
    request->macs = request->blocks_issued = request->blocks_skipped = 0;
    try {
        execute(*request, delay);
    } catch (const ModelError&) {
        throw;
    } catch (const std::exception& error) {
        return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, error.what());
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void KernelDispatcher::read_kernel(std::uint32_t index, KernelBytes& bytes, sc_core::sc_time& delay) {
    fetch_.set_address(std::uint64_t{index} * kKernelBytes);
    fetch_.set_data_ptr(bytes.data());
    fetch_.set_dmi_allowed(false);
    fetch_.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    scratchpad->b_transport(fetch_, delay);
    if (fetch_.is_response_error())
        throw std::runtime_error(
            fmt::format("kernel {} cannot be read: scratchpad answers {}", index, fetch_.get_response_string()));
}

void KernelDispatcher::issue(const Command& command, DispatchExtension& request, sc_core::sc_time& delay) {
    if (observer_) observer_(command);
    work_->vector_op = command.vector_op;
    work_->rows = command.shape.rows;
    work_->columns = command.shape.columns;
    work_->row_outputs = command.shape.row_outputs;
    work_->column_outputs = command.shape.column_outputs;
    work_->reduction = command.reduction;
    work_->outputs = command.shape.outputs;
    work_->repeats = command.repeats;
    work_->first = command.first;
    work_->last = command.last;
    work_->nest = command.nest;
    work_->input_offset = request.input_offset;
    work_->input_bytes = request.input_bytes;
    work_->weight_offset = request.weight_offset;
    work_->output_offset = request.output_offset;
    work_->channelwise = request.channelwise;
    work_->operand_bytes = request.operand_bytes;
    work_->result_bytes = request.result_bytes;
    work_->addresses = command.addresses;
    ::tlm::tlm_generic_payload& payload = work_.fresh();
    pe_array->b_transport(payload, delay);
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("kernel {} has a block that the PE array refuses", request.kernel));
    request.macs += work_->macs;
}

void KernelDispatcher::send(bool multicast, DispatchExtension& request, sc_core::sc_time& delay) {
    request.cycles = clock_.count(delay - begin_);
    send_->operator_index = request.operator_index;
    send_->unit = request.unit;
    send_->batch = request.batch;
    send_->dyn_dim = request.dyn_dim;
    send_->output_offset = request.output_offset;
    send_->multicast = multicast;
    send_->index_list = request.index_list;
    ::tlm::tlm_generic_payload& payload = send_.fresh();
    network_interface->b_transport(payload, delay);
    send_->index_list.reset();
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("network interface refuses to send operator {}", request.operator_index));
}

std::string KernelDispatcher::range_error(std::size_t begin, std::size_t end, std::size_t kernels) {
    return fmt::format("kernels [{}, {}) of a store that holds {}", begin, end, kernels);
}

std::string KernelDispatcher::order_error(std::size_t begin, std::size_t end) {
    return fmt::format("kernels [{}, {}) are not sorted by dyn_dim", begin, end);
}

std::string KernelDispatcher::fit_error(const DispatchExtension& request, std::uint32_t largest) {
    return fmt::format("no kernel of operator {} is large enough for dyn_dim {}; the largest is {}",
                       request.operator_index, request.selected_by(), largest);
}

std::string KernelDispatcher::changed_error(std::uint32_t index) {
    return fmt::format("kernel {} has changed since the dispatcher was configured", index);
}

void KernelDispatcher::transport_configure(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    std::uint32_t count = kernels();
    if (payload.get_address() != 0)
        return refuse(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE, "configure has one register, at address 0");
    if (payload.get_byte_enable_ptr() != nullptr)
        return refuse(payload, ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "configure takes no byte enables");
    if (payload.get_data_length() != sizeof count || payload.get_streaming_width() < sizeof count)
        return refuse(payload, ::tlm::TLM_BURST_ERROR_RESPONSE, "configure takes 32 bits at a time");
    if (payload.is_read()) {
        std::memcpy(payload.get_data_ptr(), &count, sizeof count);
    } else if (payload.is_write()) {
        std::memcpy(&count, payload.get_data_ptr(), sizeof count);
        try {
            rebuild(count, delay);
        } catch (const ModelError&) {
            throw;
        } catch (const std::exception& error) {
            return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, error.what());
        }
        stats_.kernels_selected.assign(count, 0);
    } else {
        return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "configure is neither read nor written");
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

unsigned KernelDispatcher::debug_configure(::tlm::tlm_generic_payload& payload) {
    const std::uint32_t count = kernels();
    if (!payload.is_read() || payload.get_address() != 0 || payload.get_data_length() < sizeof count) return 0;
    std::memcpy(payload.get_data_ptr(), &count, sizeof count);
    return sizeof count;
}

void KernelDispatcher::refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status,
                              const std::string& why) {
    registry_.add_error(*this, why);
    payload.set_response_status(status);
}

}  // namespace switchyard::hw
