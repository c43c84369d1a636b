// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/static_power.h"

namespace switchyard::platform {

void add_static(Activity& activity, const PlatformConfig& platform, double tiles, double nanoseconds) {
    activity.tile_nanoseconds += tiles * nanoseconds;
    activity.leaking_kib_nanoseconds +=
        tiles * static_cast<double>(platform.scratchpad.capacity_bytes) / 1024 * nanoseconds;
}

}  // namespace switchyard::platform
