// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/energy.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/simulation.h"

namespace switchyard::platform {

/// Time of the run (first doorbell to last interrupt) and what was done in it.
struct RunActivity {
    double nanoseconds = 0;
    Activity chip;                ///< counted over the whole chip
    double total_picojoules = 0;  ///< summed over tiles, network and memory one by one
};
RunActivity run_activity(const PlatformConfig& platform, const RunResult& result);

/// `expected`: one a batch. Each sample goes where its mask says, bytes that leave a module arrive at another, nothing
/// is faster than its peak, the parts of the energy make the total.
std::vector<Check> check_conservation(const PlatformConfig& platform, const Image& image,
                                      const std::vector<Expectation>& expected, const RunResult& result);

}  // namespace switchyard::platform
