// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/simulation.h"

namespace switchyard::platform {

/// The keys `tiles` and `links` of a report (docs/report_format.md): each tile and each link between routers by itself,
/// in shares of the run, which took `run_cycles`. For heat maps.
nlohmann::ordered_json tiles_json(const PlatformConfig& platform, const RunResult& result, double run_cycles);
nlohmann::ordered_json links_json(const PlatformConfig& platform, const RunResult& result, double run_cycles);

}  // namespace switchyard::platform
