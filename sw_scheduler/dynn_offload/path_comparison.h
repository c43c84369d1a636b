// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "switchyard/sw_scheduler/dynn_offload/partition.h"

namespace switchyard::dynn_offload {

/// What is a misprediction everywhere: the blocks of the predicted path and those of the path that is taken,
/// partitioned for the network's label_buffer_gb, do not fetch the same tensors (blocks_signature()). Two paths that
/// differ only inside of blocks are no misprediction.
class PathComparison {
public:
    explicit PathComparison(const sched::TrainingNetwork& network);
    bool mispredicted(std::uint32_t predicted, std::uint32_t taken);
    BlockPlanner& labels() { return labels_; }

private:
    const sched::TrainingNetwork& network_;
    BlockPlanner labels_;
    std::map<std::uint32_t, std::uint64_t> signatures_;
};

}  // namespace switchyard::dynn_offload
