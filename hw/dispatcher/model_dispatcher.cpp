// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/dispatcher/model_dispatcher.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::hw {

void ModelDispatcher::rebuild(std::uint32_t kernels, sc_core::sc_time& delay) {
    directory_.clear();
    try {
        for (std::uint32_t index = 0; index < kernels; ++index) {
            KernelBytes bytes;
            read_kernel(index, bytes, delay);
            try {
                directory_.append(bytes);
            } catch (const InputError& error) {
                throw std::runtime_error(fmt::format("kernel {}: {}", index, error.what()));
            }
        }
    } catch (const std::exception&) {
        directory_.clear();
        throw;
    }
}

void ModelDispatcher::execute(DispatchExtension& request, sc_core::sc_time& delay) {
    const std::uint32_t index = search(request, delay);
    request.kernel = static_cast<int>(index);
    if (request.dyn_dim > 0) {
        if (!request.continued) ++stats_.kernels_selected[index];
        fetch(index, delay);
        try {
            run(directory_[index].kernel, request, delay);
        } catch (const std::domain_error& error) {
            throw std::runtime_error(fmt::format("kernel {}: {}", index, error.what()));
        }
        stats_.blocks_issued += request.blocks_issued;
        stats_.blocks_skipped += request.blocks_skipped;
    }
    send(request.multicast, request, delay);
}

std::uint32_t ModelDispatcher::search(DispatchExtension& request, sc_core::sc_time& delay) {
    const std::size_t first = request.kernel_first, count = request.kernel_count;
    if (first + count > directory_.size())
        throw std::out_of_range(range_error(first, first + count, directory_.size()));
    if (!directory_.sorted(first, count)) throw std::domain_error(order_error(first, first + count));
    const unsigned steps = search_steps(count);
    stats_.search_cycles += steps;
    request.search_cycles = steps;
    delay += clock().cycles(steps);
    const std::size_t fit = directory_.best_fit(first, count, request.selected_by());
    if (fit == first + count) {
        ++stats_.none_found;
        throw std::domain_error(fit_error(request, directory_.largest(first, count)));
    }
    return static_cast<std::uint32_t>(fit);
}

void ModelDispatcher::fetch(std::uint32_t index, sc_core::sc_time& delay) {
    KernelBytes bytes;
    read_kernel(index, bytes, delay);
    if (bytes == directory_[index].bytes) return;
    try {
        decode_kernel(bytes.data());
    } catch (const InputError& error) {
        throw std::runtime_error(fmt::format("kernel {}: {}", index, error.what()));
    }
    throw std::runtime_error(changed_error(index));
}

void AnalyticDispatcher::rebuild(std::uint32_t kernels, sc_core::sc_time& delay) {
    plans_.clear();
    ModelDispatcher::rebuild(kernels, delay);
}

void AnalyticDispatcher::run(const Kernel& kernel, DispatchExtension& request, sc_core::sc_time& delay) {
    const NestPlan& plan = plans_[request.kernel].plan(kernel, request.rank, request.dyn_dim);
    request.blocks_issued = plan.issued;
    request.blocks_skipped = plan.skipped;
    Command command;
    command.vector_op = kernel.vector_op != 0;
    command.reduction = plan.reduction;
    command.nest = &plan.loops;
    std::optional<KernelNest> nest;
    std::optional<ValueAddresses> addresses;
    if (request.values != nullptr && !plan.runs.empty()) {
        nest.emplace(kernel, request.rank, request.dyn_dim);
        addresses.emplace(kernel, *nest, *request.values, request.weight_offset, request.output_offset);
    }
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
        command.shape = plan.runs[i].shape;
        command.position = plan.runs[i].position;
        command.repeats = plan.runs[i].repeats;
        command.first = i == 0;
        command.last = i + 1 == plan.runs.size();
        if (addresses)
            issue_with_values(command, plan.runs[i], *addresses, request, delay);
        else
            issue(command, request, delay);
    }
}

void AnalyticDispatcher::issue_with_values(Command command, const KernelNest::Run& run, ValueAddresses& addresses,
                                           DispatchExtension& request, sc_core::sc_time& delay) {
    constexpr std::uint64_t kAtATime = 64;
    const bool first = command.first, last = command.last;
    for (std::uint64_t begin = 0; begin < run.repeats; begin += kAtATime) {
        const std::uint64_t end = std::min(run.repeats, begin + kAtATime);
        if (blocks_.size() < end - begin) blocks_.resize(end - begin);
        for (std::uint64_t i = begin; i < end; ++i) {
            OutputIndex position = run.position;
            std::uint64_t rest = i;
            for (unsigned axis = 0; axis < position.size(); ++axis) {
                position[axis] += static_cast<std::uint32_t>(rest % run.count[axis]) * run.step[axis];
                rest /= run.count[axis];
            }
            if (i == begin) command.position = position;
            addresses.find(position, blocks_[i - begin]);
        }
        command.addresses = blocks_.data();
        command.repeats = end - begin;
        command.first = first && begin == 0;
        command.last = last && end == run.repeats;
        issue(command, request, delay);
    }
}

void WalkDispatcher::run(const Kernel& kernel, DispatchExtension& request, sc_core::sc_time& delay) {
    const KernelNest nest(kernel, request.rank, request.dyn_dim);
    Command command;
    command.vector_op = kernel.vector_op != 0;
    command.reduction = nest.reduction();
    std::optional<ValueAddresses> addresses;
    BlockAddresses block_addresses;
    request.blocks_skipped = nest.walk([&](const KernelNest::Visit& block) {
        ++request.blocks_issued;
        command.shape = block.shape;
        command.position = block.position;
        command.first = block.first;
        command.last = block.last;
        if (request.values != nullptr) {
            if (!addresses)
                addresses.emplace(kernel, nest, *request.values, request.weight_offset, request.output_offset);
            addresses->find(block.position, block_addresses);
            command.addresses = &block_addresses;
        }
        issue(command, request, delay);
    });
}

std::unique_ptr<KernelDispatcher> make_kernel_dispatcher(const char* name, const KernelDispatcher::Config& config,
                                                         SimulationRegistry& registry) {
    if (config.impl == "analytic") return std::make_unique<AnalyticDispatcher>(name, config, registry);
    if (config.impl == "walk") return std::make_unique<WalkDispatcher>(name, config, registry);
    throw InputError(not_made("dispatcher.impl", kDispatcherImplementations, config.impl, "make_kernel_dispatcher"));
}

}  // namespace switchyard::hw
