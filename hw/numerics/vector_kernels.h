// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Loops of hw/numerics in the widest vectors that the processor has. Which ones that is shows when the program runs;
/// the bits of the results do not depend on it. Where a NaN comes out it is not canonical yet, unless said otherwise.
namespace switchyard::numerics {

/// `plain`: what the compiler makes of C++. `avx2`: AVX2, FMA and F16C. `avx512`: AVX-512F.
enum class VectorUnit { plain, avx2, avx512 };

/// A tile of sums that is computed at once.
inline constexpr unsigned kTileRows = 8, kTileColumns = 32;

struct VectorKernels {
    /// wide[i] = widen(x[i]) for `n` elements; NaNs canonical.
    void (*widen)(float* wide, const std::uint16_t* x, std::size_t n);
    /// y[i] = narrow(x[i]) for `n` elements; NaNs canonical.
    void (*narrow)(std::uint16_t* y, const float* x, std::size_t n);
    /// sums[r * kTileColumns + c] = sum over the steps, in their order, from +0, of rows[r][offsets[step]] *
    /// b[step * kTileColumns + c], for kTileRows rows and at least `columns` columns. The factors are binary16 values,
    /// so their products are exact and a fused multiply-add has the bits of a product and a sum.
    void (*mac32_tile)(float* sums, const float* const* rows, const std::int32_t* offsets, const float* b,
                       std::size_t steps, unsigned columns);
    /// The same with binary16 sums, rounded once at each step as fma16() does.
    void (*mac16_tile)(float* sums, const float* const* rows, const std::int32_t* offsets, const float* b,
                       std::size_t steps, unsigned columns);
};

/// Those that this processor has, the widest last.
const std::vector<VectorUnit>& vector_units();
/// Of one of these.
const VectorKernels& vector_kernels(VectorUnit unit);
/// Of the widest.
const VectorKernels& vector_kernels();

}  // namespace switchyard::numerics
