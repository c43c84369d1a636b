#include "switchyard/platform/tile_exceptions.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

namespace switchyard::platform {
namespace {

struct Exception {
    unsigned tile = 0;
    std::string impl;
};

/// "" or why `word` is no exception.
std::string parse(const std::string& word, Exception& exception) {
    const std::size_t equals = word.find('=');
    const char* const end = word.data() + std::min(equals, word.size());
    const auto [rest, error] = std::from_chars(word.data(), end, exception.tile);
    if (equals == std::string::npos || rest != end || error != std::errc())
        return fmt::format("wants tile=implementation, got \"{}\"", word);
    exception.impl = word.substr(equals + 1);
    return "";
}

}  // namespace

std::string TileExceptions::impl_of(unsigned tile, const std::string& impl) const {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        Exception exception;
        if (parse(word, exception).empty() && exception.tile == tile) return exception.impl;
    }
    return impl;
}

std::string TileExceptions::objection(unsigned tiles, const std::vector<std::string>& implementations) const {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        Exception exception;
        if (std::string why = parse(word, exception); !why.empty()) return why;
        if (exception.tile >= tiles) return fmt::format("there is no tile {} of {}", exception.tile, tiles);
        if (std::count(implementations.begin(), implementations.end(), exception.impl) == 0)
            return fmt::format("no implementation \"{}\"; there is {}", exception.impl,
                               fmt::join(implementations, ", "));
    }
    return "";
}

}  // namespace switchyard::platform
