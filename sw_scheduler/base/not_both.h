// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <fmt/format.h>

namespace switchyard {

/// "expected A or B, found both; leave one out"
inline std::string not_both(const std::string& a, const std::string& b) {
    return fmt::format("expected {} or {}, found both; leave one out", a, b);
}

}  // namespace switchyard
