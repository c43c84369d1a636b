// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

/// Arithmetic on IEEE 754 binary16 operands, bit for bit what rtl/pe_array computes: round to nearest even, subnormals
/// kept, every NaN result canonical (0x7E00, 0x7FC00000). Plain C++; binary16 values are their bits, binary32 values
/// are floats. The same bits come out whatever the compiler's flags short of -ffast-math: each function is exact up to
/// one rounding, so contraction into fused operations changes nothing.
namespace switchyard::numerics {

static_assert(FLT_RADIX == 2 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53, "IEEE 754 binary32 and binary64");
static_assert(FLT_EVAL_METHOD == 0, "float operations round to float");

constexpr std::uint16_t kNan16 = 0x7E00;
constexpr std::uint32_t kNan32 = 0x7FC00000;

inline std::uint32_t to_bits(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline std::uint64_t to_bits(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

/// The binary32 value of these bits.
inline float to_float(std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline float canonical(float x) {
    return x == x ? x : to_float(kNan32);
}

/// Binary16 to binary32: exact. A NaN keeps no payload.
inline float widen(std::uint16_t x) {
#if defined(__F16C__)
    return canonical(_cvtsh_ss(x));
#else
    const std::uint32_t sign = std::uint32_t(x & 0x8000u) << 16;
    const std::uint32_t magnitude = x & 0x7FFFu;
    if (magnitude >= 0x0400u && magnitude < 0x7C00u) return to_float(sign | ((magnitude << 13) + (112u << 23)));
    if (magnitude > 0x7C00u) return to_float(kNan32);
    if (magnitude == 0x7C00u) return to_float(sign | 0x7F800000u);
    return to_float(sign | to_bits(float(magnitude) * 0x1p-24f));
#endif
}

/// Binary64 to binary16 with one rounding.
inline std::uint16_t narrow(double x) {
    const std::uint64_t bits = to_bits(x);
    const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFu;
    const auto sign = std::uint16_t(bits >> 48 & 0x8000u);
    if (magnitude < 0x3F10000000000000u) {
        // Below 2^-14: adding 2^28, whose last place is 2^-24, rounds to a multiple of 2^-24.
        return std::uint16_t(sign | (to_bits(std::fabs(x) + 0x1p28) - 0x41B0000000000000u));
    }
    if (magnitude < 0x40F0000000000000u) {
        // Below 2^16: 42 bits go. A carry out of the fraction makes the next exponent, up to infinity.
        const std::uint64_t rounded = magnitude + 0x1FFFFFFFFFFu + (magnitude >> 42 & 1u);
        return std::uint16_t(sign | ((rounded - 0x3F00000000000000u) >> 42));
    }
    return magnitude > 0x7FF0000000000000u ? kNan16 : std::uint16_t(sign | 0x7C00u);
}

/// Binary32 to binary16 with one rounding.
inline std::uint16_t narrow(float x) {
#if defined(__F16C__)
    return x == x ? std::uint16_t(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)) : kNan16;
#else
    const std::uint32_t bits = to_bits(x);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    // As in narrow(double), without branches: 2^-1 has its last place at 2^-24.
    const std::uint32_t subnormal = to_bits(std::fabs(x) + 0.5f) - 0x3F000000u;
    const std::uint32_t normal = (magnitude + 0xFFFu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
    const std::uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
    const std::uint32_t numeric = sign | (magnitude < 0x47800000u ? finite : 0x7C00u);
    return std::uint16_t(magnitude > 0x7F800000u ? kNan16 : numeric);
#endif
}

/// a * b + c: exact product added in binary32 (`acc: fp32`). A product of two binary16 values has 22 bits between
/// 2^-48 and 2^32, so the only rounding is that of the sum.
inline float mac32(std::uint16_t a, std::uint16_t b, float c) {
    return canonical(widen(a) * widen(b) + c);
}

/// a * b + c in binary16, one rounding (`acc: fp16`).
///
/// The sum is formed in binary64 and then rounded to binary16, which is one rounding in effect. Where the sum in
/// binary64 is exact that is plain. Where it is not, one addend begins 52 or more places above the end of the other:
///  - the product above c (which ends at 2^-24 or higher): the product is at least 2^28 and the result infinite;
///  - c above the product, which has 22 bits: the product is below 2^-30 of c, while c, a binary16 value, is at least
///    2^-12 of itself away from the next halfway point, so both the exact and the rounded sum go to c.
inline std::uint16_t fma16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return narrow(double(widen(a)) * double(widen(b)) + double(widen(c)));
}

/// acc + a[0] * b[0] + a[1] * b[1] + ... of `n` products, in this order, each added in binary32. Strides are in
/// elements and may be zero or negative.
float accumulate32(const std::uint16_t* a, std::ptrdiff_t a_stride, const std::uint16_t* b, std::ptrdiff_t b_stride,
                   std::size_t n, float acc);

/// The same with binary16 fused multiply-adds.
std::uint16_t accumulate16(const std::uint16_t* a, std::ptrdiff_t a_stride, const std::uint16_t* b,
                           std::ptrdiff_t b_stride, std::size_t n, std::uint16_t acc);

/// One step of `n` independent sums side by side: acc[i] = mac32(a, b[i], acc[i]), except that NaNs are not canonical
/// yet: canonical() makes them so after the last step. The order within each sum is the caller's, so vector code gives
/// the bits of accumulate32(). Operands are widened before, once for all steps.
void mac32_row(float* acc, float a, const float* b, std::size_t n);

/// acc[i] = fma16(a, b[i], acc[i]) for `n` independent sums.
void fma16_row(std::uint16_t* acc, std::uint16_t a, const std::uint16_t* b, std::size_t n);

/// wide[i] = widen(x[i]) for `n` elements.
void widen_row(float* wide, const std::uint16_t* x, std::size_t n);

/// y[i] = narrow(x[i]) for `n` elements.
void narrow_row(std::uint16_t* y, const float* x, std::size_t n);

}  // namespace switchyard::numerics
