// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <systemc>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard {

/// Converts between cycles of a clock and simulated time in exact integer arithmetic.
class ClockPeriod {
public:
    /// `ghz` > 0; the period is rounded to the simulator's resolution (1 ps unless set otherwise).
    explicit ClockPeriod(double ghz) : ticks_(sc_core::sc_time(1.0 / ghz, sc_core::SC_NS).value()) {}

    sc_core::sc_time cycles(std::uint64_t count) const { return sc_core::sc_time::from_value(count * ticks_); }
    /// Cycles that cover `time`, the last one perhaps in part.
    std::uint64_t count(const sc_core::sc_time& time) const { return ceil_div(time.value(), ticks_); }

private:
    std::uint64_t ticks_;
};

/// Units of the simulator's resolution in a nanosecond.
inline double ticks_per_ns() {
    return static_cast<double>(sc_core::sc_time(1, sc_core::SC_NS).value());
}

}  // namespace switchyard
