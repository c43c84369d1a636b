// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <systemc>

namespace switchyard {

/// Units of the simulator's resolution in a nanosecond.
double ticks_per_ns();

/// Converts a computed time to simulated time, rounded to the simulator's resolution. SystemC's own conversion wraps
/// times that are too long. `what` names the time: "kernel_end_ns". Throws InputError as whole_time().
sc_core::sc_time nanoseconds(double ns, std::string_view what);
sc_core::sc_time microseconds(double us, std::string_view what);

/// The present time in picoseconds, for models that count in them. They require a resolution of a picosecond or finer:
/// require_picoseconds().
std::uint64_t present_picoseconds();
/// The time from now until `ps`, which is not in the past.
sc_core::sc_time until_picoseconds(std::uint64_t ps);
/// Throws ModelError, which names `module`, if the simulator's resolution is coarser than a picosecond.
void require_picoseconds(const sc_core::sc_object& module);

}  // namespace switchyard
