// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/timed_dram.h"

#include <algorithm>
#include <cmath>

namespace switchyard::hw {

namespace {

constexpr double kRounding = 1e-6;  ///< of products of a period and a count, which are whole numbers but for that

}  // namespace

TimedDram::TimedDram(const dram::Device& device, bool check_timing, double ticks_per_ns)
    : ticks_per_cycle_(device.timing.ns(1) * ticks_per_ns),
      checker_(check_timing ? std::make_unique<dram::TimingChecker>(device) : nullptr),
      system_(device, checker_.get()) {}

dram::Cycle TimedDram::cycle_at(Tick tick) const {
    return static_cast<dram::Cycle>(std::ceil(static_cast<double>(tick) / ticks_per_cycle_ - kRounding));
}

TimedDram::Tick TimedDram::tick_of(dram::Cycle cycle) const {
    return static_cast<Tick>(std::ceil(static_cast<double>(cycle) * ticks_per_cycle_ - kRounding));
}

void TimedDram::submit(std::uint64_t address, std::uint64_t bytes, bool write, Tick now, std::uint64_t owner) {
    system_.submit(address, bytes, write, cycle_at(now), owner);
}

void TimedDram::advance(Tick now) {
    system_.advance(cycle_at(now));
}

bool TimedDram::pop(Tick now, std::uint64_t& owner) {
    const auto done = static_cast<dram::Cycle>(std::floor(static_cast<double>(now) / ticks_per_cycle_ + kRounding));
    dram::DramSystem::Completion completion;
    if (!system_.pop(done + 1, completion)) return false;
    owner = completion.owner;
    return true;
}

TimedDram::Tick TimedDram::next(Tick now) const {
    const dram::Cycle cycle = system_.next_completion();
    return cycle == dram::kNever ? kNever : std::max(now + 1, tick_of(cycle));
}

double TimedDram::busy_ns() const {
    const dram::ChannelStats stats = system_.stats();
    const dram::Geometry& geometry = device().geometry;
    auto cycles = static_cast<double>(stats.data_cycles);
    // While one bank is refreshed the others have the bus.
    if (device().policy.refresh == "all-bank")
        cycles += static_cast<double>(stats.refresh_bank_cycles) / geometry.banks();
    return device().timing.ns(cycles) / geometry.pseudo_channels_in_all();
}

}  // namespace switchyard::hw
