// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/gpu_schedule.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::sched {

namespace {

constexpr double kWarp = 32;
constexpr std::uint32_t kMinThreads = 32, kMaxThreads = 1024, kMaxStagedBytes = 48 * 1024;
constexpr std::uint64_t kMaxTilePixels = 512, kMaxTileChannels = 256, kMaxTile = 16384;
constexpr std::uint64_t kMaxThreadSide = 32, kMaxThreadTile = 128, kMaxStep = 128;
/// TVM: hardware_params.max_threads_per_block of RuleCrossThreadReduction.
constexpr std::uint64_t kMaxReducedOutputs = 1024;
constexpr std::uint32_t kOwnRegisters = 20;  ///< of a thread, besides its tile: addresses, counters
constexpr double kMaxStagedRegisters = 32;
constexpr double kElement = 4;  ///< bytes

std::vector<std::uint64_t> divisors(std::uint64_t value, std::uint64_t limit) {
    std::vector<std::uint64_t> result;
    for (std::uint64_t i = 1; i <= std::min(value, limit); ++i)
        if (value % i == 0) result.push_back(i);
    return result;
}

/// Output pixels as tiles, and strides, as the kernel computes them.
struct Pixels {
    std::uint64_t batch, height, width, stride;
};

Pixels pixels_of(const GpuOperator& op) {
    if (op.kind != GpuOperator::Kind::transposed_convolution) return {op.batch, op.out_height, op.out_width, op.stride};
    // On the input with zeros in it, a convolution of stride 1.
    return {op.batch, op.out_height, op.out_width, 1};
}

/// Threads share the sum of one output each CTA.
void add_cross_thread(const GpuOperator& op, std::vector<GpuSchedule>& list) {
    const auto reduction = static_cast<double>(op.reduction());
    for (std::uint32_t threads = kMinThreads; threads <= kMaxThreads; threads *= 2) {
        const double warps = threads / kWarp, terms = std::ceil(reduction / threads);
        const double sum_steps = std::log2(kWarp) + std::log2(warps);  // a tree over the threads
        GpuSchedule s;
        s.ctas = static_cast<double>(op.outputs());
        s.threads = threads;
        s.registers = 32;
        s.shared_bytes = 4 * threads;
        s.multiply_adds = warps * (terms + sum_steps);
        s.memory_instructions = warps * (2 * terms + sum_steps);
        s.l2_bytes = 2 * kElement * reduction;
        s.dependent_loads = 2;
        list.push_back(s);
    }
}

/// Each thread computes outputs that lie beside each other in a row.
void add_direct(const GpuOperator& op, std::vector<GpuSchedule>& list) {
    const auto kernel = static_cast<double>(op.kernel), taps = static_cast<double>(op.taps());
    const double channels = static_cast<double>(op.reduction()) / taps;
    const double bytes_an_output = static_cast<double>(op.input_bytes()) / static_cast<double>(op.output_bytes());
    for (const std::uint32_t threads : {32u, 64u, 128u, 256u}) {
        for (const std::uint32_t each : {1u, 2u, 4u, 8u}) {
            const double warps = threads / kWarp, outputs = static_cast<double>(threads) * each;
            const double inputs = channels * kernel * ((each - 1) * static_cast<double>(op.stride) + kernel);
            GpuSchedule s;
            s.ctas = std::ceil(static_cast<double>(op.outputs()) / outputs);
            s.threads = threads;
            s.registers = kOwnRegisters + 4 + 2 * each;
            s.multiply_adds = warps * each * channels * taps;
            const double weights = op.kind == GpuOperator::Kind::pooling ? 0 : channels * taps / 4;
            s.memory_instructions = warps * (inputs + each + weights);
            s.l2_bytes = outputs * kElement * (bytes_an_output + 1);
            s.dependent_loads = 2;
            list.push_back(s);
        }
    }
}

/// One tile of pixels and channels.
struct Tile {
    std::uint64_t pixels, channels;
    double inputs;  ///< of one input channel, with the rim that the filter needs
};

/// All ways to share a tile among threads and to cut its reduction.
void add_tile(const GpuOperator& op, const Tile& tile, std::vector<GpuSchedule>& list) {
    const std::uint64_t in_channels = op.in_channels / op.groups;
    const auto taps = static_cast<double>(op.taps()), reduction = static_cast<double>(op.reduction());
    const auto pixels = static_cast<double>(tile.pixels), channels = static_cast<double>(tile.channels);
    const double outputs = pixels * channels;
    for (const std::uint64_t rows : divisors(tile.pixels, kMaxThreadSide)) {
        for (const std::uint64_t columns : divisors(tile.channels, kMaxThreadSide)) {
            if (rows * columns > kMaxThreadTile) continue;
            const auto each = static_cast<double>(rows * columns);
            const auto threads = static_cast<std::uint32_t>(outputs / each);
            if (threads < kMinThreads || threads > kMaxThreads) continue;
            const double warps = std::ceil(threads / kWarp);
            for (const std::uint64_t step_channels : divisors(in_channels, kMaxStep)) {
                const auto step = static_cast<double>(step_channels);
                const double elements = step * (tile.inputs + channels * taps);
                if (kElement * elements > kMaxStagedBytes) continue;
                // Weights lie together along the reduction, inputs of a linear layer too: loads of 16 bytes.
                const bool linear = op.kind == GpuOperator::Kind::linear;
                const double width = step_channels % 4 == 0 ? 4 : step_channels % 2 == 0 ? 2 : 1;
                const double weights_width = step_channels * op.taps() % 4 == 0 ? 4 : 1;
                const double loads = linear ? std::ceil(elements / threads / width)
                                            : std::ceil(step * tile.inputs / threads) +
                                                  std::ceil(step * channels * taps / threads / weights_width);
                const double steps = static_cast<double>(in_channels) / step;
                GpuSchedule s;
                s.ctas = static_cast<double>(op.outputs()) / outputs;
                s.threads = threads;
                s.shared_bytes = static_cast<std::uint32_t>(kElement * elements);
                s.registers = static_cast<std::uint32_t>(std::min<double>(
                    kMaxRegistersPerThread, each + static_cast<double>(rows + columns) + kOwnRegisters +
                                                std::min(kMaxStagedRegisters, elements / threads)));
                // Each operand is read from shared memory, and staged by a load and a store.
                s.multiply_adds = warps * reduction * each;
                s.memory_instructions =
                    warps * (reduction * static_cast<double>(rows + columns) + 2 * steps * loads + each);
                s.l2_bytes = kElement * (steps * elements + outputs);
                s.dependent_loads = steps + 1;
                list.push_back(s);
            }
        }
    }
}

void add_tiles(const GpuOperator& op, std::vector<GpuSchedule>& list) {
    const Pixels all = pixels_of(op);
    const auto stride = static_cast<double>(all.stride), kernel = static_cast<double>(op.kernel);
    // Of tiles with as many pixels that one which needs the fewest inputs.
    std::map<std::uint64_t, double> inputs;
    for (const std::uint64_t batch : divisors(all.batch, kMaxTilePixels)) {
        for (const std::uint64_t height : divisors(all.height, kMaxTilePixels)) {
            for (const std::uint64_t width : divisors(all.width, kMaxTilePixels)) {
                const std::uint64_t pixels = batch * height * width;
                if (pixels > kMaxTilePixels) continue;
                const auto side = [&](std::uint64_t length) {
                    return (static_cast<double>(length) - 1) * stride + kernel;
                };
                const double rim = op.kernel > 1 ? static_cast<double>(batch) * side(height) * side(width)
                                                 : static_cast<double>(pixels);
                const double needed = std::min(rim, static_cast<double>(pixels * op.taps()));
                const auto found = inputs.emplace(pixels, needed).first;
                found->second = std::min(found->second, needed);
            }
        }
    }
    for (const auto& [pixels, needed] : inputs)
        for (const std::uint64_t channels : divisors(op.out_channels / op.groups, kMaxTileChannels))
            if (pixels * channels <= kMaxTile) add_tile(op, {pixels, channels, needed}, list);
}

double multiple(double value, double unit) {
    return std::ceil(value / unit) * unit;
}

/// CTAs of a schedule that an SM holds: hw/gpu/occupancy.h.
double resident(const GpuSchedule& s, const GpuDescription& gpu) {
    const double warps = std::ceil(s.threads / kWarp);
    const double warp_registers = multiple(kWarp * s.registers, gpu.register_unit);
    const double partition_registers = gpu.registers / gpu.partitions;
    const double warps_of_partition = std::max(1.0, std::floor(partition_registers / warp_registers));
    const double registers = warps * std::max(warp_registers, std::floor(partition_registers / warps_of_partition));
    const double shared = multiple(s.shared_bytes + gpu.reserved_shared_bytes, gpu.shared_unit_bytes);
    return std::min({gpu.max_ctas, std::floor(gpu.max_warps / warps), std::floor(gpu.registers / registers),
                     std::floor(gpu.shared_bytes / shared)});
}

}  // namespace

std::vector<GpuSchedule> gpu_schedules(const GpuOperator& op) {
    std::vector<GpuSchedule> list;
    if (op.outputs() <= kMaxReducedOutputs && op.outputs() < op.reduction() && op.kind != GpuOperator::Kind::pooling)
        add_cross_thread(op, list);
    const bool reuse = op.kind != GpuOperator::Kind::pooling && op.out_channels > op.groups;
    if (reuse) add_tiles(op, list);
    // Too few outputs for a tile with a warp: without staging.
    if (!reuse || list.empty()) add_direct(op, list);
    return list;
}

double estimate_ns(const GpuOperator& op, const GpuSchedule& s, const GpuDescription& gpu) {
    const double cycle_ns = 1 / gpu.clock_ghz, held = resident(s, gpu);
    const double warps = std::ceil(s.threads / kWarp);
    // An addition or comparison takes an instruction as a multiply-accumulate does.
    const double arithmetic = s.multiply_adds * 2 * kWarp / gpu.fp32_flops_per_cycle / gpu.arithmetic_efficiency;
    const double instructions = s.multiply_adds + s.memory_instructions;
    const double cycles = std::max(
        {arithmetic, s.memory_instructions * gpu.memory_instruction_cycles, instructions / gpu.issue_per_cycle});
    const auto bytes = static_cast<double>(op.input_bytes() + op.weight_bytes() + op.output_bytes());
    const bool misses = bytes > gpu.l2_bytes;
    const double load_ns = misses ? gpu.memory_latency_ns : gpu.l2_latency_ns;
    const double alone_ns = s.dependent_loads * load_ns + std::max(cycles * std::max(1.0, gpu.partitions / warps),
                                                                   instructions / warps * gpu.warp_latency_cycles) *
                                                              cycle_ns;
    const double l2_gb_per_s = gpu.l2_bytes_per_cycle * gpu.clock_ghz * gpu.l2_efficiency;
    const auto wave_ns = [&](double ctas) {
        const double each = std::ceil(ctas / gpu.multiprocessors);
        return std::max({alone_ns, each * cycles * cycle_ns, each * s.l2_bytes / gpu.l2_port_bytes_per_cycle * cycle_ns,
                         ctas * s.l2_bytes / l2_gb_per_s});
    };
    const double full = held * gpu.multiprocessors, waves = std::floor(s.ctas / full);
    const double rest = s.ctas - waves * full;
    double ns = 0;
    if (waves > 0) ns += waves * wave_ns(full);
    if (rest > 0) ns += wave_ns(rest);
    if (misses) ns = std::max(ns, bytes / (gpu.memory_gb_per_s * gpu.memory_efficiency));
    return gpu.kernel_overhead_ns + ns;
}

const GpuSchedule& best_schedule(const GpuOperator& op, const std::vector<GpuSchedule>& list,
                                 const GpuDescription& gpu) {
    const GpuSchedule* best = nullptr;
    double best_ns = 0;
    for (const GpuSchedule& schedule : list) {
        if (resident(schedule, gpu) < 1) continue;
        const double ns = estimate_ns(op, schedule, gpu);
        if (best != nullptr && ns >= best_ns) continue;
        best = &schedule;
        best_ns = ns;
    }
    if (best == nullptr)
        throw std::invalid_argument(
            fmt::format("{}: expected a schedule that fits a multiprocessor of the GPU, found none among {}", op.name,
                        list.size()));
    return *best;
}

GpuKernel make_kernel(const GpuOperator& op, const GpuSchedule& schedule, std::uint64_t address) {
    GpuKernel kernel;
    kernel.name = op.name;
    kernel.grid = {static_cast<std::uint32_t>(schedule.ctas), 1, 1};
    kernel.block = {schedule.threads, 1, 1};
    kernel.registers_per_thread = schedule.registers;
    kernel.shared_bytes = schedule.shared_bytes;
    kernel.work.flops = static_cast<std::uint64_t>(2 * kWarp * schedule.multiply_adds * schedule.ctas);
    kernel.work.read_bytes = op.input_bytes() + op.weight_bytes();
    kernel.work.written_bytes = op.output_bytes();
    kernel.schedule.l2_bytes = static_cast<std::uint64_t>(schedule.l2_bytes * schedule.ctas);
    kernel.schedule.memory_instructions = static_cast<std::uint64_t>(schedule.memory_instructions * schedule.ctas);
    kernel.schedule.dependent_loads = static_cast<std::uint32_t>(schedule.dependent_loads);
    const auto add = [&address](std::vector<MemorySegment>& segments, std::uint64_t bytes) {
        if (bytes == 0) return;
        segments.push_back({address, bytes});
        address = (address + bytes + 255) / 256 * 256;
    };
    const std::uint64_t added = op.added_input ? op.output_bytes() : 0;
    add(kernel.reads, op.input_bytes() - added);
    add(kernel.reads, op.weight_bytes());
    add(kernel.reads, added);
    add(kernel.writes, op.output_bytes());
    return kernel;
}

GpuKernel tuned_kernel(const GpuOperator& op, const GpuDescription& gpu, std::uint64_t address) {
    const std::vector<GpuSchedule> list = gpu_schedules(op);
    return make_kernel(op, best_schedule(op, list, gpu), address);
}

}  // namespace switchyard::sched
