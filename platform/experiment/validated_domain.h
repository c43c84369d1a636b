// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::platform {

/// Why the run of a report is outside the domain in which its model was validated, a sentence each; empty if it is
/// inside, and if the report says nothing about it. Reads what reports of all systems have (docs/report_format.md):
/// `validation.outside`, `against_flits.validated` and `calibrated`.
std::vector<std::string> outside_validated_domain(const nlohmann::ordered_json& report);

}  // namespace switchyard::platform
