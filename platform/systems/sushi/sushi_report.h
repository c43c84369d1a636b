// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/sushi/supernet_memory.h"
#include "switchyard/platform/systems/sushi/sushi_run.h"

namespace switchyard::platform::sushi {

/// The report of a run, with its checks (docs/report_format.md).
nlohmann::ordered_json sushi_report(const SushiWork& work, const SushiConfig& config, const SushiDesign& design,
                                    const SupernetMemory& memory, const SushiRun& run);

}  // namespace switchyard::platform::sushi
