// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/simulated_time.h"

#include <cmath>

#include "switchyard/sw_scheduler/base/whole_time.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard {

double ticks_per_ns() {
    // Of a second, since a nanosecond may be less than a tick. Resolutions are powers of ten.
    const double ticks = 1e-9 / sc_core::sc_time::from_value(1).to_seconds();
    return ticks < 1 ? ticks : std::round(ticks);
}

sc_core::sc_time nanoseconds(double ns, std::string_view what) {
    return sc_core::sc_time::from_value(whole_time(ns * ticks_per_ns(), "ticks", what));
}

sc_core::sc_time microseconds(double us, std::string_view what) {
    return sc_core::sc_time::from_value(whole_time(us * (1e3 * ticks_per_ns()), "ticks", what));
}

std::uint64_t present_picoseconds() {
    return static_cast<std::uint64_t>(std::llround(sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_PS)));
}

sc_core::sc_time until_picoseconds(std::uint64_t ps) {
    const std::uint64_t now = present_picoseconds();
    return nanoseconds(ps > now ? static_cast<double>(ps - now) * 1e-3 : 0, "the next event");
}

void require_picoseconds(const sc_core::sc_object& module) {
    if (sc_core::sc_get_time_resolution() > sc_core::sc_time(1, sc_core::SC_PS))
        throw ModelError(module, "expected a time resolution of 1 ps or finer, found " +
                                     sc_core::sc_get_time_resolution().to_string() +
                                     "; call sc_core::sc_set_time_resolution(1, sc_core::SC_PS) before the first "
                                     "module");
}

}  // namespace switchyard
