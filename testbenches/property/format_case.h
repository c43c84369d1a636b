// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/testbenches/property/format_network.h"
#include "switchyard/testbenches/property/pair.h"

namespace switchyard::testing {

/// A network over the whole model format, a chip of any size, how the one is compiled for the other, and the model of
/// the chip that runs it. The same seed makes the same case.
struct FormatCase {
    Pair pair;
    std::string impl = "tiles";  ///< chip.impl
};
FormatCase draw_format_case(std::uint64_t seed, FormatUse use);

/// What became of a case, as JSON: `seed`, `impl`, and
/// - `ran`: true; `slices`: operators that are parts of a sliced reduction; or
/// - `refused`: the line with which reader or scheduler refuse it, and its `kind`: the line without names and numbers;
/// or
/// - `fault`: anything else, such as a signal, an image that the compiler made and the chip refuses, a conservation
/// check
///   that does not hold.
/// Each case runs in a process of its own, `jobs` at a time, so no SystemC object may exist here.
std::vector<nlohmann::ordered_json> run_format_cases(std::uint64_t first, std::size_t count, unsigned jobs);

/// Over some cases: how many ran, of how many kinds the refusals are, and every fault.
struct FormatSummary {
    std::size_t cases = 0, ran = 0, refused = 0, sliced = 0;
    std::vector<std::string> faults;  ///< "seed: what"
};
FormatSummary summary_of_formats(const std::vector<nlohmann::ordered_json>& results);
std::string format_text(const std::vector<nlohmann::ordered_json>& results);

/// Writes network.yaml, platform.yaml and commands.sh. Does not compile: the scheduler may refuse the case.
void write_format_case(std::uint64_t seed, FormatUse use, const std::string& folder);

}  // namespace switchyard::testing
