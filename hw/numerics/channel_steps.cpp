// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/numerics/channel_steps.h"

#include <algorithm>
#include <cmath>

#include "switchyard/hw/numerics/fp16.h"

namespace switchyard::numerics {

namespace {

void make_canonical(float* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) x[i] = canonical(x[i]);
}

}  // namespace

void softmax(float* x, std::size_t n) {
    if (n == 0) return;
    const float largest = *std::max_element(x, x + n);
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float difference = x[i] - largest;
        x[i] = static_cast<float>(std::exp(double{difference}));
        sum += x[i];
    }
    for (std::size_t i = 0; i < n; ++i) x[i] /= sum;
    make_canonical(x, n);
}

void normalise(float* x, std::size_t n) {
    if (n == 0) return;
    const auto count = static_cast<float>(n);
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i];
    const float mean = sum / count;
    float squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        x[i] -= mean;
        squares = static_cast<float>(squares + double{x[i]} * x[i]);  // the square is exact: the same with fused steps
    }
    const float variance = squares / count;
    const float reciprocal = 1 / std::sqrt(variance + kLayerNormEpsilon);
    for (std::size_t i = 0; i < n; ++i) x[i] *= reciprocal;
    make_canonical(x, n);
}

}  // namespace switchyard::numerics
