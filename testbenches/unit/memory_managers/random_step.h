// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/dynn_offload/execution_blocks.h"
#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::testing {

/// A random training step: parameters with Adam's moments, a forward pass with skips and views, its backward pass with
/// gradients accumulated in place, the optimiser. `path`: the same seed with another path shares parameters and the
/// operators before its branch.
sched::TrainingStream random_step(std::uint64_t seed, std::uint64_t path = 0);

/// Most bytes of operands, results and workspace of an operator.
std::uint64_t largest_operator(const sched::TrainingStream& stream);

/// As many operators a block as fit `half_bytes`, as a prediction of this stream.
dynn_offload::Prediction filled_blocks(const sched::TrainingStream& stream, std::uint64_t half_bytes);

}  // namespace switchyard::testing
