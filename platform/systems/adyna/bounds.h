// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/simulation.h"

namespace switchyard::platform {

/// The key `bounds` of a report (docs/report_format.md): what the chip's tiles and each operator's tiles do with the
/// time of the run, in shares that add up to 1, and what causes the waits for other operators. `run_cycles`: from the
/// first doorbell to the last interrupt.
///
/// A wait for another operator is followed to what that one does: its own shares take the wait's place, and so on. This
/// is an absorbing Markov chain (Kemeny and Snell, Finite Markov Chains, chapter III): operators are its transient
/// states, and everything that is no wait for an operator absorbs.
nlohmann::ordered_json bounds_json(const PlatformConfig& platform, const RunResult& result, double run_cycles);

}  // namespace switchyard::platform
