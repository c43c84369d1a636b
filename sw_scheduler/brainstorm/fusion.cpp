// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/fusion.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace switchyard::sched::brainstorm {

std::vector<std::uint64_t> tuned_loads(const CellProfile& profile, std::size_t router,
                                       const std::vector<double>& percentiles) {
    std::vector<std::uint64_t> loads;
    for (const double percentile : percentiles) {
        const std::uint64_t load = profile.load_percentile(router, percentile);
        if (load > 0) loads.push_back(load);
    }
    if (loads.empty()) throw InputError(fmt::format("profile: router {} has no cells or no percentiles", router));
    std::sort(loads.begin(), loads.end());
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    return loads;
}

std::vector<std::uint64_t> padded_loads(const std::vector<std::uint64_t>& tuned, std::uint64_t load) {
    if (tuned.empty()) throw InputError("no tuned kernels");
    std::vector<std::uint64_t> sizes;
    for (; load > tuned.back(); load -= tuned.back()) sizes.push_back(tuned.back());
    if (load > 0) sizes.push_back(*std::lower_bound(tuned.begin(), tuned.end(), load));
    return sizes;
}

GpuKernel fused_kernel(const std::string& name, const std::vector<GpuKernel>& kernels) {
    if (kernels.empty()) throw InputError(name + ": no kernels to fuse");
    GpuKernel fused = kernels.front();
    fused.name = name;
    std::uint64_t ctas = fused.ctas();
    std::uint32_t threads = fused.threads_per_cta();
    for (std::size_t i = 1; i < kernels.size(); ++i) {
        const GpuKernel& kernel = kernels[i];
        ctas += kernel.ctas();
        threads = std::max(threads, kernel.threads_per_cta());
        fused.registers_per_thread = std::max(fused.registers_per_thread, kernel.registers_per_thread);
        fused.shared_bytes = std::max(fused.shared_bytes, kernel.shared_bytes);
        fused.work.flops += kernel.work.flops;
        fused.work.tensor_flops += kernel.work.tensor_flops;
        fused.work.read_bytes += kernel.work.read_bytes;
        fused.work.written_bytes += kernel.work.written_bytes;
        fused.schedule.l2_bytes += kernel.schedule.l2_bytes;
        fused.schedule.memory_instructions += kernel.schedule.memory_instructions;
        fused.schedule.dependent_loads = std::max(fused.schedule.dependent_loads, kernel.schedule.dependent_loads);
    }
    fused.grid = {static_cast<std::uint32_t>(ctas), 1, 1};
    fused.block = {threads, 1, 1};
    return fused;
}

const std::vector<std::pair<std::string, MoeDesign>>& moe_designs() {
    static const std::vector<std::pair<std::string, MoeDesign>> designs{{"moe-serial", MoeDesign::serial},
                                                                        {"moe-vertical", MoeDesign::vertical},
                                                                        {"moe-horizontal", MoeDesign::horizontal},
                                                                        {"moe-batched", MoeDesign::batched},
                                                                        {"moe-einsum", MoeDesign::einsum}};
    return designs;
}

MoeCompiler::MoeCompiler(const MoeLayer& layer, const GpuDescription& gpu, std::vector<std::uint64_t> tuned,
                         std::uint64_t capacity)
    : layer_(layer), gpu_(gpu), tuned_(std::move(tuned)), capacity_(capacity) {}

GpuKernel MoeCompiler::scheduled(const GpuOperator& op) {
    const auto key = std::make_tuple(op.kind, op.batch, op.in_channels, op.out_channels);
    auto found = cache_.find(key);
    if (found == cache_.end()) {
        found = cache_.emplace(key, tuned_kernel(op, gpu_)).first;
        // One queue runs the kernels in order; no component looks for their dependences.
        found->second.reads.clear();
        found->second.writes.clear();
    }
    GpuKernel kernel = found->second;
    kernel.name = op.name;
    return kernel;
}

GpuKernel MoeCompiler::linear(std::uint64_t rows, std::uint64_t k, std::uint64_t n) {
    GpuOperator op = linear_operator(rows, k, n);
    return scheduled(op);
}

GpuKernel MoeCompiler::each_element(const std::string& name, std::uint64_t elements) {
    GpuOperator op;
    op.name = name;
    op.kind = GpuOperator::Kind::pooling;
    op.batch = std::max<std::uint64_t>(1, elements / layer_.hidden);
    op.in_channels = op.out_channels = op.groups = layer_.hidden;
    return scheduled(op);
}

/// Scores of all cells, softmax, and the choice, which writes a branch a cell.
std::vector<GpuKernel> MoeCompiler::router() {
    const std::uint64_t scores = layer_.cells * layer_.branches;
    return {linear(layer_.cells, layer_.hidden, layer_.branches), each_element("softmax", scores),
            each_element("choose", scores)};
}

MoeKernels MoeCompiler::compile(MoeDesign design, const std::vector<std::uint64_t>& loads) {
    if (loads.size() != layer_.branches)
        throw InputError(fmt::format("loads of {} branches of {}", loads.size(), layer_.branches));
    MoeKernels result;
    result.kernels = router();
    result.before_loads = result.kernels.size();
    const std::uint64_t h = layer_.hidden, f = layer_.inner;
    const auto add = [&](GpuKernel kernel) { result.kernels.push_back(std::move(kernel)); };
    for (const std::uint64_t load : loads) result.routed_cells += load;
    if (result.routed_cells == 0) return result;
    const std::uint64_t most = *std::max_element(loads.begin(), loads.end());

    if (design == MoeDesign::serial) {
        result.host_needs_loads = true;
        for (const std::uint64_t load : loads) {
            if (load == 0) continue;
            add(each_element("gather", load * h));
            add(linear(load, h, f));
            add(each_element("activation", load * f));
            add(linear(load, f, h));
            add(each_element("scatter", load * h));
            result.padded_cells += load;
        }
    } else if (design == MoeDesign::vertical || design == MoeDesign::horizontal) {
        std::vector<GpuKernel> first, second;
        for (const std::uint64_t load : loads)
            for (const std::uint64_t rows : padded_loads(tuned_, load)) {
                first.push_back(linear(rows, h, f));
                second.push_back(linear(rows, f, h));
                result.padded_cells += rows;
            }
        if (design == MoeDesign::vertical) {
            result.host_needs_loads = true;
            for (std::size_t i = 0; i < first.size(); ++i) {
                add(std::move(first[i]));
                add(std::move(second[i]));
            }
        } else {
            // Counts the cells of each branch and writes where each cell goes.
            add(each_element("address", layer_.cells + layer_.branches));
            add(fused_kernel("fused_first", first));
            add(fused_kernel("fused_second", second));
        }
    } else {
        const std::uint64_t rows = design == MoeDesign::batched ? most : capacity_;
        if (rows < most) throw InputError(fmt::format("a load of {} cells, the capacity is {}", most, rows));
        const std::uint64_t slots = rows * layer_.branches;
        result.padded_cells = slots;
        if (design == MoeDesign::batched)
            add(each_element("encode", slots * h));
        else
            add(linear(slots, layer_.cells, h));
        add(fused_kernel("batched_first", std::vector<GpuKernel>(layer_.branches, linear(rows, h, f))));
        add(each_element("activation", slots * f));
        add(fused_kernel("batched_second", std::vector<GpuKernel>(layer_.branches, linear(rows, f, h))));
        if (design == MoeDesign::batched)
            add(each_element("decode", layer_.cells * h));
        else
            add(linear(layer_.cells, slots, h));
    }
    return result;
}

}  // namespace switchyard::sched::brainstorm
