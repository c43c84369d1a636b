// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

#include "switchyard/tlm/simulation_registry.h"

namespace switchyard {

/// A member of a component's Stats, with the name and unit under which reports have it (SimulationRegistry::Counter).
/// A component's header has the list of its counters: whoever counts for a component that is not there takes it too.
template <class Stats>
struct StatCounter {
    const char* name;
    const char* unit;
    std::variant<std::uint64_t Stats::*, double Stats::*> value;

    double read(const Stats& stats) const {
        return std::visit([&stats](auto member) { return static_cast<double>(stats.*member); }, value);
    }
    bool is(std::uint64_t Stats::*member) const {
        const auto* const integer = std::get_if<std::uint64_t Stats::*>(&value);
        return integer != nullptr && *integer == member;
    }
};

/// Registers the counters of the module with this path. `stats()` returns its Stats, by reference or value, whenever a
/// counter is read. `uncounted`: members that are always 0 here and that reports are not to have.
template <class Stats, std::size_t Count, class Read>
void register_counters(SimulationRegistry& registry, const std::string& module,
                       const StatCounter<Stats> (&counters)[Count], Read stats,
                       std::initializer_list<std::uint64_t Stats::*> uncounted = {}) {
    for (const StatCounter<Stats>& counter : counters) {
        bool counted = true;
        for (const auto member : uncounted) counted = counted && !counter.is(member);
        if (counted)
            registry.add(module, counter.name, counter.unit, [counter, stats] { return counter.read(stats()); });
    }
}

}  // namespace switchyard
