// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/platform/system/system.h"

namespace switchyard::platform {

/// Where a setting is written: a file and a line, or an option and 0.
struct SettingPlace {
    std::string file;
    int line = 0;
};

/// Applies a setting, as `set` of a file or `--set` has it, to the part of the point that it is for: `batch_size` is of
/// the work, "section.key" overrides the platform, any other key is a parameter of the design. Throws InputError for a
/// batch size that is no integer from 1 on.
void apply_setting(const SettingPlace& place, const std::string& key, const std::string& value, Point& point);

/// "section.key": of the platform.
bool is_platform_key(const std::string& key);

}  // namespace switchyard::platform
