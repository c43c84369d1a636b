// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchyard::testing {

/// Correctly rounded binary16 and binary32 arithmetic by GNU MPFR: arbitrary precision in integer arithmetic, rounded
/// once, with IEEE exponent ranges and subnormals. It shares nothing with what it checks: no floating-point unit, no
/// conversion of the compiler, no line of hw/numerics or rtl. NaN results are canonical.
std::uint16_t reference_fma16(std::uint16_t a, std::uint16_t b, std::uint16_t c);
std::uint32_t reference_mac32(std::uint16_t a, std::uint16_t b, std::uint32_t c);
std::uint32_t reference_widen(std::uint16_t x);
std::uint16_t reference_narrow(std::uint32_t x);

/// What rounding to nearest even has to decide: the part of the exact result below the format's last place, against
/// half of that place. Finite operands.
enum class FpRemainder : std::uint8_t { none, below_tie, tie, above_tie };
FpRemainder remainder_fma16(std::uint16_t a, std::uint16_t b, std::uint16_t c);
FpRemainder remainder_mac32(std::uint16_t a, std::uint16_t b, std::uint32_t c);
FpRemainder remainder_narrow(std::uint32_t x);

}  // namespace switchyard::testing
