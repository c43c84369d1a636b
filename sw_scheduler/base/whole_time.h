// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace switchyard {

/// The longest time that a model counts: 2^61 units. Of picoseconds these are 26 days. The sum of seven such times fits
/// 64 bits.
inline constexpr double kLongestTime = 0x1p61;

enum class WholeTime { nearest, up };

/// Converts a computed time to a whole number of `unit`s ("ps", "ticks", "cycles"). All models convert here, so that no
/// time that is too long wraps into a short one. `what` names the time for the message, for example "link gpu0->gpu1: a
/// chunk of 1024 bytes". Throws InputError if `time` is negative, no number, or longer than kLongestTime.
std::uint64_t whole_time(double time, std::string_view unit, std::string_view what,
                         WholeTime rounding = WholeTime::nearest);

/// The InputError of whole_time(), for who compares times in another way.
[[noreturn]] void refuse_time(double time, std::string_view unit, std::string_view what, double longest = kLongestTime);

/// Adds a duration of whole_time() to a time. Throws InputError, as whole_time(), if the sum is longer than
/// kLongestTime.
std::uint64_t later_time(std::uint64_t time, std::uint64_t duration, std::string_view unit, std::string_view what);

}  // namespace switchyard
