// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dispatcher/rtl_dispatcher.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::rtl {

RtlDispatcher::RtlDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                             std::unique_ptr<DispatcherModel> model)
    : KernelDispatcher(name, config, registry), model_(std::move(model)) {}

void RtlDispatcher::rebuild(std::uint32_t kernels, sc_core::sc_time& delay) {
    model_->in.cmd_configure = true;
    model_->in.cmd_first = 0;
    model_->in.cmd_count = kernels;
    run(nullptr, delay);
    finish({});
}

void RtlDispatcher::execute(DispatchExtension& request, sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    in.cmd_configure = false;
    in.cmd_first = request.kernel_first;
    in.cmd_count = request.kernel_count;
    in.cmd_dyn_dim = request.dyn_dim;
    in.cmd_invocation = request.invocation_samples;
    in.cmd_continued = request.continued;
    in.cmd_rank = request.rank;
    in.cmd_multicast = request.multicast;
    in.cmd_input_offset = request.input_offset;
    in.cmd_weight_offset = request.weight_offset;
    in.cmd_output_offset = request.output_offset;
    const OperatorShape shape = request.values == nullptr ? OperatorShape{} : request.values->shape;
    in.cmd_channelwise = shape.channelwise();
    in.cmd_in_channels = shape.in_channels;
    in.cmd_in_rows = shape.in_rows;
    in.cmd_in_columns = shape.in_columns;
    run(&request, delay);

    const DispatcherOutputs& out = model_->out();
    const DispatcherStatus status = out.result_status;
    stats_.search_cycles += out.result_search_cycles;
    if (status == DispatcherStatus::none_found) ++stats_.none_found;
    const bool found = status == DispatcherStatus::ok || status > DispatcherStatus::full;
    if (found) {
        request.kernel = static_cast<int>(out.result_index);
        if (request.dyn_dim > 0) stats_.kernels_selected[out.result_index] = out.result_invocations;
        request.blocks_issued = out.result_issued;
        request.blocks_skipped = out.result_skipped;
    }
    if (status == DispatcherStatus::ok || status == DispatcherStatus::send_refused) {
        stats_.blocks_issued += request.blocks_issued;
        stats_.blocks_skipped += request.blocks_skipped;
    }
    finish(request);
}

void RtlDispatcher::run(DispatchExtension* request, sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    const DispatcherOutputs& out = model_->out();
    refusal_ = nullptr;
    addresses_.reset();
    in.cmd_valid = true;
    model_->step();
    in.cmd_valid = false;
    while (!out.result_valid) {
        if (out.fetch_valid) {
            if (request != nullptr) request->kernel = static_cast<int>(out.fetch_index);
            serve_fetch(delay);
        } else if (out.instr_valid) {
            serve_instruction(*request, delay);
        } else {
            model_->step();
            delay += clock().cycles(1);
        }
    }
    if (model_->assertion_failed()) throw ModelError(*this, "an assertion of the RTL failed; " + state());
}

void RtlDispatcher::serve_fetch(sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    const std::uint32_t index = model_->out().fetch_index;
    in.fetch_ready = true;
    model_->step();
    in.fetch_ready = false;
    try {
        read_kernel(index, fetched_, delay);
    } catch (const std::runtime_error&) {
        refusal_ = std::current_exception();
        in.data_error = true;
    }
    in.data = fetched_;
    in.data_valid = true;
    model_->step();
    in.data_valid = in.data_error = false;
}

void RtlDispatcher::serve_instruction(DispatchExtension& request, sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    const DispatcherOutputs& out = model_->out();
    try {
        if ((out.instr_ops & (kOpUnicast | kOpMulticast)) != 0) {
            send(out.instr_ops == kOpMulticast, request, delay);
        } else {
            Command block = command();
            if (request.values != nullptr) block.addresses = addresses(request);
            issue(block, request, delay);
        }
    } catch (const ModelError&) {
        throw;
    } catch (const std::runtime_error&) {
        refusal_ = std::current_exception();
        in.instr_error = true;
    }
    in.instr_ready = true;
    model_->step();
    in.instr_ready = in.instr_error = false;
}

hw::KernelDispatcher::Command RtlDispatcher::command() const {
    const DispatcherOutputs& out = model_->out();
    Command command;
    command.shape.rows = out.instr_rows;
    command.shape.columns = out.instr_columns;
    command.shape.row_outputs = out.instr_row_outputs;
    command.shape.column_outputs = out.instr_column_outputs;
    command.shape.outputs = 1;
    for (const std::uint32_t extent : out.instr_extent) command.shape.outputs *= extent;
    command.vector_op = out.instr_vector;
    command.reduction = out.instr_reduction;
    command.first = out.instr_first;
    command.last = out.instr_last;
    command.position = out.instr_position;
    return command;
}

const BlockAddresses* RtlDispatcher::addresses(const DispatchExtension& request) {
    const DispatcherOutputs& out = model_->out();
    if (!addresses_) {
        const Kernel kernel = decode_kernel(fetched_.data());
        nest_.emplace(kernel, request.rank, request.dyn_dim);
        try {
            addresses_.emplace(kernel, *nest_, *request.values, request.weight_offset, request.output_offset);
        } catch (const std::domain_error& error) {
            throw std::runtime_error(fmt::format("kernel {} {}", request.kernel, error.what()));
        }
    }
    addresses_->find(out.instr_position, block_);

    // The pins show where the block begins: the first value of its first window that is stored.
    const BlockAddresses::Row& row = block_.rows.front();
    const BlockAddresses::Column& column = block_.columns.front();
    const std::int32_t above = std::max(0, -row.y), left = std::max(0, -row.x);
    const std::uint32_t input =
        static_cast<std::uint32_t>(row.input + column.input + 2 * (above * request.values->shape.in_columns + left));
    const std::uint32_t weights = static_cast<std::uint32_t>(column.weights);
    const std::uint32_t output = request.output_offset + row.output + column.output;
    // What reads several samples or tokens a row has no such window, and an attention has no weights.
    const OperatorShape& shape = request.values->shape;
    const bool attends = shape.kind == OpKind::attention;
    const bool windows = request.values->sources.size() == 1 && shape.joined == 1 && !attends;
    if ((windows && input != out.instr_input_address) ||
        (!out.instr_vector && !attends && weights != out.instr_weight_address) || output != out.instr_output_address)
        throw ModelError(*this, fmt::format("the RTL's addresses {:#x}, {:#x}, {:#x} should be {:#x}, {:#x}, {:#x}; {}",
                                            out.instr_input_address, out.instr_weight_address, out.instr_output_address,
                                            input, weights, output, state()));
    return &block_;
}

void RtlDispatcher::finish(const DispatchExtension& request) {
    const DispatcherOutputs result = model_->out();
    model_->in.result_ready = true;
    model_->step();
    model_->in.result_ready = false;

    const std::size_t first = model_->in.cmd_first, end = first + model_->in.cmd_count;
    switch (result.result_status) {
        case DispatcherStatus::ok:
            return;
        case DispatcherStatus::out_of_range:
            throw std::out_of_range(range_error(first, end, result.kernels));
        case DispatcherStatus::unsorted:
            throw std::domain_error(order_error(first, end));
        case DispatcherStatus::none_found:
            throw std::domain_error(fit_error(request, result.result_largest));
        case DispatcherStatus::full:
            throw std::runtime_error(fmt::format("{} kernels for a directory that holds {}", end, kDispatcherKernels));
        case DispatcherStatus::bad_kernel:
            try {
                decode_kernel(fetched_.data());
            } catch (const InputError& error) {
                throw std::runtime_error(fmt::format("kernel {}: {}", result.result_index, error.what()));
            }
            throw ModelError(*this, fmt::format("the RTL takes good kernel {} for bad", result.result_index));
        case DispatcherStatus::changed:
            throw std::runtime_error(changed_error(result.result_index));
        case DispatcherStatus::fetch_failed:
        case DispatcherStatus::refused:
        case DispatcherStatus::send_refused:
            if (refusal_) std::rethrow_exception(refusal_);
            throw ModelError(*this, "the RTL reports a refusal that nobody gave");
        default:
            break;
    }
    if (result.result_status > DispatcherStatus::send_refused)
        throw ModelError(*this, fmt::format("the RTL answers status {}", static_cast<unsigned>(result.result_status)));
    const auto fault = static_cast<hw::NestFault>(static_cast<unsigned>(result.result_status) -
                                                  static_cast<unsigned>(DispatcherStatus::units));
    throw std::runtime_error(fmt::format("kernel {} {}", result.result_index, text(fault)));
}

std::string RtlDispatcher::state() const {
    const DispatcherOutputs& out = model_->out();
    std::string text =
        fmt::format("cycle {}: state {}, {} kernels", model_->cycles(), state_name(out.state), out.kernels);
    if (out.fetch_valid) text += fmt::format(", asks for kernel {}", out.fetch_index);
    if (out.data_ready) text += fmt::format(", waits for kernel {}", out.fetch_index);
    if (out.instr_valid)
        text += fmt::format(", instruction {:#04x} of block n, k, p, q = {} with {} outputs: {} x {} PEs of {} x {}",
                            out.instr_ops, fmt::join(out.instr_position, ", "), fmt::join(out.instr_extent, " x "),
                            out.instr_rows, out.instr_columns, out.instr_row_outputs, out.instr_column_outputs);
    if (out.result_valid)
        text += fmt::format(", result {} of kernel {}", static_cast<unsigned>(out.result_status), out.result_index);
    return text;
}

}  // namespace switchyard::rtl
