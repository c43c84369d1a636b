// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/whole_time.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {

void refuse_time(double time, std::string_view unit, std::string_view what, double longest) {
    throw InputError(std::string(what), 0, "",
                     fmt::format("expected a time of 0 to {:.4g} {}, found {:.4g}; take a higher rate, a shorter "
                                 "latency or less work",
                                 longest, unit, time));
}

std::uint64_t whole_time(double time, std::string_view unit, std::string_view what, WholeTime rounding) {
    if (!(time >= 0 && time <= kLongestTime)) refuse_time(time, unit, what);
    return static_cast<std::uint64_t>(rounding == WholeTime::up ? std::ceil(time) : std::round(time));
}

std::uint64_t later_time(std::uint64_t time, std::uint64_t duration, std::string_view unit, std::string_view what) {
    constexpr auto kLongest = static_cast<std::uint64_t>(kLongestTime);
    if (duration > kLongest || time > kLongest - duration)
        refuse_time(static_cast<double>(time) + static_cast<double>(duration), unit, what);
    return time + duration;
}

}  // namespace switchyard
