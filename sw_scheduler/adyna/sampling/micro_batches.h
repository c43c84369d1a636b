// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"

namespace switchyard::sched {

/// The distribution in micro-batches of `unit_samples` samples, when `phi` was counted in units of phi.largest()
/// samples, full units both. Units are split and joined as if
/// - the samples of a unit that reach the operator were any of its samples: of a unit of U samples with d at the
///   operator, a part of u samples has k of them with the hypergeometric probability
///     C(d, k) C(U - d, u - k) / C(U, u);
/// - units were independent of one another: the sum of several has the convolution of their distributions.
/// Sizes of which neither divides the other go by way of parts of their greatest common divisor.
Distribution in_units(const Distribution& phi, std::uint16_t unit_samples);

/// The same of a batch that is sorted by whether its samples reach the operator: of a batch with n of them
/// n / unit_samples units are full, at most one has the rest, the others none. phi.largest() is the batch.
Distribution in_compacted_units(const Distribution& phi, std::uint16_t unit_samples);

}  // namespace switchyard::sched
