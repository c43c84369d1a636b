// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

/// The weights [kernels][channels][side * side] of a convolution that some holder has: those of its first kernels, of
/// each those for the first channels. Depthwise: `channels` is 1 if there are kernels.
struct WeightSlice {
    std::uint32_t kernels = 0, channels = 0;

    bool operator==(const WeightSlice& o) const { return kernels == o.kernels && channels == o.channels; }
    WeightSlice shared_with(const WeightSlice& o) const {
        return {kernels < o.kernels ? kernels : o.kernels, channels < o.channels ? channels : o.channels};
    }
    /// int8.
    std::uint64_t bytes(std::uint32_t side) const { return std::uint64_t{kernels} * channels * side * side; }
};

/// A convolution of one input with int8 weights and activations. The padding is (side - 1) / 2 on all edges, so output
/// position (y, x) has its window centred at input position (stride * y, stride * x).
struct Convolution {
    std::uint32_t kernels = 1, channels = 1;  ///< output and input channels; depthwise: equal
    std::uint32_t side = 1;                   ///< of the square window, odd
    std::uint32_t stride = 1;
    std::uint32_t height = 1, width = 1;  ///< of the input
    bool depthwise = false;
    bool residual = false;  ///< adds another layer's output, which has the same shape
    bool sums_pixels =
        false;  ///< one sum a kernel over all output positions, int32 without re-quantisation: a classifier

    std::uint32_t padding() const { return (side - 1) / 2; }
    std::uint32_t output_height() const { return ceil_div(height, stride); }
    std::uint32_t output_width() const { return ceil_div(width, stride); }
    std::uint32_t window() const { return side * side; }
    WeightSlice weights() const { return {kernels, depthwise ? 1 : channels}; }
    std::uint64_t weight_bytes() const { return weights().bytes(side); }
    std::uint64_t positions() const { return std::uint64_t{output_height()} * output_width(); }
    std::uint64_t input_bytes() const { return std::uint64_t{channels} * height * width; }
    std::uint64_t output_bytes() const { return sums_pixels ? std::uint64_t{4} * kernels : kernels * positions(); }
    std::uint64_t macs() const { return weight_bytes() * positions(); }
};

}  // namespace switchyard::sched
