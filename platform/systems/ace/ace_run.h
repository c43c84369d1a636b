// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/ace/ace_config.h"
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"

namespace switchyard::platform::ace {

struct AceWork {
    sched::StreamModel model;
    std::vector<sched::GeneratedStream> inputs;  ///< one after another; one at least
};

inline constexpr const char* kFullGraph = "gpu-full-graph";

/// The designs' names in reports and experiments, the baseline first.
const std::vector<std::string>& ace_designs();

/// Elaborates the GPU and its host, runs the inputs by one of ace_designs(), and returns the report.
nlohmann::ordered_json run_ace(const AceWork& work, const AceConfig& config, const std::string& design);

}  // namespace switchyard::platform::ace
