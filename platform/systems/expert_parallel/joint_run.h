// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/platform/systems/expert_parallel/chip_parts.h"
#include "switchyard/platform/systems/expert_parallel/joint_outcome.h"

namespace switchyard::platform::expert_parallel {

/// Elaborates the parts of all chips and the links between them (hw::LinkNetwork), and runs the batches. Once a process
/// (SystemC). `exchanges`: by batch and layer of experts.
///
/// A chip runs one part at a time (SharedChip). It sends its cells when the part in front of a layer of experts ends,
/// its experts may begin when all cells for it have come, and send results when they end; what follows may begin when
/// all of its results are back. Batch b begins on all chips when batch b - batches_in_flight has ended on all of them.
///
/// Modelled: contention of the messages of all batches on links, of the batches' parts for chips; the hosts' work
/// between batches of a part. Not modelled: cells that leave before the whole part in front has ended.
///
/// Throws InputError: a design whose models stand in no simulation with others. Throws std::runtime_error that lists
/// what waits for what if nothing goes on any more.
JointOutcome run_joint(const ExpertParallelConfig& config, const ChipParts& parts,
                       const std::vector<std::vector<Exchange>>& exchanges);

}  // namespace switchyard::platform::expert_parallel
