// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/gemm_graph.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/compiler/reduction_slices.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

constexpr std::uint32_t kLargestSize = 0xFFFE;  // 16 bits of the kernel format; 0xFFFF is kNone

/// Part `index` of `size` cut into parts of `part`, the last one shorter.
std::uint16_t part_of(std::uint32_t size, std::uint32_t part, std::uint32_t index) {
    return static_cast<std::uint16_t>(std::min(part, size - part * index));
}

Operator slice_operator(std::uint16_t out_channels, std::uint16_t in_channels, std::uint32_t in_part) {
    Operator one;
    one.shape.kind = OpKind::matmul;
    one.shape.out_channels = out_channels;
    one.shape.in_channels = in_channels;
    Source input;
    input.producer = kModelInput - static_cast<int>(in_part);
    input.shape = {in_channels, 1, 1};
    one.inputs.push_back(input);
    one.macs_per_sample = std::uint64_t{out_channels} * in_channels;
    one.weight_bytes = kElementBytes * one.macs_per_sample;
    one.out_bytes_per_sample = std::uint64_t{kElementBytes} * out_channels;
    return one;
}

}  // namespace

DynGraph gemm_graph(std::uint32_t m, std::uint32_t n, std::uint32_t k, const GemmSlicing& slicing) {
    DynGraph graph;
    graph.name = fmt::format("gemm_{}x{}x{}", m, n, k);
    graph.file = fmt::format("gemm of --m {} --n {} --k {}", m, n, k);
    graph.batch_inputs = m;
    graph.input = {part_of(k, slicing.in_channels, 0), 1, 1};
    const std::uint32_t out_parts = ceil_div(n, slicing.out_channels), in_parts = ceil_div(k, slicing.in_channels);
    for (std::uint32_t j = 0; j < out_parts; ++j) {
        for (std::uint32_t c = 0; c < in_parts; ++c) {
            Operator one = slice_operator(part_of(n, slicing.out_channels, j), part_of(k, slicing.in_channels, c), c);
            if (c > 0) add_partial_sums(one, static_cast<int>(graph.operators.size()) - 1);
            one.name = fmt::format("n{}.k{}", j, c);
            graph.operators.push_back(std::move(one));
        }
        graph.outputs.push_back(static_cast<int>(graph.operators.size()) - 1);
    }
    return graph;
}

GemmSlicing best_gemm_slicing(std::uint32_t m, std::uint32_t n, std::uint32_t k, const HardwareDescription& hardware,
                              unsigned tiles) {
    if (m == 0 || n == 0 || k == 0)
        throw InputError(fmt::format("gemm: expected m, n and k of at least 1, found {}, {} and {}", m, n, k));
    if (tiles == 0) tiles = hardware.tiles();
    std::set<std::uint32_t> widths;
    for (std::uint32_t parts = 1; parts <= std::min(n, 64u); parts += 1 + parts / 8) widths.insert(ceil_div(n, parts));
    for (std::uint32_t each = 1; each <= 2 * hardware.pe_columns && each * tiles < n; each += 1 + each / 8) {
        widths.insert(each * tiles);
    }

    const Design plain("plain", {});  // no mechanism bears on one operator of a network without switches
    GemmSlicing best{0, 0};
    double fewest = std::numeric_limits<double>::infinity();
    for (std::uint32_t in_parts = 1; in_parts <= k; in_parts *= 2) {
        const std::uint32_t depth = ceil_div(k, in_parts);
        if (depth > kLargestSize) continue;
        bool fitted = false;
        for (const std::uint32_t width : widths) {
            if (width > kLargestSize) continue;
            const double slices = double{1} * ceil_div(n, width) * ceil_div(k, depth);
            // Two slices one after another; what the second one costs, every one does.
            const DynGraph pair = gemm_graph(m, width, 2 * depth, {width, depth});
            const Workload workload(pair, hardware, std::vector<double>(pair.operators.size(), 1.0));
            StageSearch stages(workload, hardware);
            const auto plan = Segmenter(stages, plain, tiles, 0).segment(1, 2);
            if (!plan) continue;
            fitted = true;
            const double cycles = plan->cycles * slices;
            if (cycles < fewest) {
                fewest = cycles;
                best = {width, depth};
            }
        }
        if (fitted && in_parts > 1 && best.in_channels > 2 * depth) break;  // shorter reductions only add partial sums
    }
    if (best.out_channels == 0) {
        throw Infeasible(
            fmt::format("gemm: expected a slice that fits the {} bytes for data of a scratchpad of {}, found none of "
                        "{} x {} x {}; raise scratchpad.capacity_bytes",
                        hardware.data_bytes(), hardware.name, m, n, k));
    }
    return best;
}

DynGraph build_gemm_graph(std::uint32_t m, std::uint32_t n, std::uint32_t k, const HardwareDescription& hardware,
                          unsigned tiles) {
    return gemm_graph(m, n, k, best_gemm_slicing(m, n, k, hardware, tiles));
}

}  // namespace switchyard::sched
