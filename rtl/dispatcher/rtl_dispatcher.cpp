// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/dispatcher/rtl_dispatcher.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {
namespace {

constexpr std::uint64_t kDispatcherPatience = 1 << 20;  // cycles in which nothing is at a port: longer than any search

}  // namespace

RtlDispatcher::RtlDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                             std::unique_ptr<DispatcherModel> model, const std::string& waveform)
    : KernelDispatcher(name, config, registry), model_(std::move(model)) {
    model_->keep_waveform(waveform.empty() ? std::string(this->name()) + ".rtl.fst" : waveform);
}

void RtlDispatcher::fault(const std::string& message) {
    throw ModelError(*this, message + "; " + state() + model_->evidence());
}

void RtlDispatcher::rebuild(std::uint32_t kernels, sc_core::sc_time& delay) {
    model_->in.cmd_configure = true;
    model_->in.cmd_first = 0;
    model_->in.cmd_count = kernels;
    directory_.clear();
    run(nullptr, delay);
    try {
        finish({});
    } catch (...) {
        directory_.clear();
        throw;
    }
    if (directory_.size() != kernels || model_->out().kernels != kernels)
        fault(fmt::format("the RTL has fetched {} and keeps {} kernels of {}", directory_.size(), model_->out().kernels,
                          kernels));
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
    const bool found = status == DispatcherStatus::ok || status > DispatcherStatus::full;
    if (found) check_kernel(request);
    stats_.search_cycles += out.result_search_cycles;
    if (status == DispatcherStatus::none_found) ++stats_.none_found;
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

void RtlDispatcher::check_kernel(const DispatchExtension& request) {
    const DispatcherOutputs& out = model_->out();
    const std::size_t first = request.kernel_first, count = request.kernel_count;
    const std::uint32_t index = out.result_index;
    if (index < first || index >= first + count || index >= directory_.size())
        fault(fmt::format("the RTL selects kernel {} among [{}, {}) of {}", index, first, first + count,
                          directory_.size()));
    if (const std::size_t fit = directory_.best_fit(first, count, request.selected_by()); index != fit)
        fault(
            fmt::format("the RTL selects kernel {} for dyn_dim {}, not kernel {}", index, request.selected_by(), fit));
    if (const unsigned steps = hw::search_steps(count); out.result_search_cycles != steps)
        fault(fmt::format("the RTL counts {} search cycles instead of {}", out.result_search_cycles, steps));
    if (request.dyn_dim == 0) return;
    const std::uint64_t times = stats_.kernels_selected[index] + (request.continued ? 0 : 1);
    if (out.result_invocations != static_cast<std::uint32_t>(times))
        fault(fmt::format("the RTL counts {} invocations of kernel {} instead of {}", out.result_invocations, index,
                          times));
    if (out.result_status != DispatcherStatus::ok) return;
    if (!nest_ || out.result_issued != nest_->issued() || out.result_skipped != nest_->skipped() ||
        blocks_ != nest_->issued())
        fault(fmt::format("the RTL has issued {} blocks, counts {} and {} skipped; the kernel has {} and {}", blocks_,
                          out.result_issued, out.result_skipped, nest_ ? nest_->issued() : 0,
                          nest_ ? nest_->skipped() : 0));
}

void RtlDispatcher::step() {
    try {
        model_->step();
    } catch (const RtlFault& error) {
        throw ModelError(*this, error.what());
    }
}

void RtlDispatcher::run(DispatchExtension* request, sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    const DispatcherOutputs& out = model_->out();
    refusal_ = nullptr;
    fetches_ = 0;
    blocks_ = 0;
    addresses_.reset();
    nest_.reset();
    kernel_.reset();
    in.cmd_valid = true;
    step();
    in.cmd_valid = false;
    for (std::uint64_t idle = 0; !out.result_valid;) {
        if (out.fetch_valid) {
            if (request != nullptr) request->kernel = static_cast<int>(out.fetch_index);
            serve_fetch(request, delay);
            idle = 0;
        } else if (out.instr_valid) {
            if (request == nullptr) fault("the RTL issues an instruction while it is configured");
            serve_instruction(*request, delay);
            idle = 0;
        } else {
            if (++idle > kDispatcherPatience)
                fault(fmt::format("the RTL has done nothing for {} cycles", kDispatcherPatience));
            step();
            delay += clock().cycles(1);
        }
    }
}

void RtlDispatcher::check_fetch(const DispatchExtension& request, std::uint32_t index) {
    const std::size_t first = request.kernel_first, count = request.kernel_count;
    if (fetches_ > 0 || request.dyn_dim == 0 || first + count > directory_.size() || !directory_.sorted(first, count))
        fault(fmt::format("fetch {} of a dispatch with dyn_dim {} is of kernel {} among [{}, {})", fetches_,
                          request.dyn_dim, index, first, first + count));
    const std::size_t fit = directory_.best_fit(first, count, request.selected_by());
    if (index != fit)
        fault(fmt::format("fetch {} of the command is of kernel {}, not of kernel {}, which fits dyn_dim {}", fetches_,
                          index, fit, request.selected_by()));
}

void RtlDispatcher::serve_fetch(const DispatchExtension* request, sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    const std::uint32_t index = model_->out().fetch_index;
    if (request == nullptr && (index != fetches_ || index >= in.cmd_count))
        fault(fmt::format("fetch {} of the configuration is of kernel {}", fetches_, index));
    if (request != nullptr) check_fetch(*request, index);
    ++fetches_;
    in.fetch_ready = true;
    step();
    in.fetch_ready = false;
    try {
        read_kernel(index, fetched_, delay);
        try {
            if (request == nullptr) {
                directory_.append(fetched_);
            } else {
                kernel_ = decode_kernel(fetched_.data());
                nest_.emplace(*kernel_, request->rank, request->dyn_dim);
            }
        } catch (const InputError&) {         // the RTL is to find that out, see finish()
        } catch (const std::domain_error&) {  // the same
        }
    } catch (const ModelError&) {
        throw;
    } catch (const std::runtime_error&) {
        refusal_ = std::current_exception();
        in.data_error = true;
    }
    in.data = fetched_;
    in.data_valid = true;
    step();
    in.data_valid = in.data_error = false;
}

void RtlDispatcher::serve_instruction(DispatchExtension& request, sc_core::sc_time& delay) {
    DispatcherInputs& in = model_->in;
    const DispatcherOutputs& out = model_->out();
    const bool sends = (out.instr_ops & (kOpUnicast | kOpMulticast)) != 0;
    if (sends && out.instr_ops != (request.multicast ? kOpMulticast : kOpUnicast))
        fault("the RTL sends another way than it has been asked for");
    if (sends && request.dyn_dim > 0 && (!nest_ || blocks_ != nest_->issued()))
        fault(fmt::format("the RTL sends after {} blocks of {}", blocks_, nest_ ? nest_->issued() : 0));
    Command block = sends ? Command{} : command(request);
    try {
        if (sends) {
            send(request.multicast, request, delay);
        } else {
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
    step();
    in.instr_ready = in.instr_error = false;
}

hw::KernelDispatcher::Command RtlDispatcher::command(const DispatchExtension& request) {
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

    if (!nest_ || request.dyn_dim == 0) fault("the RTL issues a block without a kernel");
    const std::optional<hw::KernelNest::Visit> block = nest_->block_at(command.position);
    if (!block || blocks_ == nest_->issued()) fault("the RTL issues a block that the kernel does not have");
    const hw::BlockShape &shape = block->shape, &shown = command.shape;
    if (shown.rows != shape.rows || shown.columns != shape.columns || shown.row_outputs != shape.row_outputs ||
        shown.column_outputs != shape.column_outputs || out.instr_extent != nest_->extent_at(command.position))
        fault(fmt::format("the RTL's block should have {} x {} PEs of {} x {}, {} outputs", shape.rows, shape.columns,
                          shape.row_outputs, shape.column_outputs, shape.outputs));
    if (command.first != block->first || command.last != block->last || command.reduction != nest_->reduction() ||
        command.vector_op != (kernel_->vector_op != 0))
        fault(fmt::format("the RTL's block should be{}{} with a reduction of {}", block->first ? " the first," : "",
                          block->last ? " the last," : "", nest_->reduction()));
    ++blocks_;
    return command;
}

const BlockAddresses* RtlDispatcher::addresses(const DispatchExtension& request) {
    const DispatcherOutputs& out = model_->out();
    if (!addresses_) {
        try {
            addresses_.emplace(*kernel_, *nest_, *request.values, request.weight_offset, request.output_offset);
        } catch (const std::domain_error& error) {
            throw std::runtime_error(fmt::format("kernel {}: {}", request.kernel, error.what()));
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
        fault(fmt::format("the RTL's addresses {:#x}, {:#x}, {:#x} should be {:#x}, {:#x}, {:#x}",
                          out.instr_input_address, out.instr_weight_address, out.instr_output_address, input, weights,
                          output));
    return &block_;
}

void RtlDispatcher::finish(const DispatchExtension& request) {
    const DispatcherOutputs result = model_->out();
    const std::size_t first = model_->in.cmd_first, end = first + model_->in.cmd_count, known = directory_.size();
    const bool configures = model_->in.cmd_configure;
    const auto require = [this](bool holds, const std::string& otherwise) {
        if (!holds) fault("the RTL reports " + otherwise);
    };
    using Status = DispatcherStatus;
    require(result.result_status <= Status::send_refused,
            fmt::format("status {}", static_cast<unsigned>(result.result_status)));
    if (result.result_status == Status::out_of_range)
        require(!configures && end > known,
                fmt::format("that kernels [{}, {}) are not among its {}", first, end, known));
    if (result.result_status == Status::unsorted || result.result_status == Status::none_found) {
        require(!configures && end <= known, fmt::format("a search in kernels [{}, {}) of {}", first, end, known));
        const bool sorted = directory_.sorted(first, end - first);
        require(sorted != (result.result_status == Status::unsorted),
                fmt::format("that kernels [{}, {}) are {}", first, end, sorted ? "not sorted" : "sorted"));
        if (sorted)
            require(directory_.best_fit(first, end - first, request.selected_by()) == end &&
                        directory_.largest(first, end - first) == result.result_largest,
                    fmt::format("that kernels [{}, {}) end with {} and that none fits dyn_dim {}", first, end,
                                result.result_largest, request.selected_by()));
    }
    if (result.result_status == Status::full)
        require(configures && end > kDispatcherKernels, fmt::format("that {} kernels are too many", end));
    if (result.result_status == Status::fetch_failed || result.result_status == Status::refused ||
        result.result_status == Status::send_refused)
        require(refusal_ != nullptr, "a refusal that nobody gave");
    else
        require(refusal_ == nullptr, "nothing of a refusal");

    model_->in.result_ready = true;
    step();
    model_->in.result_ready = false;
    switch (result.result_status) {
        case Status::ok:
            return;
        case Status::out_of_range:
            throw std::out_of_range(range_error(first, end, result.kernels));
        case Status::unsorted:
            throw std::domain_error(order_error(first, end));
        case Status::none_found:
            throw std::domain_error(fit_error(request, result.result_largest));
        case Status::full:
            throw std::runtime_error(
                fmt::format("expected at most {} kernels, as the directory holds, found {}", kDispatcherKernels, end));
        case Status::bad_kernel:
            try {
                decode_kernel(fetched_.data());
            } catch (const InputError& error) {
                throw std::runtime_error(fmt::format("kernel {}: {}", result.result_index, error.what()));
            }
            fault(fmt::format("the RTL takes good kernel {} for bad", result.result_index));
        case Status::changed:
            require(result.result_index < known && directory_[result.result_index].bytes != fetched_,
                    fmt::format("that kernel {} has changed", result.result_index));
            throw std::runtime_error(changed_error(result.result_index));
        case Status::fetch_failed:
        case Status::refused:
        case Status::send_refused:
            std::rethrow_exception(refusal_);
        default:
            break;
    }
    const std::string broken = text(
        static_cast<hw::NestFault>(static_cast<unsigned>(result.result_status) - static_cast<unsigned>(Status::units)));
    require(!nest_, "that good kernel " + std::to_string(result.result_index) + " is bad: " + broken);
    throw std::runtime_error(fmt::format("kernel {}: {}", result.result_index, broken));
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
