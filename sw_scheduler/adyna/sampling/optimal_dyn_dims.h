// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"

namespace switchyard::sched {

/// The set with the least expected loss: at most `count` values, phi.largest() among them. Values other than the
/// largest need only be dyn_dims that occur, s[1] < s[2] < ... < s[m]; with L(a, b) = phi.loss(a, b) and s[0] = 0
///   min[1][i] = L(0, s[i]),   min[k][i] = minimum of min[k-1][j] + L(s[j], s[i]) over j < i,
/// and the answer is min[count][m]. The best j never falls as i grows (L satisfies the quadrangle inequality), so a
/// row takes m log m steps by halving. If fewer than `count` dyn_dims occur, the rest halve the widest gaps, for what
/// was not seen.
DynDims optimal_dyn_dims(const Distribution& phi, unsigned count);

}  // namespace switchyard::sched
