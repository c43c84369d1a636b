// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/numerics/fp16.h"

#include <algorithm>
#include <array>

namespace switchyard::numerics {
namespace {

/// widen() with masks instead of branches: a loop of it becomes vector code.
inline float widen_masked(std::uint16_t x) {
#if defined(__F16C__)
    return widen(x);
#else
    const auto mask = [](bool condition) { return 0u - std::uint32_t(condition); };
    const std::uint32_t magnitude = x & 0x7FFFu;
    const std::uint32_t is_subnormal = mask(magnitude < 0x0400u);
    const std::uint32_t is_nan = mask(magnitude > 0x7C00u);
    const std::uint32_t special = mask(magnitude >= 0x7C00u) & 0x7F800000u;
    const std::uint32_t normal = ((magnitude << 13) + (112u << 23)) | special;
    const std::uint32_t subnormal = to_bits(float(std::int32_t(magnitude)) * 0x1p-24f);
    const std::uint32_t sign = std::uint32_t(x & 0x8000u) << 16;
    const std::uint32_t numeric = sign | (subnormal & is_subnormal) | (normal & ~is_subnormal);
    return to_float((kNan32 & is_nan) | (numeric & ~is_nan));
#endif
}

}  // namespace

float accumulate32(const std::uint16_t* a, std::ptrdiff_t a_stride, const std::uint16_t* b, std::ptrdiff_t b_stride,
                   std::size_t n, float acc) {
    // Widened block by block, in vector code; only the additions wait for each other.
    constexpr std::size_t kBlock = 64;
    std::array<std::uint16_t, kBlock> a_block, b_block;
    std::array<float, kBlock> a_wide, b_wide;
    for (std::size_t done = 0; done < n; done += kBlock) {
        const std::size_t count = std::min(n - done, kBlock);
        for (std::size_t i = 0; i < count; ++i) {
            const auto index = std::ptrdiff_t(done + i);
            a_block[i] = a[index * a_stride];
            b_block[i] = b[index * b_stride];
        }
        widen_row(a_wide.data(), a_block.data(), count);
        widen_row(b_wide.data(), b_block.data(), count);
        for (std::size_t i = 0; i < count; ++i) acc += a_wide[i] * b_wide[i];
    }
    // A NaN stays one to the end, so it is made canonical once.
    return canonical(acc);
}

std::uint16_t accumulate16(const std::uint16_t* a, std::ptrdiff_t a_stride, const std::uint16_t* b,
                           std::ptrdiff_t b_stride, std::size_t n, std::uint16_t acc) {
    for (std::size_t i = 0; i < n; ++i)
        acc = fma16(a[std::ptrdiff_t(i) * a_stride], b[std::ptrdiff_t(i) * b_stride], acc);
    return acc;
}

void mac32_row(float* acc, float a, const float* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) acc[i] += a * b[i];
}

void fma16_row(std::uint16_t* acc, std::uint16_t a, const std::uint16_t* b, std::size_t n) {
    const double factor = widen(a);
    for (std::size_t i = 0; i < n; ++i) acc[i] = narrow(factor * double(widen(b[i])) + double(widen(acc[i])));
}

void widen_row(float* wide, const std::uint16_t* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) wide[i] = widen_masked(x[i]);
}

void narrow_row(std::uint16_t* y, const float* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] = narrow(x[i]);
}

}  // namespace switchyard::numerics
