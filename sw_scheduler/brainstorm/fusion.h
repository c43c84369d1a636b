// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/cell_router.h"
#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::sched::brainstorm {

/// Cells that kernels are tuned for, rising: the loads at `percentiles` (0 to 1) of a router's profile, rounded up to a
/// multiple of `unit`, each once (section 4.1). Schedules cut loads into equal parts, so that a load with few divisors
/// has slow kernels. Throws InputError if the profile has no cells.
std::vector<std::uint64_t> tuned_loads(const CellProfile& profile, std::size_t router,
                                       const std::vector<double>& percentiles, std::uint64_t unit = 1);
/// Sizes of the kernels that compute `load` cells: the least tuned load that takes them; beyond the largest, several.
std::vector<std::uint64_t> padded_loads(const std::vector<std::uint64_t>& tuned, std::uint64_t load);

/// Segments beyond what a launch can name are left out, all of them: the kernel's bytes then go past the L2.
void limit_segments(GpuKernel& kernel);

/// One launch that computes what the kernels compute side by side: the sum of their CTAs and work. A kernel's CTAs are
/// alike in the GPU's model, so those of the result are the mean of all, with the most threads, registers and shared
/// memory of any, but no more registers than an SM has for one CTA. Throws InputError without kernels.
GpuKernel fused_kernel(const std::string& name, const std::vector<GpuKernel>& kernels);

}  // namespace switchyard::sched::brainstorm
