// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// Functions of all channels of a token, in binary32: sums in the order of the channels, one rounding an operation, the
/// exponential and the square root rounded to binary32. What is no number makes all of the row's results the canonical
/// NaN. They have no RTL: models of every detail of the PE array compute them here (docs/values.md).
namespace switchyard::numerics {

constexpr float kLayerNormEpsilon = 1e-5f;  ///< added to the variance, as PyTorch's LayerNorm does by default

/// x[i] = exp(x[i] - m) / s with the largest m, and s the sum of the exponentials. The exponential is taken in binary64
/// of the binary32 difference.
void softmax(float* x, std::size_t n);

/// x[i] = (x[i] - m) * r with the mean m and r = 1 / sqrt(v + epsilon); v: mean of the squared differences from m.
void normalise(float* x, std::size_t n);

}  // namespace switchyard::numerics
