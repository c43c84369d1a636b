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
    if (request == nullptr)
        return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "expected a dispatch with a request, found none");
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
        throw std::runtime_error(fmt::format("kernel {}: expected to read it from the scratchpad, found {}", index,
                                             fetch_.get_response_string()));
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
        throw std::runtime_error(fmt::format("kernel {}: expected blocks that the PE array takes, found {}",
                                             request.kernel, payload.get_response_string()));
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
        throw std::runtime_error(fmt::format("operator {}: expected the network interface to send it, found {}",
                                             request.operator_index, payload.get_response_string()));
}

std::string KernelDispatcher::range_error(std::size_t begin, std::size_t end, std::size_t kernels) {
    return fmt::format("expected kernels of a store that holds {}, found kernels [{}, {})", kernels, begin, end);
}

std::string KernelDispatcher::order_error(std::size_t begin, std::size_t end) {
    return fmt::format("expected kernels with rising dyn_dim, found kernels [{}, {}) that are not sorted", begin, end);
}

std::string KernelDispatcher::fit_error(const DispatchExtension& request, std::uint32_t largest) {
    return fmt::format("operator {}: expected a dyn_dim of at most {}, that of its largest kernel, found {}",
                       request.operator_index, largest, request.selected_by());
}

std::string KernelDispatcher::changed_error(std::uint32_t index) {
    return fmt::format("kernel {}: expected the kernel of the last configuration, found a changed one; configure again",
                       index);
}

void KernelDispatcher::transport_configure(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    std::uint32_t count = kernels();
    if (payload.get_address() != 0)
        return refuse(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE,
                      fmt::format("configure: expected address 0, found {:#x}", payload.get_address()));
    if (payload.get_byte_enable_ptr() != nullptr)
        return refuse(payload, ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
                      fmt::format("configure: expected no byte enables, found {}", payload.get_byte_enable_length()));
    if (payload.get_data_length() != sizeof count || payload.get_streaming_width() < sizeof count)
        return refuse(payload, ::tlm::TLM_BURST_ERROR_RESPONSE,
                      fmt::format("configure: expected {} bytes and as wide a stream, found {} bytes and a width of {}",
                                  sizeof count, payload.get_data_length(), payload.get_streaming_width()));
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
        return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE,
                      "configure: expected a read or a write, found TLM_IGNORE_COMMAND");
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
