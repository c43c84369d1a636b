// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/kernel_streams/stream_builder.h"

namespace switchyard::sched {

/// A feature map of one image: FP32, channels x rows x columns.
struct FeatureMap {
    MemorySegment segment;
    std::uint32_t channels = 1, rows = 1, columns = 1;

    std::uint64_t pixels() const { return std::uint64_t{rows} * columns; }
    std::uint64_t elements() const { return channels * pixels(); }
};

struct Filter {
    std::uint32_t rows = 1, columns = 1, stride_rows = 1, stride_columns = 1;
    bool padded = true;  ///< otherwise windows lie in the map; a pool's last one may reach out of it

    static Filter square(std::uint32_t side, std::uint32_t stride = 1) { return {side, side, stride, stride}; }
    static Filter unpadded(std::uint32_t side, std::uint32_t stride) { return {side, side, stride, stride, false}; }
};

/// The layers of a convolutional network as an eager framework launches them: a kernel each, nothing fused. Sizes are
/// those of padding that keeps the map (divided by the stride, rounded up), unless the filter says otherwise. Every
/// function returns the new map.
///
/// FLOPs: a multiply-accumulate is two; batch norm two and an activation one an element; pooling one an input of each
/// output. multiply_accumulates() and parameters() count those of convolutions, depthwise convolutions and linear
/// layers only, as publications do.
class NetworkLayers {
public:
    explicit NetworkLayers(StreamBuilder& stream) : stream_(stream) {}

    /// An array that is there before the first kernel.
    FeatureMap input(std::uint32_t channels, std::uint32_t rows, std::uint32_t columns);

    FeatureMap convolution(const FeatureMap& x, std::uint32_t channels, const Filter& filter);
    /// With weights that another kernel made.
    FeatureMap convolution(const FeatureMap& x, std::uint32_t channels, const Filter& filter,
                           const MemorySegment& weights);
    FeatureMap depthwise(const FeatureMap& x, const Filter& filter);
    FeatureMap depthwise(const FeatureMap& x, const Filter& filter, const MemorySegment& weights);
    FeatureMap batch_norm(const FeatureMap& x);
    FeatureMap relu(const FeatureMap& x) { return activation("relu", x, 1); }
    FeatureMap sigmoid(const FeatureMap& x) { return activation("sigmoid", x, 4); }
    FeatureMap tanh(const FeatureMap& x) { return activation("tanh", x, 4); }
    /// x * sigmoid(x), one kernel (torch.nn.SiLU).
    FeatureMap swish(const FeatureMap& x) { return activation("silu", x, 5); }
    FeatureMap max_pool(const FeatureMap& x, const Filter& filter);
    FeatureMap average_pool(const FeatureMap& x, const Filter& filter);
    FeatureMap global_pool(const FeatureMap& x);
    FeatureMap linear(const FeatureMap& x, std::uint32_t outputs);
    FeatureMap add(const FeatureMap& a, const FeatureMap& b);
    /// A sum of one map and the other maps, a kernel for each addition. One map: itself.
    FeatureMap sum(const std::vector<FeatureMap>& maps);
    /// a times one number a channel (`scale`: channels x 1 x 1) or one number (1 x 1 x 1).
    FeatureMap scale(const FeatureMap& x, const FeatureMap& scale);
    FeatureMap concatenate(const std::vector<FeatureMap>& maps);
    /// Bilinear; sizes times numerator / denominator.
    FeatureMap interpolate(const FeatureMap& x, std::uint32_t numerator, std::uint32_t denominator);
    /// `result` = row vector of `experts` (`routing`) times experts x elements: mixed weights (CondConv).
    MemorySegment mix_weights(const FeatureMap& routing, std::uint32_t experts, std::uint64_t elements);

    std::uint64_t multiply_accumulates() const { return multiply_accumulates_; }
    std::uint64_t parameters() const { return parameters_; }

private:
    FeatureMap map(std::uint32_t channels, std::uint32_t rows, std::uint32_t columns);
    MemorySegment weights(std::uint64_t elements);
    FeatureMap activation(const char* name, const FeatureMap& x, std::uint64_t flops_an_element);
    /// `threads` of a CTA, one an output.
    FeatureMap pool(const char* name, std::uint32_t threads, const FeatureMap& x, const Filter& filter);
    FeatureMap strided(std::uint32_t channels, const FeatureMap& x, const Filter& filter, bool partial_windows = false);

    StreamBuilder& stream_;
    std::uint64_t multiply_accumulates_ = 0, parameters_ = 0;
};

}  // namespace switchyard::sched
