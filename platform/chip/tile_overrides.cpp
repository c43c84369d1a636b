// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/tile_overrides.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/words.h"

namespace switchyard::platform {
namespace {

struct Override {
    unsigned tile = 0;
    std::string impl;
};

/// "" or why `word` is no override.
std::string parse(const std::string& word, Override& entry) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || parse_plain_number(word.substr(0, equals), entry.tile) != Parsed::ok)
        return fmt::format("expected tile=implementation, found \"{}\"", word);
    entry.impl = word.substr(equals + 1);
    return "";
}

}  // namespace

std::string TileOverrides::impl_of(unsigned tile, const std::string& impl) const {
    for (const std::string& word : words_of(text)) {
        Override entry;
        if (parse(word, entry).empty() && entry.tile == tile) return entry.impl;
    }
    return impl;
}

std::string TileOverrides::validation_error(unsigned tiles, const std::vector<std::string>& implementations) const {
    for (const std::string& word : words_of(text)) {
        Override entry;
        if (std::string why = parse(word, entry); !why.empty()) return why;
        if (entry.tile >= tiles) return fmt::format("there is no tile {} of {}", entry.tile, tiles);
        if (std::count(implementations.begin(), implementations.end(), entry.impl) == 0)
            return fmt::format("no implementation \"{}\"; there is {}", entry.impl, fmt::join(implementations, ", "));
    }
    return "";
}

}  // namespace switchyard::platform
