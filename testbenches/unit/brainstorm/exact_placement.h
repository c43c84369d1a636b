// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/brainstorm/placement.h"

namespace switchyard::sched::brainstorm {

/// The optimum, by GLPK's branch and cut on the linearised programme: z of a flow is at least the difference of its
/// ends' x for each device. For small problems: the time grows exponentially. Throws InputError if no placement keeps
/// the constraints, std::runtime_error if GLPK gives up after `limit_ms`. In the tests, not in the library: GLPK is
/// under the GPL 3.
Placement exact_placement(const PlacementProblem& problem, int limit_ms = 60000);

}  // namespace switchyard::sched::brainstorm
