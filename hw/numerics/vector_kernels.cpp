// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/numerics/vector_kernels.h"

#include <array>

#include "switchyard/hw/numerics/fp16.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define SWITCHYARD_X86_VECTORS 1
// The header's own "undefined" operands of AVX-512 functions (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <cpuid.h>
#include <immintrin.h>
#else
#define SWITCHYARD_X86_VECTORS 0
#endif

namespace switchyard::numerics {
namespace {

void widen_plain(float* wide, const std::uint16_t* x, std::size_t n) {
    widen_row(wide, x, n);
}

void narrow_plain(std::uint16_t* y, const float* x, std::size_t n) {
    narrow_row(y, x, n);
}

void mac32_tile_plain(float* sums, const float* const* rows, const std::int32_t* offsets, const float* b,
                      std::size_t steps, unsigned columns) {
    constexpr unsigned kRows = 4, kColumns = 8;  // sums that fit the registers of any processor
    for (unsigned c = 0; c < columns; c += kColumns) {
        for (unsigned r = 0; r < kTileRows; r += kRows) {
            std::array<std::array<float, kColumns>, kRows> tile{};
            const float* factors = b + c;
            for (std::size_t s = 0; s < steps; ++s, factors += kTileColumns)
                for (unsigned i = 0; i < kRows; ++i)
                    for (unsigned j = 0; j < kColumns; ++j) tile[i][j] += rows[r + i][offsets[s]] * factors[j];
            for (unsigned i = 0; i < kRows; ++i)
                for (unsigned j = 0; j < kColumns; ++j) sums[(r + i) * kTileColumns + c + j] = tile[i][j];
        }
    }
}

void mac16_tile_plain(float* sums, const float* const* rows, const std::int32_t* offsets, const float* b,
                      std::size_t steps, unsigned columns) {
    for (unsigned r = 0; r < kTileRows; ++r) {
        std::array<double, kTileColumns> row{};
        for (std::size_t s = 0; s < steps; ++s) {
            const double a = rows[r][offsets[s]];
            const float* const factors = b + s * kTileColumns;
            for (unsigned c = 0; c < columns; ++c) row[c] = widen(narrow(a * double(factors[c]) + row[c]));
        }
        for (unsigned c = 0; c < columns; ++c) sums[r * kTileColumns + c] = static_cast<float>(row[c]);
    }
}

#if SWITCHYARD_X86_VECTORS

// narrow(double) and back, as there: below 2^-14 by adding 2^28, above by adding to the bits; what is 2^16 then is too
// large.
constexpr long long kRoundUp = 0x1FFFFFFFFFF, kKept = ~0x3FFFFFFFFFFLL;

__attribute__((target("avx2,fma,f16c"))) inline __m256d round16_avx2(__m256d x) {
    const __m256d sign_bit = _mm256_set1_pd(-0.0), big = _mm256_set1_pd(0x1p28);
    const __m256d sign = _mm256_and_pd(x, sign_bit), magnitude = _mm256_andnot_pd(sign_bit, x);
    const __m256i bits = _mm256_castpd_si256(magnitude);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi64(bits, 42), _mm256_set1_epi64x(1));
    const __m256i up = _mm256_add_epi64(_mm256_add_epi64(bits, _mm256_set1_epi64x(kRoundUp)), odd);
    const __m256d normal = _mm256_castsi256_pd(_mm256_and_si256(up, _mm256_set1_epi64x(kKept)));
    const __m256d subnormal = _mm256_sub_pd(_mm256_add_pd(magnitude, big), big);
    const __m256d small = _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p-14), _CMP_LT_OQ);
    const __m256d large = _mm256_cmp_pd(normal, _mm256_set1_pd(0x1p16), _CMP_GE_OQ);
    __m256d rounded = _mm256_blendv_pd(normal, subnormal, small);
    rounded = _mm256_blendv_pd(rounded, _mm256_set1_pd(__builtin_inf()), large);
    return _mm256_or_pd(rounded, sign);
}

__attribute__((target("avx2,fma,f16c"))) void mac16_tile_avx2(float* sums, const float* const* rows,
                                                              const std::int32_t* offsets, const float* b,
                                                              std::size_t steps, unsigned columns) {
    constexpr unsigned kRows = 4, kLanes = 4;
    for (unsigned c = 0; c < columns; c += kLanes) {
        for (unsigned r = 0; r < kTileRows; r += kRows) {
            __m256d tile[kRows];
            for (__m256d& sum : tile) sum = _mm256_setzero_pd();
            const float* factors = b + c;
            for (std::size_t s = 0; s < steps; ++s, factors += kTileColumns) {
                const std::int32_t at = offsets[s];
                const __m256d b0 = _mm256_cvtps_pd(_mm_loadu_ps(factors));
                for (unsigned i = 0; i < kRows; ++i)
                    tile[i] = round16_avx2(_mm256_fmadd_pd(_mm256_set1_pd(rows[r + i][at]), b0, tile[i]));
            }
            for (unsigned i = 0; i < kRows; ++i)
                _mm_storeu_ps(sums + (r + i) * kTileColumns + c, _mm256_cvtpd_ps(tile[i]));
        }
    }
}

__attribute__((target("avx512f"))) inline __m512d round16_avx512(__m512d x) {
    const __m512i sign_bit = _mm512_set1_epi64(static_cast<long long>(0x8000000000000000u));
    const __m512i sign = _mm512_and_epi64(_mm512_castpd_si512(x), sign_bit);
    const __m512i bits = _mm512_andnot_epi64(sign_bit, _mm512_castpd_si512(x));
    const __m512d magnitude = _mm512_castsi512_pd(bits), big = _mm512_set1_pd(0x1p28);
    const __m512i odd = _mm512_and_epi64(_mm512_srli_epi64(bits, 42), _mm512_set1_epi64(1));
    const __m512i up = _mm512_add_epi64(_mm512_add_epi64(bits, _mm512_set1_epi64(kRoundUp)), odd);
    const __m512d normal = _mm512_castsi512_pd(_mm512_and_epi64(up, _mm512_set1_epi64(kKept)));
    const __mmask8 small = _mm512_cmp_pd_mask(magnitude, _mm512_set1_pd(0x1p-14), _CMP_LT_OQ);
    const __mmask8 large = _mm512_cmp_pd_mask(normal, _mm512_set1_pd(0x1p16), _CMP_GE_OQ);
    __m512d rounded = _mm512_mask_sub_pd(normal, small, _mm512_add_pd(magnitude, big), big);
    rounded = _mm512_mask_blend_pd(large, rounded, _mm512_set1_pd(__builtin_inf()));
    return _mm512_castsi512_pd(_mm512_or_epi64(_mm512_castpd_si512(rounded), sign));
}

__attribute__((target("avx512f"))) void mac16_tile_avx512(float* sums, const float* const* rows,
                                                          const std::int32_t* offsets, const float* b,
                                                          std::size_t steps, unsigned columns) {
    constexpr unsigned kLanes = 8;
    for (unsigned c = 0; c < columns; c += kLanes) {
        __m512d tile[kTileRows];
        for (__m512d& sum : tile) sum = _mm512_setzero_pd();
        const float* factors = b + c;
        for (std::size_t s = 0; s < steps; ++s, factors += kTileColumns) {
            const std::int32_t at = offsets[s];
            const __m512d b0 = _mm512_cvtps_pd(_mm256_loadu_ps(factors));
            for (unsigned i = 0; i < kTileRows; ++i)
                tile[i] = round16_avx512(_mm512_fmadd_pd(_mm512_set1_pd(rows[i][at]), b0, tile[i]));
        }
        for (unsigned i = 0; i < kTileRows; ++i)
            _mm256_storeu_ps(sums + i * kTileColumns + c, _mm512_cvtpd_ps(tile[i]));
    }
}

__attribute__((target("avx2,fma,f16c"))) void widen_avx2(float* wide, const std::uint16_t* x, std::size_t n) {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kNan32)));
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i)));
        _mm256_storeu_ps(wide + i, _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
    }
    for (; i < n; ++i) wide[i] = widen(x[i]);
}

__attribute__((target("avx2,fma,f16c"))) void narrow_avx2(std::uint16_t* y, const float* x, std::size_t n) {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kNan32)));
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_loadu_ps(x + i);
        const __m256 clean = _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));  // 0x7FC00000 gives 0x7E00
        _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvtps_ph(clean, _MM_FROUND_TO_NEAREST_INT));
    }
    for (; i < n; ++i) y[i] = narrow(x[i]);
}

/// The sums of `Rows` rows and `Vectors` times eight columns. The pragmas make GCC 12 unroll the loops early; otherwise
/// it writes all sums to the stack in every step.
template <unsigned Rows, unsigned Vectors>
__attribute__((target("avx2,fma,f16c"))) inline void mac32_part_avx2(float* sums, const float* const* rows,
                                                                     const std::int32_t* offsets, const float* factors,
                                                                     std::size_t steps) {
    constexpr unsigned kLanes = 8;
    std::array<const float*, Rows> row;
    __m256 tile[Rows][Vectors];
#pragma GCC unroll 8
    for (unsigned i = 0; i < Rows; ++i) {
        row[i] = rows[i];
#pragma GCC unroll 2
        for (unsigned v = 0; v < Vectors; ++v) tile[i][v] = _mm256_setzero_ps();
    }
    for (std::size_t s = 0; s < steps; ++s, factors += kTileColumns) {
        const std::int32_t at = offsets[s];
        __m256 b[Vectors];
#pragma GCC unroll 2
        for (unsigned v = 0; v < Vectors; ++v) b[v] = _mm256_loadu_ps(factors + v * kLanes);
#pragma GCC unroll 8
        for (unsigned i = 0; i < Rows; ++i) {
            const __m256 a = _mm256_broadcast_ss(row[i] + at);
#pragma GCC unroll 2
            for (unsigned v = 0; v < Vectors; ++v) tile[i][v] = _mm256_fmadd_ps(a, b[v], tile[i][v]);
        }
    }
#pragma GCC unroll 8
    for (unsigned i = 0; i < Rows; ++i)
#pragma GCC unroll 2
        for (unsigned v = 0; v < Vectors; ++v) _mm256_storeu_ps(sums + i * kTileColumns + v * kLanes, tile[i][v]);
}

__attribute__((target("avx2,fma,f16c"))) void mac32_tile_avx2(float* sums, const float* const* rows,
                                                              const std::int32_t* offsets, const float* b,
                                                              std::size_t steps, unsigned columns) {
    constexpr unsigned kLanes = 8, kRows = 4;
    unsigned c = 0;
    for (; c + kLanes < columns; c += 2 * kLanes)
        for (unsigned r = 0; r < kTileRows; r += kRows)
            mac32_part_avx2<kRows, 2>(sums + r * kTileColumns + c, rows + r, offsets, b + c, steps);
    if (c < columns) mac32_part_avx2<kTileRows, 1>(sums + c, rows, offsets, b + c, steps);
}

__attribute__((target("avx512f"))) void mac32_tile_avx512(float* sums, const float* const* rows,
                                                          const std::int32_t* offsets, const float* b,
                                                          std::size_t steps, unsigned columns) {
    constexpr unsigned kLanes = 16;
    static_assert(kTileColumns == 2 * kLanes && kTileRows == 8);
    const std::array<const float*, kTileRows> row = {rows[0], rows[1], rows[2], rows[3],
                                                     rows[4], rows[5], rows[6], rows[7]};
    if (columns <= kLanes) {
        __m512 tile[kTileRows];
        for (__m512& sum : tile) sum = _mm512_setzero_ps();
        for (std::size_t s = 0; s < steps; ++s, b += kTileColumns) {
            const std::int32_t at = offsets[s];
            const __m512 b0 = _mm512_loadu_ps(b);
            for (unsigned i = 0; i < kTileRows; ++i) tile[i] = _mm512_fmadd_ps(_mm512_set1_ps(row[i][at]), b0, tile[i]);
        }
        for (unsigned i = 0; i < kTileRows; ++i) _mm512_storeu_ps(sums + i * kTileColumns, tile[i]);
        return;
    }
    __m512 tile[kTileRows][2];
    for (auto& of_row : tile)
        for (__m512& sum : of_row) sum = _mm512_setzero_ps();
    for (std::size_t s = 0; s < steps; ++s, b += kTileColumns) {
        const std::int32_t at = offsets[s];
        const __m512 b0 = _mm512_loadu_ps(b), b1 = _mm512_loadu_ps(b + kLanes);
        for (unsigned i = 0; i < kTileRows; ++i) {
            const __m512 a = _mm512_set1_ps(row[i][at]);
            tile[i][0] = _mm512_fmadd_ps(a, b0, tile[i][0]);
            tile[i][1] = _mm512_fmadd_ps(a, b1, tile[i][1]);
        }
    }
    for (unsigned i = 0; i < kTileRows; ++i)
        for (unsigned v = 0; v < 2; ++v) _mm512_storeu_ps(sums + i * kTileColumns + v * kLanes, tile[i][v]);
}

#endif

constexpr VectorKernels kPlain{widen_plain, narrow_plain, mac32_tile_plain, mac16_tile_plain};
#if SWITCHYARD_X86_VECTORS
constexpr VectorKernels kAvx2{widen_avx2, narrow_avx2, mac32_tile_avx2, mac16_tile_avx2};
constexpr VectorKernels kAvx512{widen_avx2, narrow_avx2, mac32_tile_avx512, mac16_tile_avx512};
#endif

#if SWITCHYARD_X86_VECTORS
/// Clang's __builtin_cpu_supports() knows no "f16c".
bool has_f16c() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

std::vector<VectorUnit> units_of_this_processor() {
    std::vector<VectorUnit> units{VectorUnit::plain};
#if SWITCHYARD_X86_VECTORS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()) {
        units.push_back(VectorUnit::avx2);
        if (__builtin_cpu_supports("avx512f")) units.push_back(VectorUnit::avx512);
    }
#endif
    return units;
}

}  // namespace

const std::vector<VectorUnit>& vector_units() {
    static const std::vector<VectorUnit> kUnits = units_of_this_processor();
    return kUnits;
}

const VectorKernels& vector_kernels(VectorUnit unit) {
#if SWITCHYARD_X86_VECTORS
    if (unit == VectorUnit::avx2) return kAvx2;
    if (unit == VectorUnit::avx512) return kAvx512;
#else
    static_cast<void>(unit);
#endif
    return kPlain;
}

const VectorKernels& vector_kernels() {
    static const VectorKernels& widest = vector_kernels(vector_units().back());
    return widest;
}

}  // namespace switchyard::numerics
