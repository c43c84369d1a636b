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
/// The same; its objects keep the order of their keys.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& path, int first_line = 1);

/// On one line, or with `indent` spaces a level. Text that is not UTF-8, as names of files may be, gets U+FFFD.
std::string json_text(const nlohmann::json& document, int indent = -1);
std::string json_text(const nlohmann::ordered_json& document, int indent = -1);

}  // namespace switchyard
