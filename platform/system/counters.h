// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
    /// Each name once: a chip of 12x12 tiles has thousands of counters and some hundred names.
    struct Names {
        std::vector<std::string> modules, counters;
        std::map<std::string, std::uint32_t, std::less<>> number_of_counter;
    };
    struct Entry {
        std::uint32_t module = 0, counter = 0;  ///< of names_
        double value = 0;
    };
    Counters with_names() const;
    /// Calls `visit` with the value of every counter called `name`.
    template <class F>
    void each(std::string_view name, F&& visit) const;

    std::shared_ptr<const Names> names_ = std::make_shared<Names>();
    std::vector<Entry> entries_;  ///< in order of registration
};

}  // namespace switchyard::platform
