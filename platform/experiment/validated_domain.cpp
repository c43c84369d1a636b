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
    // A list of what was measured, or false.
    if (const auto calibrated = report.find("calibrated"); calibrated != report.end() && *calibrated == false)
        reasons.emplace_back("no measured links are like these");
    return reasons;
}

}  // namespace switchyard::platform
