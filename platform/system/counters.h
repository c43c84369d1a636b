// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

/// The values of all registered counters at one moment.
class Counters {
public:
    Counters() = default;
    explicit Counters(const SimulationRegistry& registry);

    /// What was counted since `earlier`, a snapshot of the same registry.
    Counters since(const Counters& earlier) const;
    /// Only the counters of modules with `element` in their path: "scratchpad" in "chip.tile_3.scratchpad", and "tile"
    /// in the same, for a number behind an underscore is left out.
    Counters of(std::string_view element) const;
    /// Sum of the counters called `name`.
    double sum(std::string_view name) const;
    /// Largest of the counters called `name`, 0 if there is none.
    double max(std::string_view name) const;

    /// Sums over all modules of a kind, by "kind.counter": "router.link_bytes" of "chip.torus.router_7" and its like;
    /// without those of single endpoints' links.
    std::map<std::string, double> totals() const;
    /// The counters by the chip's direct children ("tile_3"), in order of registration.
    std::vector<std::pair<std::string, Counters>> by_place() const;

private:
    struct Entry {
        std::string module, name;
        double value = 0;
    };
    std::vector<Entry> entries_;
};

}  // namespace switchyard::platform
