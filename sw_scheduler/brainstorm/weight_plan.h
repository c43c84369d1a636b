// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/host_program.h"

namespace switchyard::sched::brainstorm {

/// Where weights of branches lie in device memory while a network runs, and when they come and go (Brainstorm, section
/// 4.4). A load into memory that was given back waits for what the main queue had to do until then, because kernels may
/// still read what lay there.
class WeightPlan {
public:
    using Item = std::pair<std::size_t, std::size_t>;  ///< stage and branch

    /// Addresses from `base` on.
    explicit WeightPlan(std::uint64_t base) : base_(base) {}

    bool present(const Item& item) const { return present_.count(item) > 0; }
    /// Adds the steps that bring it, if it is not there and has bytes. True if it had to come. `certain`: the host does
    /// these steps, and does them before those of later calls; it may leave out those of a speculation.
    bool load(HostSteps& steps, const Item& item, std::uint64_t bytes, bool certain = true);
    /// The main queue goes on when it is there.
    void await(HostSteps& steps, const Item& item) const;
    void unload(const Item& item);
    /// Null if it has not been loaded.
    std::optional<LoadedWeights> loaded(const Item& item) const;

    std::uint64_t resident_bytes() const { return resident_; }
    std::uint64_t peak_bytes() const { return peak_; }
    std::uint64_t loaded_bytes() const { return loaded_; }
    std::uint32_t loads() const { return next_load_; }

private:
    struct Range {
        std::uint64_t bytes;
        std::uint32_t load;
    };
    std::uint64_t free_address(std::uint64_t bytes) const;

    std::uint64_t base_;
    std::map<Item, std::uint64_t> present_;                            ///< addresses
    std::map<Item, std::uint64_t> sizes_;                              ///< bytes
    std::map<std::uint64_t, Range> used_;                              ///< by address
    std::vector<std::pair<std::uint64_t, std::uint64_t>> given_back_;  ///< address and bytes, not waited for
    std::uint64_t resident_ = 0, peak_ = 0, loaded_ = 0;
    std::uint32_t next_load_ = 0;
};

}  // namespace switchyard::sched::brainstorm
