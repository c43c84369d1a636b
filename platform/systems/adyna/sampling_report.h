// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/sw_scheduler/workload/profile.h"

namespace switchyard::platform {

/// What `sy-sched sample` finds for an operator that may have `kernels` kernels; docs/report_format.md describes it.
/// `file` and `name`: where the operator's profile is from. Throws InputError if its units are too large for a kernel.
nlohmann::ordered_json sampling_json(const std::string& file, const std::string& name,
                                     const sched::OperatorProfile& profile, unsigned kernels);
/// The same for people.
std::string sampling_table(const nlohmann::ordered_json& result);

}  // namespace switchyard::platform
