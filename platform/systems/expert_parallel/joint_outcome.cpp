// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/joint_outcome.h"

#include <nlohmann/json.hpp>

namespace switchyard::platform::expert_parallel {

// The library says which key is missing, or has another type.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ChipTimes, between_us, experts_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchTimes, latency_us, chips_us, dispatch_us, return_us, link_bytes,
                                   expected_channel_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JointOutcome, part_us, reload_us, reloaded_us, failed, chips, times, channel_bytes,
                                   channel_busy, chip_busy, reloads, sent_bytes, received_bytes, run_us)

std::string text_of(const JointOutcome& outcome) {
    // A part's name need not be UTF-8.
    return nlohmann::json(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

JointOutcome joint_outcome(const std::string& text) {
    return nlohmann::json::parse(text).get<JointOutcome>();
}

}  // namespace switchyard::platform::expert_parallel
