// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "switchyard/testbenches/calibration/gpu/kernel_fit.h"

namespace switchyard::calibration {

/// The kernel that a library takes for a measured operator on a GPU.
using KernelChoice = std::function<sched::GpuKernel(const MeasuredKernel&, const sched::GpuDescription&)>;

/// us that each kernel takes on the simulated device that it was measured on (hw/gpu, its platform file), as the
/// measurements were made: each kernel several times in a row on one queue, so that caches are warm; from the
/// completion of one launch to that of the next. Once a process: it elaborates and runs a simulation. `overrides`: of
/// both platform files.
std::vector<double> simulate_us(const std::vector<MeasuredKernel>& kernels, const KernelChoice& choose,
                                const std::map<std::string, std::string>& overrides = {});
/// The same with the schedule that is the quickest of all for that device.
std::vector<double> simulate_us(const std::vector<FitKernel>& kernels,
                                const std::map<std::string, std::string>& overrides = {});

}  // namespace switchyard::calibration
