// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/point_setting.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

bool is_platform_key(const std::string& key) {
    return key.find('.') != std::string::npos;
}

void apply_setting(const SettingPlace& place, const std::string& key, const std::string& value, Point& point) {
    if (key != name_of(WorkKey::batch_size)) {
        (is_platform_key(key) ? point.overrides : point.parameters)[key] = value;
        return;
    }
    if (parse_plain_number(value, point.work.batch_inputs) != Parsed::ok || point.work.batch_inputs == 0)
        throw InputError(place.file, place.line, key, fmt::format("expected an integer from 1, found \"{}\"", value));
}

}  // namespace switchyard::platform
