// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchyard::sched {

/// An operator as a GPU's kernel library sees it: sizes in elements of 4 bytes (FP32), layout NCHW.
struct GpuOperator {
    enum class Kind { linear, convolution, transposed_convolution, pooling };
    std::string name = "operator";
    Kind kind = Kind::linear;
    /// A linear layer of m rows is batch = m with one pixel.
    std::uint64_t batch = 1;
    std::uint64_t in_channels = 1, in_height = 1, in_width = 1;
    std::uint64_t out_channels = 1, out_height = 1, out_width = 1;
    std::uint64_t kernel = 1;  ///< height and width of the filter or of the window
    std::uint64_t stride = 1;
    std::uint64_t groups = 1;
    bool added_input = false;  ///< a tensor of the output's size is read and added

    std::uint64_t taps() const { return kernel * kernel; }
    /// Of one output element. A transposed convolution multiplies the zeros between its inputs too, as TVM's does.
    std::uint64_t reduction() const { return (kind == Kind::pooling ? 1 : in_channels / groups) * taps(); }
    std::uint64_t outputs() const { return batch * out_channels * out_height * out_width; }
    std::uint64_t input_bytes() const {
        return 4 * (batch * in_channels * in_height * in_width + (added_input ? outputs() : 0));
    }
    std::uint64_t weight_bytes() const { return kind == Kind::pooling ? 0 : 4 * out_channels * reduction(); }
    std::uint64_t output_bytes() const { return 4 * outputs(); }
    /// A multiply-accumulate is two, an addition or comparison of a pooling one.
    std::uint64_t flops() const { return outputs() * reduction() * (kind == Kind::pooling ? 1 : 2); }
};

/// m x k times k x n.
inline GpuOperator linear_operator(std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    GpuOperator op;
    op.name = "linear";
    op.batch = m;
    op.in_channels = k;
    op.out_channels = n;
    return op;
}

}  // namespace switchyard::sched
