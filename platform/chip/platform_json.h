// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"

namespace switchyard::platform {

/// `platform` of a report (docs/report_format.md).
nlohmann::ordered_json platform_json(const PlatformConfig& platform);

}  // namespace switchyard::platform
