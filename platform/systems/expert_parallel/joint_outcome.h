// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/platform/systems/expert_parallel/expert_batch.h"

namespace switchyard::platform::expert_parallel {

/// What a run of all chips and links in one simulation has shown.
struct JointOutcome {
    std::vector<std::vector<double>> part_us;  ///< [part][batch], mean of the chips; empty for the whole network
    std::vector<double> reload_us;             ///< [part] more in a batch that loads its weights
    std::vector<double> reloaded_us;           ///< [part] of a batch, spent with that, mean of the chips
    std::vector<std::string> failed;           ///< parts whose own checks failed
    std::vector<std::string> outside;          ///< what is outside a part's validated domain
    std::vector<ChipTimes> chips;              ///< by batch, of the slowest chip where a part is on all of them
    std::vector<BatchTimes> times;             ///< by batch, without bytes_of_channel
    std::vector<std::uint64_t> channel_bytes;  ///< by channel
    std::vector<double> channel_busy;          ///< by channel, share of the time
    std::vector<double> chip_busy;             ///< by chip, the same
    std::vector<double> reloads;               ///< by chip, of a batch
    std::uint64_t sent_bytes = 0, received_bytes = 0;
    double run_us = 0;  ///< from the begin of the first batch to the end of the last one
};

/// JSON, from one process to another. Reading throws an exception of nlohmann, which names the key.
std::string text_of(const JointOutcome& outcome);
JointOutcome joint_outcome(const std::string& text);

}  // namespace switchyard::platform::expert_parallel
