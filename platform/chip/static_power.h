// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/system/energy.h"

namespace switchyard::platform {

/// Adds what `tiles` of the chip draw by being on for so long.
void add_static(Activity& activity, const PlatformConfig& platform, double tiles, double nanoseconds);

}  // namespace switchyard::platform
