// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace switchyard {

/// The seven dimensions of the template loop nest (Adyna section VI-B, Fig. 8): batch samples (the dyn_dim), output
/// channels, input channels, output rows, output columns, filter rows, filter columns.
enum class Dim : unsigned { n, k, c, p, q, r, s };
inline constexpr unsigned kDims = 7;

/// The five levels of the nest, innermost first.
/// reg: outputs that one PE holds; pe: spatial over the PE array (n, p, q over rows, k over columns);
/// spm: temporal, operands in the scratchpad; tile: spatial over the tiles of the operator; unit: temporal, over the
/// micro-batches of n that one invocation takes as they come and passes on as they are finished (1: an invocation for
/// each micro-batch).
enum class Level : unsigned { reg, pe, spm, tile, unit };
inline constexpr unsigned kLevels = 5;

/// One kernel: the metadata from which the template nest is run, 128 bytes in the image and in the scratchpad.
/// total[d] is the operator's size in dimension d (total[n] = dyn_dim: the size that the kernel was made for);
/// the product of block[l][d] over all levels covers it (>= total).
struct Kernel {
    struct Loop {
        std::uint16_t block = 1;  ///< trip count of this dimension at this level
        std::uint8_t stride = 1;  ///< 4 bits: input step per iteration (p, q at reg level: the convolution's stride)
        std::uint8_t order = 0;   ///< 4 bits: position at this level, 0 = innermost
    };
    std::array<std::array<Loop, kDims>, kLevels> loops{};
    std::array<std::uint16_t, kDims> total{1, 1, 1, 1, 1, 1, 1};
    std::uint16_t op_id = 0;     ///< operator in the image's operator table
    std::uint8_t vector_op = 0;  ///< 1: element-wise / pool / merge (no second operand); 0: multiply-accumulate
    std::uint8_t pad = 0;        ///< zero rows/columns on each side of the input (p and q alike)

    std::uint16_t dyn_dim() const { return total[static_cast<unsigned>(Dim::n)]; }
    /// Samples of one iteration of the unit level, which must divide dyn_dim().
    std::uint16_t unit_samples() const {
        return static_cast<std::uint16_t>(dyn_dim() / loop(Level::unit, Dim::n).block);
    }
    Loop& loop(Level level, Dim dim) { return loops[static_cast<unsigned>(level)][static_cast<unsigned>(dim)]; }
    const Loop& loop(Level level, Dim dim) const {
        return loops[static_cast<unsigned>(level)][static_cast<unsigned>(dim)];
    }
    std::uint16_t size(Dim dim) const { return total[static_cast<unsigned>(dim)]; }
};

inline constexpr std::size_t kKernelBytes = 128;
using KernelBytes = std::array<std::uint8_t, kKernelBytes>;

/// Layout: docs/image_format.md. Bytes 0..104: 35 loops (level-major) of block u16 LE, then stride | order << 4;
/// 105..118: seven totals u16 LE; 119..120 op_id; 121 flags (bit 0 vector_op); 122 pad; 123..125 zero;
/// 126..127 CRC-16/CCITT-FALSE of bytes 0..125. Throws std::out_of_range if a field does not fit.
KernelBytes encode(const Kernel& kernel);
/// Throws InputError if the CRC, a reserved byte, a block of zero or an order is wrong.
Kernel decode_kernel(const std::uint8_t* bytes);

}  // namespace switchyard
