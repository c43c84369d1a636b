// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/validated_domain.h"

#include <nlohmann/json.hpp>

namespace switchyard::platform {

using nlohmann::ordered_json;

std::vector<std::string> outside_validated_domain(const ordered_json& report) {
    std::vector<std::string> reasons;
    if (!report.is_object()) return reasons;
    const ordered_json none = ordered_json::object();
    const ordered_json validation = report.value("validation", none);
    for (const ordered_json& reason : validation.value("outside", ordered_json::array()))
        reasons.push_back(reason.get<std::string>());
    if (!report.value("against_flits", none).value("validated", true))
        reasons.emplace_back("packets are not validated against flits at this load");
    if (!report.value("calibrated", true)) reasons.emplace_back("the model is not calibrated for this topology");
    return reasons;
}

}  // namespace switchyard::platform
