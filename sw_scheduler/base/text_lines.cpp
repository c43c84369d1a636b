// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/text_lines.h"

#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/text_check.h"

namespace switchyard {

TextLines::TextLines(const std::string& path, std::string format)
    : path_(path), format_(std::move(format)), input_(std::make_unique<std::ifstream>(open_input(path))) {}

TextLines::TextLines(const std::string& text, std::string name, std::string format)
    : path_(std::move(name)), format_(std::move(format)), input_(std::make_unique<std::istringstream>(text)) {}

void TextLines::fail(const std::string& key, const std::string& message) const {
    throw InputError(path_, number_, key, message);
}

bool TextLines::next() {
    while (read()) {
        if (number_ == 1 && line_.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0)
            line_.erase(0, kByteOrderMark.size());
        if (!line_.empty() && line_.back() == '\r') line_.pop_back();
        if (const std::size_t nul = line_.find('\0'); nul != std::string::npos)
            fail("", fmt::format("expected {}, found a NUL byte at byte {}", format_, nul + 1));
        if (line_.find_first_not_of(" \t") != std::string::npos) return true;
    }
    return false;
}

bool TextLines::read() {
    ++number_;
    return read_line(*input_, line_, path_, number_);
}

}  // namespace switchyard
