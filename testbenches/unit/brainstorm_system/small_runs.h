// SPDX-License-Identifier: Apache-2.0
// Whole runs of small networks, for the tests of this folder.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"

namespace switchyard::platform {
std::unique_ptr<System> make_brainstorm_system();
}

namespace switchyard::testing {

inline const std::string kConfigs = std::string(SOURCE_FOLDER) + "/configs/";

/// Two batches of a network of configs/workloads/brainstorm on brainstorm_`platform`.yaml.
platform::Point point_of(const std::string& design, const std::string& network,
                         std::map<std::string, std::string> overrides, const std::string& platform = "a100");
/// The report; all its checks hold.
nlohmann::ordered_json run(const platform::Point& point);

}  // namespace switchyard::testing
