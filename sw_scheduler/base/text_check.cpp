// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/text_check.h"

#include <algorithm>

namespace switchyard {

int line_of_byte(std::string_view text, std::size_t byte) {
    const auto before = static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + before, '\n'));
}

}  // namespace switchyard
