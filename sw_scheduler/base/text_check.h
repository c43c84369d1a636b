// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace switchyard {

/// What every text file may begin with.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The deepest lists and mappings within each other that JSON and YAML files may have. What reads, walks and destroys a
/// document recurses as deeply.
inline constexpr int kMaxDepth = 256;

/// The 1-based line of a byte of the text.
int line_of_byte(std::string_view text, std::size_t byte);

}  // namespace switchyard
