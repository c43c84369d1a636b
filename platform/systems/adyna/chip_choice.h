// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"

namespace switchyard::platform {

/// Runs on a chip and returns what the run has to say; with the report at `kReport`.
using ChipRun = std::function<nlohmann::ordered_json(const PlatformConfig&)>;
constexpr const char* kReport = "report";

/// `run` on the chip that `chip.impl` asks for. `auto`: first as stages, in a process of its own; if stages are not
/// validated for such a run (validated_domain.h), or give up, again as tiles, in this process. The report says why:
/// `validation.not_stages`. Like run_simulation(), at most once a process.
nlohmann::ordered_json run_on_chosen_chip(const PlatformConfig& platform, const ChipRun& run);

/// The report of `run` on tiles, in a process of its own: before this process runs anything itself.
nlohmann::ordered_json report_of_tiles(const PlatformConfig& platform, const ChipRun& run);

/// `validation.spot_check` of a report: mean latency of the batches that `tiles`, a report of the first batches on
/// tiles, has, in both, and their difference as a share of that on tiles. Null if the chip of `report` is tiles.
nlohmann::ordered_json spot_check(const nlohmann::ordered_json& report, const nlohmann::ordered_json& tiles);

}  // namespace switchyard::platform
