// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/expert_parallel/chip_parts.h"
#include "switchyard/platform/systems/expert_parallel/expert_batch.h"
#include "switchyard/platform/systems/expert_parallel/joint_outcome.h"

namespace switchyard::platform::expert_parallel {

/// What the parts' own runs said, and the batches of all chips. Undivided: `times` is empty.
struct ClusterOutcome {
    std::vector<std::vector<double>> part_us;  ///< [part][batch], weights on the tiles where the schedule keeps them
    std::vector<double> reload_us;             ///< [part] more in a batch that loads them; 0 for the whole network
    std::vector<double> reloaded_us;           ///< [part] of a batch, spent with that
    std::vector<std::string> failed;           ///< parts whose own checks failed
    std::vector<std::string> outside;          ///< what is outside a part's validated domain
    nlohmann::ordered_json fidelity;           ///< of the chips
    std::vector<std::vector<Exchange>> exchanges;  ///< by batch and layer of experts
    std::vector<BatchTimes> times;
    std::vector<std::uint64_t> channel_bytes;  ///< of all batches
    std::optional<JointOutcome> joint;
    std::vector<BatchTimes> without_overlap;  ///< joint: of the same parts, if each batch had all chips and links
};

/// Adds what a part's report says of its model's validated domain, "experts of chip 1: ...".
void add_outside(const std::string& part, const nlohmann::ordered_json& report, std::vector<std::string>& outside);

/// The report (docs/brainstorm.md, "Experts on several chips").
nlohmann::ordered_json expert_parallel_report(const ExpertParallelConfig& config, const DividedWork& work,
                                              const ChipParts& parts, const ClusterOutcome& outcome);

}  // namespace switchyard::platform::expert_parallel
