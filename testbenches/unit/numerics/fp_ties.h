// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/testbenches/unit/numerics/fp_stimulus.h"

/// Directed vectors for one rounding to nearest even: exact ties, values just above and just below them, and a single
/// bit of the remainder at each of its places. They cover both signs, the exponent of every result with a fraction to
/// round (subnormal results and the carries out of them included), and even, odd, zero and all-ones fractions.
namespace switchyard::testing {

/// a * b + c, rounded to binary16.
const std::vector<FpStimulus::Triple16>& ties16();
/// a * b + c with binary32 c, rounded to binary32.
const std::vector<FpStimulus::Triple32>& ties32();
/// Binary32 values to be rounded to binary16.
const std::vector<std::uint32_t>& narrow_ties();

}  // namespace switchyard::testing
