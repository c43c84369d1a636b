// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::sched {

/// Reads a log of the DTR simulator `simrd` (JSON Lines: CONSTANT, MEMORY, COPY, COPY_FROM, RELEASE, CALL, MUTATE,
/// ALIAS, ANNOTATE). What stands before ANNOTATE START is left out, if there is one. Times are ns, memory is bytes.
///
/// As the simulator takes them:
/// - a CONSTANT is there from the start (kind input) and pinned; it cannot be computed again;
/// - COPY and COPY_FROM are references, a storage is released with its last one; a RELEASE of an unknown name is
///   ignored;
/// - a result with an ALIAS of -1 has its own storage, otherwise it is a view of that argument's;
/// - MUTATE makes a new storage of the same size in the place of the old one, so that it can be repeated (copy on
///   write);
/// - behind the first operator with "backward" in its name, or ANNOTATE BACKWARD, all is backward pass.
/// What is still referenced at the end (weights' gradients) is never released; its kind is `gradient`.
/// Throws InputError "FILE:LINE: ...": no JSON, a verb or key that is not there, an unknown tensor, a log that ends
/// within an operator or without one.
TrainingStream read_dtr_log(const std::string& path);

}  // namespace switchyard::sched
