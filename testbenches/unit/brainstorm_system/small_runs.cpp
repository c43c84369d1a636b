// SPDX-License-Identifier: Apache-2.0
#include "small_runs.h"

#include <utility>

#include "switchyard/testbenches/catch.h"

namespace switchyard::testing {

using nlohmann::ordered_json;

platform::Point point_of(const std::string& design, const std::string& network,
                         std::map<std::string, std::string> overrides, const std::string& platform) {
    platform::Point point;
    point.design = design;
    point.platform = kConfigs + "platforms/brainstorm_" + platform + ".yaml";
    point.workload = kConfigs + "workloads/brainstorm/" + network + ".yaml";
    point.overrides = std::move(overrides);
    point.work.batches = 2;
    return point;
}

ordered_json run(const platform::Point& point) {
    ordered_json report = platform::make_brainstorm_system()->prepare(point)->run();
    for (const ordered_json& check : report.at("conservation")) {
        INFO(check.dump());
        CHECK(check.at("ok") == true);
    }
    return report;
}

}  // namespace switchyard::testing
