// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"

namespace switchyard::sched {

/// A distribution of dyn_dims and a number of kernels for it.
struct SamplingCase {
    std::string kind;
    Distribution phi;
    unsigned kernels;
};

/// What random_case() draws from, each as often as the others.
const std::vector<std::string>& distribution_kinds();

/// Case `index`: of kind index mod the number of kinds. The largest dyn_dim is 16 to 8192, its logarithm uniform. The
/// number of kernels is 32 or 200 in a quarter of the cases each, otherwise uniform between 2 and 200; but at most a
/// number drawn uniformly between 2 and the largest dyn_dim. Depends on the index only.
SamplingCase random_case(unsigned index);

/// Uniform in [0, 1), the same with every standard library.
double uniform(std::mt19937& random);

}  // namespace switchyard::sched
