// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"

namespace switchyard::sched {

/// Re-sampling where phi(v) is known, because a profile counted every dyn_dim: equation (1) of Adyna, section VII, then
/// needs no assumption. As in Algorithm 1 the value with the least punishment is removed and the one with the most
/// saving is added, with
///   punishment of v[i]                  = phi(v[i-1], v[i]] (v[i+1] - v[i]),
///   saving of m between v[i-1] and v[i] = phi(v[i-1], m] (v[i] - m), at the m where it is largest,
/// where phi(a, b] is the frequency of the dyn_dims in (a, b]. Unlike Algorithm 1 an exchange that does not pay is not
/// made, and the value with the next larger punishment is tried instead; it ends when no exchange of one value for
/// another pays. Every exchange lowers the expected loss, so refining never makes it worse. As many values as before,
/// the last of which must be phi.largest() and stays.
DynDims refine(DynDims values, const Distribution& phi);

}  // namespace switchyard::sched
