// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/joint_outcome.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace switchyard::platform::expert_parallel {

nlohmann::ordered_json to_json(const JointOutcome& outcome) {
    nlohmann::ordered_json chips = nlohmann::ordered_json::array(), times = nlohmann::ordered_json::array();
    for (const ChipTimes& one : outcome.chips)
        chips.push_back({{"between_us", one.between_us}, {"experts_us", one.experts_us}});
    for (const BatchTimes& one : outcome.times)
        times.push_back({{"latency_us", one.latency_us},
                         {"chips_us", one.chips_us},
                         {"dispatch_us", one.dispatch_us},
                         {"return_us", one.return_us},
                         {"link_bytes", one.link_bytes},
                         {"expected_channel_bytes", one.expected_channel_bytes}});
    return {{"part_us", outcome.part_us},
            {"reload_us", outcome.reload_us},
            {"reloaded_us", outcome.reloaded_us},
            {"failed", outcome.failed},
            {"chips", std::move(chips)},
            {"times", std::move(times)},
            {"channel_bytes", outcome.channel_bytes},
            {"channel_busy", outcome.channel_busy},
            {"chip_busy", outcome.chip_busy},
            {"reloads", outcome.reloads},
            {"sent_bytes", outcome.sent_bytes},
            {"received_bytes", outcome.received_bytes},
            {"run_us", outcome.run_us}};
}

JointOutcome joint_outcome(const nlohmann::ordered_json& json) {
    JointOutcome outcome;
    json.at("part_us").get_to(outcome.part_us);
    json.at("reload_us").get_to(outcome.reload_us);
    json.at("reloaded_us").get_to(outcome.reloaded_us);
    json.at("failed").get_to(outcome.failed);
    for (const auto& one : json.at("chips")) {
        outcome.chips.emplace_back();
        one.at("between_us").get_to(outcome.chips.back().between_us);
        one.at("experts_us").get_to(outcome.chips.back().experts_us);
    }
    for (const auto& one : json.at("times")) {
        BatchTimes times;
        one.at("latency_us").get_to(times.latency_us);
        one.at("chips_us").get_to(times.chips_us);
        one.at("dispatch_us").get_to(times.dispatch_us);
        one.at("return_us").get_to(times.return_us);
        one.at("link_bytes").get_to(times.link_bytes);
        one.at("expected_channel_bytes").get_to(times.expected_channel_bytes);
        outcome.times.push_back(std::move(times));
    }
    json.at("channel_bytes").get_to(outcome.channel_bytes);
    json.at("channel_busy").get_to(outcome.channel_busy);
    json.at("chip_busy").get_to(outcome.chip_busy);
    json.at("reloads").get_to(outcome.reloads);
    json.at("sent_bytes").get_to(outcome.sent_bytes);
    json.at("received_bytes").get_to(outcome.received_bytes);
    json.at("run_us").get_to(outcome.run_us);
    return outcome;
}

}  // namespace switchyard::platform::expert_parallel
