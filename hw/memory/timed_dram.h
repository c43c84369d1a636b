// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "switchyard/hw/memory/dram/dram_system.h"
#include "switchyard/hw/memory/dram/timing_checker.h"

namespace switchyard::hw {

/// A DramSystem in ticks of simulated time instead of cycles of tCK, for modules that are woken when something may be
/// done: they call advance() first of all, then pop() and submit(), and come back at next().
class TimedDram {
public:
    using Tick = std::uint64_t;
    static constexpr Tick kNever = dram::kNever;

    /// check_timing: a TimingChecker watches the commands; a violation is thrown from advance().
    TimedDram(const dram::Device& device, bool check_timing, double ticks_per_ns);

    /// What goes on before `now`. Not before the last time.
    void advance(Tick now);
    /// A request comes now. `owner` comes back when it is done.
    void submit(std::uint64_t address, std::uint64_t bytes, bool write, Tick now, std::uint64_t owner);
    /// The owner of a request that is done by now; false if none is.
    bool pop(Tick now, std::uint64_t& owner);
    /// When something may be done next. kNever if nothing is in flight.
    Tick next(Tick now) const;

    const dram::Device& device() const { return system_.device(); }
    dram::ChannelStats stats() const { return system_.stats(); }
    /// Time in which data are moved or all banks are refreshed, mean of the pseudo-channels.
    double busy_ns() const;

private:
    dram::Cycle cycle_at(Tick tick) const;  ///< the first that does not begin before `tick`
    Tick tick_of(dram::Cycle cycle) const;  ///< the first that does not lie before `cycle`

    double ticks_per_cycle_;
    std::unique_ptr<dram::TimingChecker> checker_;
    dram::DramSystem system_;
};

}  // namespace switchyard::hw
