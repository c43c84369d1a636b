// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/stage_compiler.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/brainstorm/fusion.h"

namespace switchyard::sched::brainstorm {

namespace {

/// Weights begin here, activations there; both within a device's memory as the kernels' segments see it.
constexpr std::uint64_t kWeights = std::uint64_t{1} << 40, kActivations = std::uint64_t{1} << 42;
constexpr std::uint64_t kBuffer = std::uint64_t{1} << 32;  ///< of one buffer
constexpr std::uint64_t kWeightAlignment = 256;

std::uint64_t aligned_weight_bytes(const std::vector<Wave>& waves) {
    std::uint64_t bytes = 0;
    for (const Wave& wave : waves)
        for (const CellOperator& op : wave) bytes += round_up(op.one.weight_bytes(), kWeightAlignment);
    return bytes;
}

GpuOperator for_cells(const CellOperator& op, std::uint64_t cells) {
    GpuOperator whole = op.one;
    const std::uint64_t units = op.cells == 0 ? 1 : std::max<std::uint64_t>(1, ceil_div(cells, op.cells));
    if (op.side_by_side == 0) whole.batch *= units;
    return whole;
}

/// `count` of them side by side in one launch.
GpuKernel repeated(GpuKernel kernel, std::uint64_t count) {
    const std::uint64_t ctas = kernel.ctas() * count;
    kernel.grid = {static_cast<std::uint32_t>(std::min<std::uint64_t>(ctas, kMaxGridX)), 1, 1};
    for (std::uint64_t* value :
         {&kernel.work.flops, &kernel.work.tensor_flops, &kernel.work.read_bytes, &kernel.work.written_bytes,
          &kernel.schedule.l2_bytes, &kernel.schedule.memory_instructions})
        *value *= count;
    return kernel;
}

void set_segments(GpuKernel& kernel, std::uint64_t input, std::uint64_t input_bytes, std::uint64_t weights,
                  std::uint64_t weight_bytes, std::uint64_t output, std::uint64_t output_bytes) {
    kernel.reads = {{input, input_bytes}};
    if (weight_bytes > 0) kernel.reads.push_back({weights, weight_bytes});
    kernel.writes = {{output, output_bytes}};
}

}  // namespace

const std::vector<std::pair<std::string, BranchDesign>>& branch_designs() {
    static const std::vector<std::pair<std::string, BranchDesign>> kDesigns{
        {"brt-serial", BranchDesign::serial},
        {"brt-vertical", BranchDesign::vertical},
        {"brt-horizontal", BranchDesign::horizontal},
        {"brt-batched", BranchDesign::batched},
        {"brt-einsum", BranchDesign::einsum}};
    return kDesigns;
}

std::uint64_t packets_of(const HostSteps& steps) {
    std::uint64_t packets = 0;
    for (const HostStep& step : steps) {
        packets += 2;
        if (step.speculation)
            packets += packets_of(step.speculation->check) + packets_of(step.speculation->predicted) +
                       packets_of(step.speculation->actual);
    }
    return packets;
}

StageCompiler::StageCompiler(const RoutedNetwork& network, BranchDesign design, const GpuDescription& gpu,
                             LibraryKernel library, std::vector<std::vector<std::uint64_t>> tuned)
    : network_(network), design_(design), gpu_(gpu), library_(std::move(library)) {
    std::uint64_t address = kWeights;
    for (const Stage& stage : network.stages) {
        weights_.push_back(address);
        address +=
            aligned_weight_bytes(stage.fixed) + aligned_weight_bytes({stage.gate}) + aligned_weight_bytes(stage.common);
        branch_weights_.emplace_back();
        for (std::size_t b = 0; stage.routed && b < stage.router.branches; ++b) {
            branch_weights_.back().push_back(address);
            address += aligned_weight_bytes(stage.branch(b).waves);
        }
    }
    std::size_t next = 0;
    for (const std::size_t stage : network.routed_stages())
        if (next < tuned.size()) tuned_[stage] = std::move(tuned[next++]);
}

std::uint64_t StageCompiler::branch_weights(std::size_t stage, std::size_t branch) const {
    return branch_weights_.at(stage).at(branch);
}

GpuKernel StageCompiler::scheduled(const GpuOperator& op, bool tuned) {
    const Key key{tuned,           static_cast<int>(op.kind),
                  op.batch,        op.in_channels,
                  op.out_channels, op.in_height,
                  op.in_width,     op.kernel,
                  op.stride,       op.groups};
    auto found = cache_.find(key);
    if (found == cache_.end()) {
        GpuKernel kernel = tuned ? tuned_kernel(op, gpu_) : library_(op);
        kernel.reads.clear();
        kernel.writes.clear();
        found = cache_.emplace(key, std::move(kernel)).first;
    }
    GpuKernel kernel = found->second;
    kernel.name = op.name;
    return kernel;
}

GpuKernel StageCompiler::kernel_of(const CellOperator& op, std::uint64_t cells, bool tuned, std::uint64_t weights,
                                   Buffers& buffers) {
    const GpuOperator whole = for_cells(op, cells);
    GpuKernel kernel = scheduled(whole, tuned && whole.kind != GpuOperator::Kind::pooling);
    std::uint64_t input = whole.input_bytes(), read = whole.weight_bytes(), output = whole.output_bytes();
    if (op.side_by_side > 0) {
        const std::uint64_t units = std::max<std::uint64_t>(1, ceil_div(cells, std::max<std::uint64_t>(1, op.cells)));
        const std::uint64_t problems = op.side_by_side * units;
        kernel = repeated(std::move(kernel), problems);
        input *= problems;
        read *= problems;
        output *= problems;
    }
    const std::uint64_t from = buffers.address + buffers.turn * kBuffer,
                        to = buffers.address + (1 - buffers.turn) * kBuffer;
    // An operand that is no weights is an activation, which lies beside the input.
    set_segments(kernel, from, input, op.weights ? weights : from + input, read, to, output);
    buffers.turn = 1 - buffers.turn;
    return kernel;
}

GpuKernel StageCompiler::elementwise(const std::string& name, std::uint64_t elements, Buffers& buffers) {
    CellOperator op = elementwise_layer(std::max<std::uint64_t>(1, elements));
    op.one.name = name;
    return kernel_of(op, 1, false, 0, buffers);
}

void StageCompiler::add(HostSteps& steps, GpuKernel kernel, unsigned queue) {
    steps.push_back(launch_step(std::make_shared<const GpuKernel>(std::move(kernel)), queue));
}

void StageCompiler::add_waves(HostSteps& steps, const std::vector<Wave>& waves, std::uint64_t cells, bool tuned,
                              bool fold, std::uint64_t weights, unsigned queue) {
    Buffers buffers{kActivations};
    for (const Wave& wave : waves)
        for (const CellOperator& op : wave) {
            add(steps, kernel_of(op, cells, tuned, weights, buffers), queue);
            weights += round_up(op.one.weight_bytes(), kWeightAlignment);
            for (unsigned i = 0; !fold && i < op.elementwise; ++i)
                add(steps, elementwise("elementwise", for_cells(op, cells).outputs(), buffers), queue);
        }
}

HostSteps StageCompiler::fixed(std::size_t index, std::uint64_t cells) {
    HostSteps steps;
    if (cells > 0) add_waves(steps, network_.stages.at(index).fixed, cells, false, true, weights_[index]);
    return steps;
}

HostSteps StageCompiler::gate(std::size_t index, std::uint64_t cells, unsigned queue) {
    const Stage& stage = network_.stages.at(index);
    HostSteps steps;
    if (cells == 0) return steps;
    std::vector<Wave> waves;
    for (const CellOperator& op : stage.gate) waves.push_back({op});
    add_waves(steps, waves, cells, tunes(), design_ != BranchDesign::serial,
              weights_[index] + aligned_weight_bytes(stage.fixed), queue);
    return steps;
}

HostSteps StageCompiler::common(std::size_t index, std::uint64_t cells) {
    const Stage& stage = network_.stages.at(index);
    HostSteps steps;
    if (cells > 0)
        add_waves(steps, stage.common, cells, tunes(), design_ != BranchDesign::serial,
                  weights_[index] + aligned_weight_bytes(stage.fixed) + aligned_weight_bytes({stage.gate}));
    return steps;
}

HostStep StageCompiler::profile(std::uint64_t updates) {
    Buffers buffers{kActivations};
    GpuKernel kernel = elementwise("profile", std::max<std::uint64_t>(1, updates), buffers);
    return launch_step(std::make_shared<const GpuKernel>(std::move(kernel)));
}

RoutedSteps StageCompiler::branches(std::size_t index, const std::vector<std::uint64_t>& loads, std::uint64_t cells,
                                    std::uint64_t capacity, const std::vector<bool>& here) {
    const Stage& stage = network_.stages.at(index);
    if (loads.size() != stage.router.branches)
        throw InputError(fmt::format("expected loads of {} branches, found {}", stage.router.branches, loads.size()));
    RoutedSteps result;
    for (const std::uint64_t load : loads) result.routed_cells += load;
    if (design_ == BranchDesign::serial || design_ == BranchDesign::vertical)
        serial(result, index, loads, cells);
    else if (design_ == BranchDesign::horizontal)
        fused(result, index, loads, cells);
    else
        batched(result, index, loads, cells, capacity, here);
    return result;
}

void StageCompiler::serial(RoutedSteps& result, std::size_t index, const std::vector<std::uint64_t>& loads,
                           std::uint64_t cells) {
    const Stage& stage = network_.stages[index];
    const bool plain = design_ == BranchDesign::serial, visits_all = plain && stage.loops_over_branches;
    result.host_needs_loads = !visits_all;
    Buffers buffers{kActivations};
    for (std::size_t b = 0; b < loads.size(); ++b) {
        const Branch& branch = stage.branch(b);
        const std::uint64_t load = loads[b];
        // Two boolean indices: a mask, then the numbers of its elements, of which the host must know how many.
        if (visits_all) {
            add(result.steps, elementwise("mask", cells, buffers));
            add(result.steps, elementwise("nonzero", cells, buffers));
            result.steps.push_back(read_back_step(8));
        }
        if (load > 0 && !branch.waves.empty()) {
            if (plain && stage.cell_elements > 1)
                add(result.steps, elementwise("gather", load * stage.cell_elements, buffers));
            const std::vector<std::uint64_t> sizes = plain || tuned_.count(index) == 0
                                                         ? std::vector<std::uint64_t>{load}
                                                         : padded_loads(tuned_[index], load);
            for (const std::uint64_t size : sizes) {
                add_waves(result.steps, branch.waves, size, tunes(), !plain, branch_weights(index, b));
                result.padded_cells += size;
            }
            if (plain && !visits_all && stage.cell_elements > 1)
                add(result.steps, elementwise("scatter", load * stage.cell_elements, buffers));
        }
        if (visits_all) {
            add(result.steps, elementwise("nonzero", cells, buffers));
            result.steps.push_back(read_back_step(8));
            if (load > 0) add(result.steps, elementwise("scatter", load * stage.cell_elements, buffers));
        }
    }
}

void StageCompiler::fused(RoutedSteps& result, std::size_t index, const std::vector<std::uint64_t>& loads,
                          std::uint64_t cells) {
    const Stage& stage = network_.stages[index];
    struct Part {
        std::size_t branch;
        std::uint64_t cells, weights;
        Buffers buffers;
    };
    std::vector<Part> parts;
    std::uint64_t buffer = kActivations;
    std::size_t waves = 0;
    for (std::size_t b = 0; b < loads.size(); ++b) {
        if (loads[b] == 0 || stage.branch(b).waves.empty()) continue;
        const std::vector<std::uint64_t> sizes =
            tuned_.count(index) == 0 ? std::vector<std::uint64_t>{loads[b]} : padded_loads(tuned_[index], loads[b]);
        for (const std::uint64_t size : sizes) {
            parts.push_back({b, size, branch_weights(index, b), {buffer}});
            buffer += 2 * kBuffer;
            result.padded_cells += size;
        }
        waves = std::max(waves, stage.branch(b).waves.size());
    }
    if (parts.empty()) return;
    // Counts the cells of each branch and writes where each cell goes. One branch needs no addresses.
    Buffers buffers{kActivations};
    if (stage.router.branches > 1 && !stage.host_decides)
        add(result.steps, elementwise("address", cells + stage.router.branches, buffers));
    for (std::size_t w = 0; w < waves; ++w) {
        std::vector<GpuKernel> kernels;
        for (Part& part : parts) {
            const std::vector<Wave>& of_branch = stage.branch(part.branch).waves;
            if (w >= of_branch.size()) continue;
            const unsigned turn = part.buffers.turn;
            for (const CellOperator& op : of_branch[w]) {
                part.buffers.turn = turn;  // operators of a wave read the same buffer
                kernels.push_back(kernel_of(op, part.cells, true, part.weights, part.buffers));
                part.weights += round_up(op.one.weight_bytes(), kWeightAlignment);
            }
        }
        add(result.steps, fused_kernel("fused", kernels));
    }
}

void StageCompiler::batched(RoutedSteps& result, std::size_t index, const std::vector<std::uint64_t>& loads,
                            std::uint64_t cells, std::uint64_t capacity, const std::vector<bool>& local) {
    const Stage& stage = network_.stages[index];
    if (stage.branches.size() != 1)
        throw InputError(network_.file, 0, "",
                         "expected branches that are alike for batched and einsum, found different ones");
    std::uint64_t largest = 0;
    for (const std::uint64_t load : loads) largest = std::max(largest, load);
    std::vector<std::size_t> experts;
    for (std::size_t b = 0; b < loads.size(); ++b)
        if (local.empty() || local[b]) experts.push_back(b);
    const std::uint64_t here = experts.size();
    const bool einsum = design_ == BranchDesign::einsum;
    const std::uint64_t rows = einsum ? capacity : largest;
    if (rows < largest)
        throw InputError(fmt::format("expected a load of at most the capacity of {} cells, found {}", rows, largest));
    // The padded size comes from the largest load of this batch.
    result.host_needs_loads = !einsum;
    if (rows == 0 || here == 0) return;
    const std::uint64_t slots = rows * here, elements = stage.cell_elements;
    result.padded_cells = slots;
    Buffers buffers{kActivations};
    const auto moves = [&](std::uint64_t m, std::uint64_t k) {
        CellOperator op = linear_layer(m, k, elements);
        op.weights = false;
        add(result.steps, kernel_of(op, 1, false, 0, buffers));
    };
    if (einsum)
        moves(slots, std::max<std::uint64_t>(1, cells));
    else
        add(result.steps, elementwise("encode", slots * elements, buffers));
    std::uint64_t weights = branch_weights(index, experts.front());
    const std::uint64_t apart = aligned_weight_bytes(stage.branches[0].waves);
    for (const Wave& wave : stage.branches[0].waves)
        for (const CellOperator& op : wave) {
            const unsigned turn = buffers.turn;
            GpuKernel one = kernel_of(op, rows, false, weights, buffers), all = repeated(one, here);
            all.reads.clear();
            all.writes.clear();
            for (std::size_t b = 0; b < experts.size(); ++b) {
                // Experts lie one behind the other in the weights, their cells in the activations.
                for (const MemorySegment& segment : one.reads)
                    all.reads.push_back(
                        {segment.start + b * (segment.start >= kActivations ? segment.size : apart), segment.size});
                for (const MemorySegment& segment : one.writes)
                    all.writes.push_back({segment.start + b * segment.size, segment.size});
            }
            limit_segments(all);
            buffers.turn = 1 - turn;
            add(result.steps, std::move(all));
            weights += round_up(op.one.weight_bytes(), kWeightAlignment);
            for (unsigned i = 0; i < op.elementwise; ++i)
                add(result.steps, elementwise("activation", here * for_cells(op, rows).outputs(), buffers));
        }
    if (einsum)
        moves(std::max<std::uint64_t>(1, cells), slots);
    else
        add(result.steps, elementwise("decode", std::max<std::uint64_t>(1, cells) * elements, buffers));
}

}  // namespace switchyard::sched::brainstorm
