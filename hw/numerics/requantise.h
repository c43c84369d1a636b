// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace switchyard::hw {

/// A positive real multiplier m0 / 2^31 / 2^shift, with m0 in [2^30, 2^31).
struct QuantisedMultiplier {
    std::int32_t m0 = 1 << 30;
    std::uint32_t shift = 0;  ///< 0 to 31

    bool operator==(const QuantisedMultiplier& o) const { return m0 == o.m0 && shift == o.shift; }
};

/// accumulator * multiplier in integer arithmetic alone (Jacob et al., CVPR 2018, section 2.2): the high half of the
/// doubled product, rounded with halves up, then shifted right, rounded with halves away from zero. Arithmetic right
/// shifts round down, as every compiler that this project supports has them.
inline std::int32_t requantise(std::int32_t accumulator, const QuantisedMultiplier& multiplier) {
    const std::int64_t product = std::int64_t{accumulator} * multiplier.m0;
    const std::int64_t high = (product + (std::int64_t{1} << 30)) >> 31;
    if (multiplier.shift == 0) return static_cast<std::int32_t>(high);
    const std::int64_t half = std::int64_t{1} << (multiplier.shift - 1);
    const std::int64_t magnitude = high < 0 ? -high : high;
    const std::int64_t rounded = (magnitude + half) >> multiplier.shift;
    return static_cast<std::int32_t>(high < 0 ? -rounded : rounded);
}

/// The value of an output activation: zero point (or residual) + R(accumulator), clamped to int8. With a zero point of
/// -128 the clamp is the ReLU.
inline std::int8_t quantised_output(std::int32_t accumulator, const QuantisedMultiplier& multiplier,
                                    std::int32_t offset) {
    const std::int64_t value = std::int64_t{offset} + requantise(accumulator, multiplier);
    return static_cast<std::int8_t>(std::clamp<std::int64_t>(value, -128, 127));
}

}  // namespace switchyard::hw
