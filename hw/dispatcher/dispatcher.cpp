#include "switchyard/hw/dispatcher/dispatcher.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::hw {
namespace {

/// Steps of a binary search: ceil(log2 n) comparisons and one to tell whether the last one fits.
unsigned search_steps(std::size_t entries) {
    unsigned steps = 1;
    while (std::size_t{1} << (steps - 1) < entries) ++steps;
    return steps;
}

}  // namespace

KernelDispatcher::KernelDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry)
    : sc_module(name),
      dispatch("dispatch"),
      configure("configure"),
      scratchpad("scratchpad"),
      pe_array("pe_array"),
      network_interface("network_interface"),
      config_(config),
      registry_(registry),
      clock_(config.clock_ghz),
      walk_(config.impl == "walk") {
    if (!walk_ && config.impl != "analytic")
        throw ModelError(*this, "no implementation called \"" + config.impl + "\"");
    dispatch.register_b_transport(this, &KernelDispatcher::transport_dispatch);
    configure.register_b_transport(this, &KernelDispatcher::transport_configure);
    configure.register_transport_dbg(this, &KernelDispatcher::debug_configure);
    fetch_.set_read();
    fetch_.set_data_length(kKernelBytes);
    fetch_.set_streaming_width(kKernelBytes);
    registry.add(*this, "dispatches", "1", stats_.dispatches);
    registry.add(*this, "blocks_issued", "1", stats_.blocks_issued);
    registry.add(*this, "blocks_skipped", "1", stats_.blocks_skipped);
    registry.add(*this, "search_cycles", "cycles", stats_.search_cycles);
    registry.add(*this, "none_found", "1", stats_.none_found);
}

void KernelDispatcher::transport_dispatch(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* request = payload.get_extension<DispatchExtension>();
    if (request == nullptr) return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "a dispatch without a request");
    ++stats_.dispatches;
    try {
        const sc_core::sc_time begin = delay;
        execute(*request, delay);
        request->cycles = clock_.count(delay - begin);
        send(*request, delay);
    } catch (const std::exception& error) {
        return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, error.what());
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void KernelDispatcher::execute(DispatchExtension& request, sc_core::sc_time& delay) {
    request.kernel = -1;
    request.macs = request.blocks_issued = request.blocks_skipped = 0;
    const std::uint32_t index = search(request, delay);
    request.kernel = static_cast<int>(index);
    if (request.dyn_dim == 0) return;

    ++stats_.kernels_picked[index];
    fetch(index, delay);
    try {
        walk_ ? run_walk(entries_[index], request, delay) : run_closed_form(entries_[index], request, delay);
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("kernel {} {}", index, error.what()));
    }
    stats_.blocks_issued += request.blocks_issued;
    stats_.blocks_skipped += request.blocks_skipped;
}

std::uint32_t KernelDispatcher::search(const DispatchExtension& request, sc_core::sc_time& delay) {
    const std::size_t end = std::size_t{request.kernel_first} + request.kernel_count;
    if (end > dyn_dims_.size())
        throw std::out_of_range(
            fmt::format("kernels [{}, {}) of a store that holds {}", request.kernel_first, end, dyn_dims_.size()));
    if (request.kernel_count > 0 && run_begins_[end - 1] > request.kernel_first)
        throw std::domain_error(fmt::format("kernels [{}, {}) are not sorted by dyn_dim", request.kernel_first, end));
    const unsigned steps = search_steps(request.kernel_count);
    stats_.search_cycles += steps;
    delay += clock_.cycles(steps);
    const auto first = dyn_dims_.begin() + request.kernel_first;
    const auto last = dyn_dims_.begin() + static_cast<std::ptrdiff_t>(end);
    const auto fit = std::lower_bound(first, last, request.dyn_dim);
    if (fit == last) {
        ++stats_.none_found;
        throw std::domain_error(
            fmt::format("no kernel of operator {} is large enough for dyn_dim {}; the largest is {}",
                        request.operator_index, request.dyn_dim, first == last ? 0 : *(last - 1)));
    }
    return static_cast<std::uint32_t>(fit - dyn_dims_.begin());
}

void KernelDispatcher::fetch(std::uint32_t index, sc_core::sc_time& delay) {
    KernelBytes bytes;
    read_kernel(index, bytes, delay);
    if (bytes == entries_[index].bytes) return;
    try {
        decode_kernel(bytes.data());
    } catch (const InputError& error) {
        throw std::runtime_error(fmt::format("kernel {}: {}", index, error.what()));
    }
    throw std::runtime_error(fmt::format("kernel {} has changed since the dispatcher was configured", index));
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

void KernelDispatcher::run_closed_form(Entry& entry, DispatchExtension& request, sc_core::sc_time& delay) {
    const NestPlan& plan = entry.plans.plan(entry.kernel, request.rank, request.dyn_dim);
    request.blocks_issued = plan.issued;
    request.blocks_skipped = plan.skipped;
    work_->vector_op = entry.kernel.vector_op != 0;
    work_->reduction = plan.reduction;
    for (std::size_t i = 0; i < plan.runs.size(); ++i)
        issue(plan.runs[i].shape, plan.runs[i].repeats, i == 0, i + 1 == plan.runs.size(), request, delay);
}

void KernelDispatcher::run_walk(const Entry& entry, DispatchExtension& request, sc_core::sc_time& delay) {
    const KernelNest nest(entry.kernel, request.rank, request.dyn_dim);
    work_->vector_op = entry.kernel.vector_op != 0;
    work_->reduction = nest.reduction();
    request.blocks_skipped = nest.walk([&](const KernelNest::Visit& block) {
        ++request.blocks_issued;
        issue(block.shape, 1, block.first, block.last, request, delay);
    });
}

void KernelDispatcher::issue(const BlockShape& shape, std::uint64_t repeats, bool first, bool last,
                             DispatchExtension& request, sc_core::sc_time& delay) {
    work_->rows = shape.rows;
    work_->columns = shape.columns;
    work_->row_outputs = shape.row_outputs;
    work_->column_outputs = shape.column_outputs;
    work_->outputs = shape.outputs;
    work_->repeats = repeats;
    work_->first = first;
    work_->last = last;
    work_->input_offset = request.input_offset;
    work_->weight_offset = request.weight_offset;
    work_->output_offset = request.output_offset;
    ::tlm::tlm_generic_payload& payload = work_.fresh();
    pe_array->b_transport(payload, delay);
    if (payload.is_response_error()) throw std::runtime_error("has a block that the PE array refuses");
    request.macs += work_->macs;
}

void KernelDispatcher::send(const DispatchExtension& request, sc_core::sc_time& delay) {
    send_->operator_index = request.operator_index;
    send_->unit = request.unit;
    send_->batch = request.batch;
    send_->dyn_dim = request.dyn_dim;
    send_->output_offset = request.output_offset;
    send_->frame = request.frame;
    ::tlm::tlm_generic_payload& payload = send_.fresh();
    network_interface->b_transport(payload, delay);
    send_->frame.reset();
    if (payload.is_response_error())
        throw std::runtime_error(fmt::format("network interface refuses to send operator {}", request.operator_index));
}

void KernelDispatcher::transport_configure(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    std::uint32_t kernels = static_cast<std::uint32_t>(entries_.size());
    if (payload.get_address() != 0)
        return refuse(payload, ::tlm::TLM_ADDRESS_ERROR_RESPONSE, "configure has one register, at address 0");
    if (payload.get_byte_enable_ptr() != nullptr)
        return refuse(payload, ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, "configure takes no byte enables");
    if (payload.get_data_length() != sizeof kernels || payload.get_streaming_width() < sizeof kernels)
        return refuse(payload, ::tlm::TLM_BURST_ERROR_RESPONSE, "configure takes 32 bits at a time");
    if (payload.is_read()) {
        std::memcpy(payload.get_data_ptr(), &kernels, sizeof kernels);
    } else if (payload.is_write()) {
        std::memcpy(&kernels, payload.get_data_ptr(), sizeof kernels);
        try {
            rebuild(kernels, delay);
        } catch (const std::exception& error) {
            clear();
            return refuse(payload, ::tlm::TLM_GENERIC_ERROR_RESPONSE, error.what());
        }
    } else {
        return refuse(payload, ::tlm::TLM_COMMAND_ERROR_RESPONSE, "configure is neither read nor written");
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void KernelDispatcher::rebuild(std::uint32_t kernels, sc_core::sc_time& delay) {
    clear();
    for (std::uint32_t index = 0; index < kernels; ++index) {
        Entry entry;
        read_kernel(index, entry.bytes, delay);
        try {
            entry.kernel = decode_kernel(entry.bytes.data());
        } catch (const InputError& error) {
            throw std::runtime_error(fmt::format("kernel {}: {}", index, error.what()));
        }
        const bool grows = index > 0 && dyn_dims_.back() < entry.kernel.dyn_dim();
        run_begins_.push_back(grows ? run_begins_.back() : index);
        dyn_dims_.push_back(entry.kernel.dyn_dim());
        entries_.push_back(std::move(entry));
    }
    stats_.kernels_picked.assign(kernels, 0);
}

void KernelDispatcher::clear() {
    entries_.clear();
    dyn_dims_.clear();
    run_begins_.clear();
}

unsigned KernelDispatcher::debug_configure(::tlm::tlm_generic_payload& payload) {
    const std::uint32_t kernels = static_cast<std::uint32_t>(entries_.size());
    if (!payload.is_read() || payload.get_address() != 0 || payload.get_data_length() < sizeof kernels) return 0;
    std::memcpy(payload.get_data_ptr(), &kernels, sizeof kernels);
    return sizeof kernels;
}

void KernelDispatcher::refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status,
                              const std::string& why) {
    registry_.add_error(*this, why);
    payload.set_response_status(status);
}

}  // namespace switchyard::hw
