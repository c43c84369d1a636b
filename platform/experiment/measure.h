// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace switchyard::platform {

/// The numbers of a report under a key with dots ("summary.latency_us.mean"): one, or one for each element of a list on
/// the way ("batches.latency_us"). Empty if there is none, or something else.
std::vector<double> numbers_at(const nlohmann::ordered_json& report, const std::string& key);

/// The members of the mapping under a key with dots ("energy.parts_mj"). Empty if there is none, or a member is no
/// number.
std::vector<std::pair<std::string, double>> parts_at(const nlohmann::ordered_json& report, const std::string& key);

/// The report has true under a key with dots.
bool is_true_at(const nlohmann::ordered_json& report, const std::string& key);

}  // namespace switchyard::platform
