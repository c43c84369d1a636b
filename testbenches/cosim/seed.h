// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace switchyard::testing {

/// The seed of a test's random stimulus: environment SWITCHYARD_SEED, or 1. A test puts it into what a failure prints:
///   INFO("replay with SWITCHYARD_SEED=" << seed);
inline std::uint64_t random_seed() {
    const char* text = std::getenv("SWITCHYARD_SEED");
    return text == nullptr ? 1 : std::stoull(text);
}

}  // namespace switchyard::testing
