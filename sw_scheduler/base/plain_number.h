// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace switchyard {

enum class Parsed { ok, malformed, out_of_range };

/// Reads a number as people write it: all of the text, decimal, finite, without leading zeros, which some readers take
/// for octal. An unsigned type takes "-0" and calls other negative numbers out of range.
template <class T>
Parsed parse_plain_number(std::string_view text, T& value) {
    const char* begin = text.data();
    const char* const end = begin + text.size();
    const bool negative = begin != end && *begin == '-';
    const char* const first = begin + negative;
    if (end - first > 1 && first[0] == '0' && first[1] >= '0' && first[1] <= '9') return Parsed::malformed;
    if constexpr (std::is_unsigned_v<T>) {
        const auto [stop, error] = std::from_chars(first, end, value);
        if (stop != end || error == std::errc::invalid_argument) return Parsed::malformed;
        return error == std::errc() && (!negative || value == 0) ? Parsed::ok : Parsed::out_of_range;
    } else {
        const auto [stop, error] = std::from_chars(begin, end, value);
        if (stop != end || error == std::errc::invalid_argument) return Parsed::malformed;
        if constexpr (std::is_floating_point_v<T>)
            return error == std::errc() && std::isfinite(value) ? Parsed::ok : Parsed::out_of_range;
        return error == std::errc() ? Parsed::ok : Parsed::out_of_range;
    }
}

/// The same, or a hexadecimal number behind "0x".
inline Parsed parse_address(std::string_view text, std::uint64_t& value) {
    const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (!prefixed) return parse_plain_number(text, value);
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 2, end, value, 16);
    if (stop != end || error == std::errc::invalid_argument) return Parsed::malformed;
    return error == std::errc() ? Parsed::ok : Parsed::out_of_range;
}

}  // namespace switchyard
