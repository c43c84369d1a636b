// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>

#include "switchyard/testbenches/catch.h"

namespace switchyard::testing {

/// REQUIRE(ours == reference) for millions of comparisons: costs a Catch assertion only when it fails.
template <class... Operands>
void agree(std::uint32_t ours, std::uint32_t reference, Operands... operands) {
    if (ours == reference) return;
    std::ostringstream text;
    text << std::hex;
    ((text << " 0x" << operands), ...);
    FAIL("operands" << text.str() << ": 0x" << std::hex << ours << " is not the reference's 0x" << reference);
}

}  // namespace switchyard::testing
