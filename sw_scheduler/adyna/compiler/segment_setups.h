// SPDX-License-Identifier: Apache-2.0
// Not part of the interface of the compiler: what Segmenter leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

namespace switchyard::sched {

/// Buffers and tile groups of the trials of operators [first, last) as a segment, which copies of the weights do not
/// change. Each is found when it is asked for first.
class Segmenter::Setups {
public:
    Setups(Segmenter& segmenter, int first, int last) : segmenter_(segmenter), first_(first), last_(last) {}

    /// References stay valid.
    const Buffers& buffers(const Trial& trial) { return setup(trial).buffers; }
    /// Of a trial the tile groups with this number: 0: of an operator each, then those that branches share, each with
    /// half as many branches as the one before. Nullptr if there are none. Valid until it is asked again.
    const std::vector<TileGroup>* tile_groups(const Trial& trial, std::size_t number);

private:
    struct Setup {
        std::uint32_t unit_samples;
        std::vector<int> order;
        Buffers buffers;
        std::vector<std::vector<TileGroup>> shared;  ///< tile_groups(), by number - 1
    };
    Setup& setup(const Trial& trial);

    Segmenter& segmenter_;
    int first_, last_;
    std::forward_list<Setup> known_;
    std::vector<TileGroup> separate_;          ///< tile_groups() number 0; empty until it is asked for
    std::optional<BranchOperators> branches_;  ///< of the segment
};

}  // namespace switchyard::sched
