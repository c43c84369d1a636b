// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/training_stream.h"

namespace switchyard::dynn_offload {

/// Operators [first, first + operators) of a stream, and the storages that have to be in device memory for them.
struct ExecutionBlock {
    std::uint32_t first = 0, operators = 0;
    /// Storages of all operands, ascending: those that must have been brought (they exist before the block) and those
    /// that the block makes.
    std::vector<sched::TensorId> needed;
    std::vector<sched::TensorId> fetched;  ///< of `needed`, those that exist before the block begins
    std::uint64_t needed_bytes = 0;        ///< most of `needed` at once, workspace in it: at most the work buffer
    std::uint64_t fetched_bytes = 0;
    double ns = 0;  ///< sum of the operators' base times
};

/// A partition of a stream: blocks follow one another and cover all operators.
struct ExecutionBlocks {
    std::vector<ExecutionBlock> blocks;
    std::uint64_t peak_bytes = 0;  ///< most needed_bytes of a block
    double ns = 0;                 ///< estimated time of the step with migration, base times only where it is hidden
};

/// Ten elements: operators and control flows; the six idioms; three dimension sizes (DyNN-Offload IV-B).
/// Of the representation by global ids: operators and control flows, and the number of operators of each type.
using BlockVector = std::vector<double>;

/// What the runtime is given for one training step, before it begins.
struct Prediction {
    /// Stream of the predicted path. Its blocks count its operators; its tensors are matched with those of the stream
    /// that really runs by TrainingTensor::key. Never null.
    std::shared_ptr<const sched::TrainingStream> stream;
    ExecutionBlocks blocks;
    /// Ten elements a block, as the pilot gave them (rounded to integers). Two equal outputs are the same to the
    /// records of mispredictions (IV-E).
    std::vector<BlockVector> output;
    bool exact = true;  ///< a path with exactly this output was found; otherwise the nearest by operators
};

}  // namespace switchyard::dynn_offload
