// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/ace/ace_run.h"

namespace switchyard::platform::ace {

/// The report of a run (docs/ace.md has its keys), with the checks that must hold whatever the workload.
nlohmann::ordered_json ace_report(const AceWork& work, const AceConfig& config, const std::string& design,
                                  const AceOutcome& outcome);

}  // namespace switchyard::platform::ace
