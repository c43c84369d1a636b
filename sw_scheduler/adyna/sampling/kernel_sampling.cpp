// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/kernel_sampling.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/sampling/micro_batches.h"
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"
#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/suggestion.h"

namespace switchyard::sched {

namespace {

/// The kernels of a profile that counted kernels, with what it counted.
Samples kernels_of(const OperatorProfile& profile) {
    Samples samples;
    for (const auto& [dyn_dim, count] : profile.frequency) {
        if (dyn_dim == 0) continue;
        samples.values.push_back(static_cast<std::uint16_t>(dyn_dim));
        samples.frequency.push_back(static_cast<double>(count));
    }
    return samples;
}

Distribution as_counted(const OperatorProfile& profile) {
    const auto unused = profile.frequency.find(0);
    const double empty = unused == profile.frequency.end() ? 0 : static_cast<double>(unused->second);
    if (profile.by_kernel) return uniform_within_ranges(kernels_of(profile), empty);
    std::vector<double> frequency(profile.unit_samples + std::size_t{1}, 0);
    for (const auto& [dyn_dim, count] : profile.frequency) frequency.at(dyn_dim) = static_cast<double>(count);
    return Distribution(std::move(frequency));
}

DynDims resampled(std::uint16_t largest, unsigned count, const OperatorProfile& profile, const Distribution& phi) {
    const DynDims even = uniform_dyn_dims(largest, count);
    if (!profile.by_kernel) return refine(even, phi);
    const Samples counted = kernels_of(profile);
    const bool same = profile.unit_samples == largest && counted.values.size() == even.size();
    const Samples start = same ? counted : selected_counts(phi, even);
    return resample_best(start, usual_iterations(start.values.size()), phi);
}

}  // namespace

Sampling parse_sampling(const std::string& name) {
    const std::vector<std::string> names{"uniform", "profile", "optimal"};  // by Sampling
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw InputError("sampling: " + not_one_of(name, names));
    return static_cast<Sampling>(found - names.begin());
}

Distribution distribution_of(const OperatorProfile& profile, std::uint32_t unit_samples,
                             std::uint32_t compacted_batch) {
    for (const std::uint32_t samples : {profile.unit_samples, unit_samples, compacted_batch}) {
        if (samples > std::numeric_limits<std::uint16_t>::max())
            throw InputError(
                fmt::format("expected micro-batches of at most 65535 samples, as a kernel has, found {}", samples));
    }
    const Distribution counted = as_counted(profile);
    const auto unit = static_cast<std::uint16_t>(unit_samples);
    const bool in_place = profile.by_kernel && profile.unit_samples == unit_samples;
    if (compacted_batch == 0 || in_place) return in_units(counted, unit);
    return in_compacted_units(in_units(counted, static_cast<std::uint16_t>(compacted_batch)), unit);
}

DynDims sample_dyn_dims(Sampling sampling, std::uint16_t largest, unsigned count, const OperatorProfile& profile,
                        std::uint32_t compacted_batch) {
    if (sampling != Sampling::uniform && count > 1 && count < largest) {
        const Distribution phi = distribution_of(profile, largest, compacted_batch);
        if (phi.frequency(0, largest) > 0)
            return sampling == Sampling::optimal ? optimal_dyn_dims(phi, count)
                                                 : resampled(largest, count, profile, phi);
    }
    return uniform_dyn_dims(largest, count);
}

}  // namespace switchyard::sched
