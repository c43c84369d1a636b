// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/joint_outcome.h"
#include "switchyard/sw_scheduler/base/json_text.h"

#include <nlohmann/json.hpp>

namespace switchyard::platform::expert_parallel {

// The library says which key is missing, or has another type.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChipTimes, between_us, experts_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchTimes, latency_us, chips_us, dispatch_us, return_us, link_bytes,
                                   expected_channel_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JointOutcome, part_us, reload_us, reloaded_us, failed, outside, chips, times,
                                   channel_bytes, channel_busy, chip_busy, reloads, sent_bytes, received_bytes, run_us)

std::string text_of(const JointOutcome& outcome) {
    return json_text(nlohmann::json(outcome));
}

JointOutcome joint_outcome(const std::string& text) {
    return parse_json(text, "answer of a process").get<JointOutcome>();
}

}  // namespace switchyard::platform::expert_parallel
