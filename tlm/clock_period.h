// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <systemc>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard {

/// A period has at least this number of units of the simulator's resolution. So rounding changes a period by 0.5 % at
/// most, and times that are parts of a cycle (a packet on a link, a burst of memory) by 1 % of a cycle.
inline constexpr double kMinTicksOfPeriod = 100;

/// Converts between cycles of a clock and simulated time in exact integer arithmetic.
class ClockPeriod {
public:
    /// `ghz` > 0; the period is rounded to the simulator's resolution (1 ps unless set otherwise). Throws ModelError,
    /// which names the module under construction, if the period has fewer than kMinTicksOfPeriod units of it.
    explicit ClockPeriod(double ghz);

    /// Throws InputError, as whole_time(), if they are longer than the simulator can count.
    sc_core::sc_time cycles(std::uint64_t count) const {
        if (count > most_) refuse(count);
        return sc_core::sc_time::from_value(count * ticks_);
    }
    /// Cycles that cover `time`, the last one perhaps in part.
    std::uint64_t count(const sc_core::sc_time& time) const { return ceil_div(time.value(), ticks_); }

private:
    [[noreturn]] void refuse(std::uint64_t count) const;

    std::uint64_t ticks_, most_;
};

}  // namespace switchyard
