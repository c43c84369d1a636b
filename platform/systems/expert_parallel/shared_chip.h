// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <systemc>

#include "switchyard/platform/systems/expert_parallel/placed_part.h"

namespace switchyard::platform::expert_parallel {

/// One chip, whose parts share its tiles: one of them runs at a time.
///
/// The steps of a batch are its parts in their order. Of those that are ready, and for which the part's host has sent
/// what it sends, the oldest batch's is next.
///
/// Modelled: weights of a part that are loaded again when another part has run since. Not modelled: a part that begins
/// before another one has left all tiles, the change of images.
class SharedChip : public sc_core::sc_module {
public:
    struct Stats {
        double busy_us = 0;  ///< a part runs or loads its weights
        std::size_t reloads = 0;
    };

    /// `steps`: null for a step without a part, which takes no time. `reloads`: weights have to be loaded again.
    SharedChip(const sc_core::sc_module_name& name, std::vector<PlacedPart*> steps, bool reloads);

    /// Called when a step has ended; may be called by ready().
    void set_ended(std::function<void(std::size_t batch, std::size_t step)> ended) { ended_ = std::move(ended); }
    /// What the step waits for is there.
    void ready(std::size_t batch, std::size_t step);
    void await_warm_up();

    const Stats& stats() const { return stats_; }
    /// What a part has spent with loading its weights again, microseconds.
    double reloaded_us(std::size_t step) const { return reloaded_us_.at(step); }

private:
    void serve();

    std::vector<PlacedPart*> steps_;
    bool reloads_;
    std::function<void(std::size_t, std::size_t)> ended_;
    std::set<std::pair<std::size_t, std::size_t>> ready_;  ///< batch, step
    std::optional<std::size_t> last_;                      ///< step whose part ran last
    std::vector<double> reloaded_us_;                      ///< by step
    sc_core::sc_event more_;
    Stats stats_;
};

}  // namespace switchyard::platform::expert_parallel
