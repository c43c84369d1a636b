// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/output_marker.h"

#include <algorithm>
#include <iterator>

namespace switchyard {

namespace {

bool begins_with(std::string_view text, std::string_view beginning) {
    return text.substr(0, beginning.size()) == beginning;
}

std::string_view without_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// "key": "value...", the first time that the key is there.
bool has_member(std::string_view text, std::string_view key, std::string_view value) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos) return false;
    text = without_blanks(text.substr(at + key.size()));
    return begins_with(text, ":") && begins_with(without_blanks(text.substr(1)), value);
}

/// NumPy writes "(2, 3)" and "()".
bool is_our_array(std::string_view text) {
    constexpr std::string_view kMagic = "\x93NUMPY", kShape = "'shape': (";
    const std::size_t shape = text.find(kShape);
    if (!begins_with(text, kMagic) || shape == std::string_view::npos) return false;
    const std::size_t end = text.find(')', shape);
    return end != std::string_view::npos && text[end - 1] == ' ';
}

}  // namespace

bool has_output_marker(std::string_view beginning) {
    constexpr std::string_view kBeginnings[] = {
        "SYIK",           // kernel images
        "SYKS",           // kernel streams
        "SYPK",           // packages for firmware
        kWrittenComment,  // YAML, tables
        "time_ns,operation,address,bytes\n",
        "cycle,channel,pseudo_channel,command,bank_group,bank,row,column\n",
    };
    if (std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                    [&](std::string_view one) { return begins_with(beginning, one); }))
        return true;
    if (begins_with(beginning, "{"))
        return has_member(beginning, "\"format\"", "\"switchyard-") ||
               has_member(beginning, "\"program\"", "\"switchyard\"");
    if (begins_with(beginning, "<")) return beginning.find(kWrittenElement) != std::string_view::npos;
    return is_our_array(beginning);
}

}  // namespace switchyard
