// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/kernel_streams/launch_shapes.h"

namespace switchyard::sched {

namespace {

constexpr std::uint64_t kFloatBytes = 4;

std::uint32_t divided_up(std::uint32_t value, std::uint32_t by) {
    return (value + by - 1) / by;
}

}  // namespace

FeatureMap NetworkLayers::map(std::uint32_t channels, std::uint32_t rows, std::uint32_t columns) {
    FeatureMap result{{}, channels, rows, columns};
    result.segment = stream_.allocate(result.elements() * kFloatBytes);
    return result;
}

FeatureMap NetworkLayers::input(std::uint32_t channels, std::uint32_t rows, std::uint32_t columns) {
    return map(channels, rows, columns);
}

MemorySegment NetworkLayers::weights(std::uint64_t elements) {
    parameters_ += elements;
    return stream_.allocate(elements * kFloatBytes);
}

FeatureMap NetworkLayers::strided(std::uint32_t channels, const FeatureMap& x, const Filter& filter,
                                  bool partial_windows) {
    const auto windows = [&](std::uint32_t size, std::uint32_t side, std::uint32_t stride) {
        if (filter.padded) return divided_up(size, stride);
        if (size < side) throw std::logic_error("a filter is larger than its map");
        return (partial_windows ? divided_up(size - side, stride) : (size - side) / stride) + 1;
    };
    return map(channels, windows(x.rows, filter.rows, filter.stride_rows),
               windows(x.columns, filter.columns, filter.stride_columns));
}

FeatureMap NetworkLayers::convolution(const FeatureMap& x, std::uint32_t channels, const Filter& filter) {
    return convolution(x, channels, filter,
                       weights(std::uint64_t{x.channels} * channels * filter.rows * filter.columns));
}

FeatureMap NetworkLayers::convolution(const FeatureMap& x, std::uint32_t channels, const Filter& filter,
                                      const MemorySegment& weights) {
    const FeatureMap y = strided(channels, x, filter);
    const std::uint64_t macs = y.elements() * x.channels * filter.rows * filter.columns;
    multiply_accumulates_ += macs;
    stream_.launch(fmt::format("conv{}x{}", filter.rows, filter.columns),
                   matrix_product_shape(y.pixels(), channels, std::uint64_t{x.channels} * filter.rows * filter.columns),
                   2 * macs, {x.segment, weights}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::depthwise(const FeatureMap& x, const Filter& filter) {
    return depthwise(x, filter, weights(std::uint64_t{x.channels} * filter.rows * filter.columns));
}

FeatureMap NetworkLayers::depthwise(const FeatureMap& x, const Filter& filter, const MemorySegment& weights) {
    const FeatureMap y = strided(x.channels, x, filter);
    const std::uint64_t macs = y.elements() * filter.rows * filter.columns;
    multiply_accumulates_ += macs;
    stream_.launch(fmt::format("depthwise{}x{}", filter.rows, filter.columns),
                   one_output_shape(y.elements(), kLargeCta), 2 * macs, {x.segment, weights}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::batch_norm(const FeatureMap& x) {
    const FeatureMap y = map(x.channels, x.rows, x.columns);
    // Scale and offset; they are no weights of a layer that publications count.
    const MemorySegment factors = stream_.allocate(2 * x.channels * kFloatBytes);
    stream_.launch("batch_norm", batch_norm_shape(y.channels, y.pixels()), 2 * y.elements(), {x.segment, factors},
                   {y.segment});
    return y;
}

FeatureMap NetworkLayers::activation(const char* name, const FeatureMap& x, std::uint64_t flops_an_element) {
    const FeatureMap y = map(x.channels, x.rows, x.columns);
    stream_.launch(name, elementwise_shape(y.elements()), flops_an_element * y.elements(), {x.segment}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::pool(const char* name, std::uint32_t threads, const FeatureMap& x, const Filter& filter) {
    const FeatureMap y = strided(x.channels, x, filter, true);
    stream_.launch(name, one_output_shape(y.elements(), threads), y.elements() * filter.rows * filter.columns,
                   {x.segment}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::max_pool(const FeatureMap& x, const Filter& filter) {
    return pool("max_pool", 256, x, filter);
}

FeatureMap NetworkLayers::average_pool(const FeatureMap& x, const Filter& filter) {
    return pool("avg_pool", kLargeCta, x, filter);
}

FeatureMap NetworkLayers::global_pool(const FeatureMap& x) {
    const FeatureMap y = map(x.channels, 1, 1);
    stream_.launch("global_pool", reduction_shape(x.channels), x.elements(), {x.segment}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::linear(const FeatureMap& x, std::uint32_t outputs) {
    const FeatureMap y = map(outputs, 1, 1);
    const std::uint64_t macs = x.elements() * outputs;
    multiply_accumulates_ += macs;
    // A product with one row is a row of dot products.
    stream_.launch("linear", reduction_shape(outputs), 2 * macs, {x.segment, weights(macs)}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::add(const FeatureMap& a, const FeatureMap& b) {
    if (a.channels != b.channels || a.rows != b.rows || a.columns != b.columns)
        throw std::logic_error("maps of different shape are added");
    const FeatureMap y = map(a.channels, a.rows, a.columns);
    stream_.launch("add", elementwise_shape(y.elements()), y.elements(), {a.segment, b.segment}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::sum(const std::vector<FeatureMap>& maps) {
    FeatureMap result = maps.at(0);
    for (std::size_t i = 1; i < maps.size(); ++i) result = add(result, maps[i]);
    return result;
}

FeatureMap NetworkLayers::scale(const FeatureMap& x, const FeatureMap& scale) {
    if (scale.elements() != 1 && scale.elements() != x.channels)
        throw std::logic_error("a scale has one factor, or one a channel");
    const FeatureMap y = map(x.channels, x.rows, x.columns);
    stream_.launch("scale", elementwise_shape(y.elements()), y.elements(), {x.segment, scale.segment}, {y.segment});
    return y;
}

FeatureMap NetworkLayers::concatenate(const std::vector<FeatureMap>& maps) {
    FeatureMap y = maps.at(0);
    std::vector<MemorySegment> reads;
    y.channels = 0;
    for (const FeatureMap& part : maps) {
        if (part.rows != y.rows || part.columns != y.columns)
            throw std::logic_error("maps of different size are concatenated");
        y.channels += part.channels;
        reads.push_back(part.segment);
    }
    y.segment = stream_.allocate(y.elements() * kFloatBytes);
    stream_.launch("concatenate", elementwise_shape(y.elements()), 0, reads, {y.segment});
    return y;
}

FeatureMap NetworkLayers::interpolate(const FeatureMap& x, std::uint32_t numerator, std::uint32_t denominator) {
    const FeatureMap y = map(x.channels, x.rows * numerator / denominator, x.columns * numerator / denominator);
    // Three linear interpolations of three operations each.
    stream_.launch("interpolate", one_pixel_shape(y.pixels()), 9 * y.elements(), {x.segment}, {y.segment});
    return y;
}

MemorySegment NetworkLayers::mix_weights(const FeatureMap& routing, std::uint32_t experts, std::uint64_t elements) {
    const MemorySegment mixed = stream_.allocate(elements * kFloatBytes);
    const std::uint64_t macs = elements * experts;
    multiply_accumulates_ += macs;
    stream_.launch("mix_weights", one_output_shape(elements), 2 * macs, {routing.segment, weights(macs)}, {mixed});
    return mixed;
}

}  // namespace switchyard::sched
