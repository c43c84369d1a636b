// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"
#include "switchyard/sw_scheduler/workload/profile.h"

namespace switchyard::sched {

/// How the dyn_dims are chosen for which an operator has kernels (docs/scheduler.md).
enum class Sampling {
    uniform,  ///< evenly spaced: the initial kernels of Adyna, section VII
    profile,  ///< evenly spaced, then re-sampled from a profile
    optimal   ///< the least expected loss that the profile allows, by dynamic programming
};

/// "uniform", "profile", "optimal"; throws InputError that lists them.
Sampling parse_sampling(const std::string& name);

/// phi(v) at an operator in micro-batches of `unit_samples` samples (micro_batches.h), as its profile has it;
/// dyn_dims that were counted by kernel are taken as equally frequent within each kernel's range. Throws InputError if
/// the profile's units are larger than a kernel's 16 bits. `compacted_batch`: the number of samples of the batch that
/// is sorted for the operator (SegmentOrder); 0: it is not. What a chip counted in units of this size is taken as it
/// is.
Distribution distribution_of(const OperatorProfile& profile, std::uint32_t unit_samples,
                             std::uint32_t compacted_batch = 0);

/// dyn_dims for min(`count`, `largest`) kernels of an operator in micro-batches of `largest` samples, the largest
/// among them. Sampling::profile: where the profile counted every dyn_dim, refine() of the evenly spaced ones; where it
/// counted kernels, Algorithm 1 (resample_best()), which begins with those kernels if they are as many and for the same
/// units, or else with evenly spaced ones. What an operator whose profile has no sample gets is evenly spaced.
/// `compacted_batch`: as for distribution_of().
DynDims sample_dyn_dims(Sampling sampling, std::uint16_t largest, unsigned count, const OperatorProfile& profile,
                        std::uint32_t compacted_batch = 0);

}  // namespace switchyard::sched
