// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/shown.h"

namespace switchyard {

/// What a value is, for a message: "an object", "a list of 3", its text in quotes, its number.
inline std::string json_kind(const nlohmann::json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return fmt::format("a list of {}", value.size());
    if (value.is_string()) return shown(value.get_ref<const std::string&>());
    return json_text(value);
}

}  // namespace switchyard
