// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/workload/convolution.h"

namespace switchyard::sched {

/// Products that a dot-product engine sums in a cycle (SUSHI, MLSys 2023, section 4.2.1).
inline constexpr std::uint32_t kEngineInputs = 9;

/// rows x columns dot-product engines: a row has one output kernel, a column one slice of the input channels.
struct DotProductShape {
    std::uint32_t rows = 12, columns = 12;
    /// A multiply-accumulate is two operations, as in the paper's Table 2.
    std::uint64_t peak_operations_per_cycle() const { return std::uint64_t{2} * kEngineInputs * rows * columns; }
};

/// What the buffers beside the array hold, in bytes (SUSHI, Table 3; section 4.2.2).
struct TileBuffers {
    std::uint64_t persistent = 0;  ///< PB
    std::uint64_t dynamic = 0;     ///< DB, one of the two halves
    std::uint64_t streaming = 0;   ///< SB
    std::uint64_t line = 0;        ///< LB
    std::uint64_t output = 0;      ///< OB, both banks
    std::uint64_t parameters = 0;  ///< ZSB
};

/// Bias int32, multiplier int32, shift int8 of an output kernel.
inline constexpr std::uint32_t kParameterBytes = 9;

/// How a convolution lies on the array (section 4.2.1). A column takes nine values of a window: nine input channels of
/// a 1x1 kernel; otherwise one of the `slices` of nine of one channel's window, so that a larger kernel takes several
/// columns, whose sums the row's adder tree adds up. A depthwise kernel has its one channel in columns of its own and
/// zero weights in the others.
struct ArrayMapping {
    std::uint32_t slices = 1;            ///< columns that a channel takes (1x1: a column takes nine channels)
    std::uint32_t kernels_per_tile = 1;  ///< 0: the array has too few columns for one depthwise kernel
    std::uint32_t column_slices = 1;     ///< of all channels of a kernel; depthwise: of a whole tile
    std::uint32_t passes = 1;            ///< of a tile over its channels
};

inline ArrayMapping map_to_array(const Convolution& layer, const DotProductShape& shape) {
    ArrayMapping mapping;
    mapping.slices = ceil_div(layer.window(), kEngineInputs);
    if (layer.depthwise) {
        mapping.kernels_per_tile = std::min({shape.rows, shape.columns / mapping.slices, layer.kernels});
        mapping.column_slices = mapping.kernels_per_tile * mapping.slices;
        return mapping;
    }
    mapping.kernels_per_tile = std::min(shape.rows, layer.kernels);
    mapping.column_slices = layer.side == 1 ? ceil_div(layer.channels, kEngineInputs) : layer.channels * mapping.slices;
    mapping.passes = ceil_div(mapping.column_slices, shape.columns);
    return mapping;
}

/// Output rows [begin, end) of a layer, and the input rows [input_begin, input_end) that their windows touch.
struct RowBand {
    std::uint32_t begin = 0, end = 0, input_begin = 0, input_end = 0;
};

inline RowBand row_band(const Convolution& layer, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t first = begin * layer.stride, last = (end - 1) * layer.stride, padding = layer.padding();
    return {begin, end, first > padding ? first - padding : 0, std::min(layer.height, last + padding + 1)};
}

/// Cycles of one pass over a band. The line buffer takes a pixel a cycle from the band's first input row on, in order,
/// and runs on over the padding behind the last row; a window is complete `padding` rows and pixels after its centre.
/// While the line buffer fills, the array's inputs are free for the weights, a row of the array a cycle. 1x1 kernels
/// need no line buffer: a position a cycle.
struct PassCycles {
    std::uint64_t fill = 0;    ///< before the first window
    std::uint64_t stream = 0;  ///< from the first window to the last, those that the stride skips included
    std::uint64_t total(std::uint64_t kernels) const { return std::max(kernels, fill) + stream; }
};

inline PassCycles pass_cycles(const Convolution& layer, const RowBand& band) {
    if (layer.side == 1) return {0, std::uint64_t{band.end - band.begin} * layer.output_width()};
    const std::uint64_t padding = layer.padding(), width = layer.width;
    const auto arrival = [&](std::uint64_t row, std::uint64_t column) {
        return (row * layer.stride + padding - band.input_begin) * width + column * layer.stride + padding;
    };
    const std::uint64_t first = arrival(band.begin, 0), last = arrival(band.end - 1, layer.output_width() - 1);
    return {first, last - first + 1};
}

/// Between the last window at the array's inputs and the last row's sum in the output buffer: a register a row, then
/// product, sum of an engine, sum of a row, accumulation.
inline std::uint64_t array_latency_cycles(const DotProductShape& shape) {
    return shape.rows + 3;
}

/// Weights of `kernels` kernels from `first_kernel` on, over one band: what is computed between two commands.
struct WorkUnit {
    std::uint32_t first_kernel = 0, kernels = 0;
    RowBand band;
    bool new_tile = false;          ///< its weights come from memory; otherwise they are in the dynamic buffer
    std::uint64_t cycles = 0;       ///< of the array
    std::uint64_t fetch_bytes = 0;  ///< of weights that are not in the persistent buffer, and parameters
    std::uint64_t residual_bytes = 0, result_bytes = 0;
};

/// Units that share the input rows which the streaming buffer holds.
struct InputBand {
    std::uint32_t input_begin = 0, input_end = 0;
    std::uint64_t input_bytes = 0;
    std::vector<WorkUnit> units;
};

/// The work of one layer, in order. Input bands are the outer loop, so inputs come from memory once (and their halos
/// again) and weights once a band; then kernel tiles; then output bands that an output bank holds.
struct LayerPlan {
    ArrayMapping mapping;
    std::vector<InputBand> bands;
    std::string error;  ///< "" or why the layer cannot be served
};

/// Positions of an output bank: accumulators of 4 bytes, where a residual is added 1 byte more.
inline std::uint64_t positions_of_bank(const Convolution& layer, const TileBuffers& buffers, std::uint32_t kernels) {
    return buffers.output / 2 / (std::uint64_t{kernels} * (layer.residual ? 5 : 4));
}

/// Weights of kernels [first, first + kernels) that are not in the persistent buffer.
inline std::uint64_t distinct_weight_bytes(const Convolution& layer, const WeightSlice& cached, std::uint32_t first,
                                           std::uint32_t kernels) {
    const WeightSlice all = layer.weights();
    const std::uint32_t with = std::min(kernels, cached.kernels > first ? cached.kernels - first : 0);
    return (std::uint64_t{kernels} * all.channels - std::uint64_t{with} * std::min(cached.channels, all.channels)) *
           layer.window();
}

inline std::vector<WorkUnit> units_of_band(const Convolution& layer, const WeightSlice& cached,
                                           const ArrayMapping& mapping, const TileBuffers& buffers, std::uint32_t begin,
                                           std::uint32_t end) {
    const std::uint32_t width = layer.output_width(), tile = mapping.kernels_per_tile;
    const std::uint64_t rows =
        layer.sums_pixels ? end - begin
                          : std::min<std::uint64_t>(end - begin, positions_of_bank(layer, buffers, tile) / width);
    std::vector<WorkUnit> units;
    for (std::uint32_t kernel = 0; kernel < layer.kernels; kernel += tile) {
        const std::uint32_t kernels = std::min(tile, layer.kernels - kernel);
        for (std::uint32_t row = begin; row < end; row += static_cast<std::uint32_t>(rows)) {
            WorkUnit unit;
            unit.first_kernel = kernel;
            unit.kernels = kernels;
            unit.band = row_band(layer, row, std::min(end, row + static_cast<std::uint32_t>(rows)));
            unit.new_tile = row == begin;
            unit.cycles = mapping.passes * pass_cycles(layer, unit.band).total(kernels);
            if (unit.new_tile)
                unit.fetch_bytes =
                    distinct_weight_bytes(layer, cached, kernel, kernels) + std::uint64_t{kernels} * kParameterBytes;
            const std::uint64_t positions = std::uint64_t{unit.band.end - unit.band.begin} * width;
            unit.residual_bytes = layer.residual ? kernels * positions : 0;
            unit.result_bytes = kernels * (layer.sums_pixels ? 4 : positions);
            units.push_back(unit);
        }
    }
    return units;
}

inline LayerPlan plan_layer(const Convolution& layer, const WeightSlice& cached, const DotProductShape& shape,
                            const TileBuffers& buffers) {
    LayerPlan plan;
    plan.mapping = map_to_array(layer, shape);
    const ArrayMapping& mapping = plan.mapping;
    const auto too_large = [&plan](std::uint64_t limit, const std::string& what, const char* holder,
                                   std::uint64_t found) {
        plan.error = "expected at most " + std::to_string(limit) + " " + what + ", as " + holder + " has, found " +
                     std::to_string(found);
        return plan;
    };
    if (mapping.kernels_per_tile == 0)
        return too_large(shape.columns, "columns for a depthwise window of " + std::to_string(layer.window()),
                         "the array", mapping.slices);
    const std::uint64_t row_bytes = std::uint64_t{layer.width} * layer.channels;
    const std::uint64_t tile_bytes =
        std::uint64_t{mapping.kernels_per_tile} * layer.weights().channels * layer.window();
    if (tile_bytes > buffers.dynamic)
        return too_large(buffers.dynamic, "bytes of a weight tile", "half of the dynamic buffer", tile_bytes);
    const std::uint64_t parameter_bytes = std::uint64_t{2} * kParameterBytes * mapping.kernels_per_tile;
    if (parameter_bytes > buffers.parameters)
        return too_large(buffers.parameters, "bytes of parameters of two weight tiles", "the parameter buffer",
                         parameter_bytes);
    if (layer.side > 1) {
        const std::uint64_t channels = ceil_div(std::min(shape.columns, mapping.column_slices), mapping.slices);
        const std::uint64_t lines = channels * (std::uint64_t{layer.side - 1} * layer.width + layer.side);
        if (lines > buffers.line) return too_large(buffers.line, "bytes of lines", "the line buffer", lines);
    }
    const std::uint64_t positions = positions_of_bank(layer, buffers, mapping.kernels_per_tile);
    if (!layer.sums_pixels && positions < layer.output_width())
        return too_large(positions,
                         "positions of an output row of " + std::to_string(mapping.kernels_per_tile) + " kernels",
                         "half of the output buffer", layer.output_width());
    for (std::uint32_t begin = 0; begin < layer.output_height();) {
        // As many output rows as the streaming buffer holds input for.
        std::uint32_t end = layer.output_height();
        const auto bytes = [&] {
            const RowBand band = row_band(layer, begin, end);
            return (band.input_end - band.input_begin) * row_bytes;
        };
        if (bytes() > buffers.streaming && layer.sums_pixels)
            return too_large(buffers.streaming, "input bytes of sums over pixels", "the streaming buffer", bytes());
        if (bytes() > buffers.streaming) {
            const std::uint64_t rows = buffers.streaming / row_bytes;
            const std::uint64_t first = row_band(layer, begin, begin + 1).input_begin;
            // The last output row whose window ends within the rows that fit.
            const std::uint64_t limit = first + rows;
            end = begin;
            while (end < layer.output_height() && row_band(layer, end, end + 1).input_end <= limit) ++end;
            if (end == begin) {
                end = begin + 1;
                return too_large(buffers.streaming, "input bytes of one output row", "the streaming buffer", bytes());
            }
        }
        InputBand band;
        const RowBand rows = row_band(layer, begin, end);
        band.input_begin = rows.input_begin;
        band.input_end = rows.input_end;
        band.input_bytes = bytes();
        band.units = units_of_band(layer, cached, mapping, buffers, begin, end);
        plan.bands.push_back(std::move(band));
        begin = end;
    }
    return plan;
}

}  // namespace switchyard::sched
