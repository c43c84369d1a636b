// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

namespace {

std::string format_location(const std::string& file, int line, const std::string& key, const std::string& message) {
    std::string text = file;
    if (line > 0) text += ":" + std::to_string(line);
    if (!text.empty()) text += ": ";
    if (!key.empty()) text += key + ": ";
    return text + message;
}

}  // namespace

InputError::InputError(const std::string& file, int line, const std::string& key, const std::string& message)
    : std::runtime_error(format_location(file, line, key, message)) {}

}  // namespace switchyard
