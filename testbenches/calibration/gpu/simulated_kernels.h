// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/testbenches/calibration/gpu/kernel_fit.h"

namespace switchyard::calibration {

/// us that each kernel takes on the simulated device that it was measured on (hw/gpu, its platform file), as the
/// measurements were made: each kernel several times in a row on one queue, so that caches are warm; from the
/// completion of one launch to that of the next. The schedule is the quickest of all for that device. Once a process:
/// it elaborates and runs a simulation. `overrides`: of both platform files.
std::vector<double> simulate_us(const std::vector<FitKernel>& kernels,
                                const std::map<std::string, std::string>& overrides = {});

}  // namespace switchyard::calibration
