// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/clock_period.h"

#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard {
namespace {

[[noreturn]] void refuse_clock(double ghz) {
    const std::string message = fmt::format(
        "clock_ghz: expected a clock of at most {:.4g} GHz, which has {:g} units of the time resolution {} in a "
        "period, found {:.4g} GHz; call sc_core::sc_set_time_resolution(1, sc_core::SC_PS), or with a finer one, "
        "before the first module",
        ticks_per_ns() / kMinTicksOfPeriod, kMinTicksOfPeriod, sc_core::sc_get_time_resolution().to_string(), ghz);
    const sc_core::sc_object* const module = sc_core::sc_get_curr_simcontext()->active_object();
    if (module != nullptr) throw ModelError(*module, message);
    throw InputError(message);
}

std::uint64_t ticks_of(double ghz) {
    constexpr double kRounding = 1e-9;
    const double ticks = ticks_per_ns() / ghz;
    if (!(ticks >= kMinTicksOfPeriod * (1 - kRounding))) refuse_clock(ghz);
    return whole_time(ticks, "ticks", "a clock's period");
}

}  // namespace

ClockPeriod::ClockPeriod(double ghz)
    : ticks_(ticks_of(ghz)), most_(static_cast<std::uint64_t>(kLongestTime) / ticks_) {}

void ClockPeriod::refuse(std::uint64_t count) const {
    refuse_time(static_cast<double>(count), "cycles", "a time", static_cast<double>(most_));
}

}  // namespace switchyard
