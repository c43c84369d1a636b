// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace switchyard {

/// Parses JSON. `path` is for messages, `first_line` the line of the file in which the text begins; 0: lines say
/// nothing. Throws InputError: text that is no JSON (with its line and byte), a key that an object has twice (with its
/// place).
nlohmann::json parse_json(std::string_view text, const std::string& path, int first_line = 1);

}  // namespace switchyard
