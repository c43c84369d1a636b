// SPDX-License-Identifier: Apache-2.0
// Timeline: stages that share tiles.

#include <algorithm>
#include <map>
#include <set>

#include "switchyard/platform/systems/adyna/stages/timeline.h"

namespace switchyard::platform {

void Timeline::derive_groups() {
    for (const std::vector<unsigned>& segment : map_.segments()) {
        std::map<std::uint16_t, unsigned> group_of_tile;
        for (const unsigned index : segment) {
            std::set<unsigned> touched;
            const OperatorPlacement& placement = *map_.stages()[index].placement;
            // Branches that lend tiles to each other compute at the same time, on different ones (end_on_tiles).
            const bool lends = !placement.allocations.empty();
            for (const std::uint16_t tile : placement.tiles) {
                if (lends) tile_free_.resize(std::max<std::size_t>(tile_free_.size(), tile + std::size_t{1}), 0);
                const auto known = group_of_tile.find(tile);
                if (!lends && known != group_of_tile.end()) touched.insert(known->second);
            }
            const auto group = static_cast<unsigned>(groups_.size());
            groups_.push_back({});
            for (const unsigned other : touched) {
                groups_[group].insert(groups_[group].end(), groups_[other].begin(), groups_[other].end());
                groups_[other].clear();
            }
            groups_[group].push_back(index);
            std::sort(groups_[group].begin(), groups_[group].end());
            for (const unsigned member : groups_[group]) {
                stages_[member].group = group;
                for (const std::uint16_t tile : map_.stages()[member].placement->tiles) group_of_tile[tile] = group;
            }
        }
    }
    group_busy_.assign(groups_.size(), 0);
    group_free_.assign(groups_.size(), 0);
}

double Timeline::end_on_tiles(unsigned stage, unsigned unit, const StageWork& work, unsigned allocation,
                              std::uint32_t samples, double time) {
    const OperatorPlacement& placement = *map_.stages()[stage].placement;
    if (placement.allocations.empty()) return time + static_cast<double>(work.cycles);
    const Partition& part = placement.partitions[static_cast<std::size_t>(placement.best_fit(allocation, samples))];
    double end = time;
    for (std::size_t rank = 0; rank < std::size_t{part.n} * part.p * placement.k_factor; ++rank) {
        double& free = tile_free_[placement.tiles[rank]];
        charge_wait(stage, unit, std::max(free, segment_start_), time, 1);
        free = std::max(free, time) + static_cast<double>(work.kinds[work.kind_of_rank[rank]].cycles);
        end = std::max(end, free);
    }
    return end;
}

}  // namespace switchyard::platform
