// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace switchyard {

/// Text of a user's file for a message: in quotes, its beginning, with ? in place of control characters.
inline std::string shown(std::string_view text) {
    constexpr std::size_t kShown = 60;
    std::string result = "\"";
    for (const char c : text.substr(0, kShown)) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return result + (text.size() > kShown ? "...\"" : "\"");
}

}  // namespace switchyard
