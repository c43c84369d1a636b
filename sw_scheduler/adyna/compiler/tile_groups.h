// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/workload.h"

namespace switchyard::sched {

/// Operators of a segment [first, last) that use the same tiles, one after another in time (branch grouping, Adyna
/// section V-B): op - first of each, ascending. Most tile groups have one member.
using TileGroup = boost::container::small_vector<std::size_t, 2>;

/// A tile group for each of `operators` operators.
std::vector<TileGroup> separate_tile_groups(std::size_t operators);
/// Operators of a segment that stand directly on each branch, not on those of switches within, by switch and branch.
using BranchOperators = std::map<int, std::map<unsigned, TileGroup>>;
BranchOperators operators_on_branches(const DynGraph& graph, int first, int last);
/// Members of the longest tile_group.
std::size_t longest(const std::vector<TileGroup>& tile_groups);

/// Tile groups of operators [first, last), ordered by their first members, where rare branches are grouped. A branch is
/// rare if a micro-batch of `unit_samples` is expected to bring it less than one sample, so that its tiles would have
/// nothing to do in many units. The rare branches of a switch are gathered, in order, until together they expect a
/// sample a unit or are `max_branches`; then the next group begins. Of the operators that stand on the branches of a
/// group (not on those of switches within), the first ones of each branch form a tile group, then the second ones, and
/// so on. Of the exclusive ones of the switches by whose routes the segment is compacted, `order`, all branches count
/// as rare: no unit has samples for two of them, but for those at the ends.
std::vector<TileGroup> shared_tile_groups(const Workload& workload, int first, int last, std::uint32_t unit_samples,
                                          std::size_t max_branches, const std::vector<int>& order = {});
/// The same with operators_on_branches(workload.graph, first, last), known before.
std::vector<TileGroup> shared_tile_groups(const Workload& workload, const BranchOperators& on_branches, int first,
                                          int last, std::uint32_t unit_samples, std::size_t max_branches,
                                          const std::vector<int>& order);

/// Samples that a micro-batch brings to the members of a tile group together, each on its own way.
struct TileGroupSamples {
    double active = 1;  ///< share of the units that are counted here: those with samples on the decided branches
    double mean = 0;
    double relative_variance = 0;  ///< variance / mean^2; 0 if none is expected
    double usual = 0;              ///< as Workload::usual_samples, the mean of its two
};
/// `decided`: as BufferSlots::decided_switches, of all members.
TileGroupSamples tile_group_samples(const Workload& workload, int first, const TileGroup& tile_group,
                                    std::uint32_t unit_samples, unsigned decided = 0);
/// The same of a tile group of one operator, member `i`.
TileGroupSamples tile_group_samples(const Workload& workload, int first, std::size_t i, std::uint32_t unit_samples,
                                    unsigned decided);

}  // namespace switchyard::sched
