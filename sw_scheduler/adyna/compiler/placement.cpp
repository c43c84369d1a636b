// SPDX-License-Identifier: Apache-2.0
// Which tiles each operator gets.

#include <algorithm>

#include "switchyard/sw_scheduler/adyna/compiler/schedule.h"

namespace switchyard::sched {

namespace {

using Tiles = std::vector<std::uint16_t>;

/// Tiles of the operators of a pair, so that each allocation takes the first ones: what an operator keeps in all of
/// them, then what it lends, then what it borrows. The two branches' ends that are lent lie close to each other.
void share(const SegmentPlan& segment, const BranchPair& pair, std::vector<Tiles>& tiles) {
    const auto front = [&](std::size_t side) { return tiles[pair.operators[side].front()].front(); };
    const auto own = [&](std::size_t i) { return segment.shared[i].front(); };
    const std::size_t later = front(0) < front(1) ? 1 : 0;
    for (const TileGroup& branch : pair.operators) {
        for (const std::size_t i : branch) {
            if (&branch == &pair.operators[later]) std::reverse(tiles[i].begin(), tiles[i].end());
            tiles[i].resize(own(i));
        }
    }
    const std::vector<Tiles> before = tiles;
    for (std::size_t k = 1; k < pair.allocations; ++k) {
        Tiles lent;
        for (const TileGroup& branch : pair.operators) {
            for (const std::size_t i : branch) {
                if (segment.shared[i][k] >= own(i)) continue;
                lent.insert(lent.end(), before[i].begin() + segment.shared[i][k], before[i].end());
            }
        }
        auto next = lent.begin();
        for (const TileGroup& branch : pair.operators) {
            for (const std::size_t i : branch) {
                if (segment.shared[i][k] <= own(i)) continue;
                const auto last = next + static_cast<std::ptrdiff_t>(segment.shared[i][k] - own(i));
                tiles[i].insert(tiles[i].end(), next, last);
                next = last;
            }
        }
    }
}

}  // namespace

std::vector<std::uint16_t> snake_order(const HardwareDescription& hardware) {
    std::vector<std::uint16_t> order;
    for (unsigned x = 0; x < hardware.columns; ++x) {
        for (unsigned i = 0; i < hardware.rows; ++i) {
            const unsigned y = x % 2 == 0 ? i : hardware.rows - 1 - i;
            order.push_back(static_cast<std::uint16_t>(y * hardware.columns + x));
        }
    }
    return order;
}

void place(Schedule& schedule, const Workload& workload, const HardwareDescription& hardware) {
    const std::vector<std::uint16_t> order = snake_order(hardware);
    for (std::size_t s = 0; s < schedule.segments.size(); ++s) {
        const SegmentPlan& segment = schedule.segments[s];
        const std::size_t count = segment.stages.size();
        std::vector<std::size_t> tile_group_of(count), layer_of(count);
        std::vector<Tiles> tiles(count);
        auto next = order.begin();
        for (std::size_t l = 0; l < segment.tile_groups.size(); ++l) {
            const TileGroup& tile_group = segment.tile_groups[l];
            const auto last = next + segment.tiles[tile_group.front()];
            for (std::size_t member = 0; member < tile_group.size(); ++member) {
                tile_group_of[tile_group[member]] = l;
                layer_of[tile_group[member]] = member;
                tiles[tile_group[member]].assign(next, last);
            }
            next = last;
        }
        for (const BranchPair& pair : segment.pairs) {
            share(segment, pair, tiles);
            const std::size_t tile_group =
                std::min(tile_group_of[pair.operators[0].front()], tile_group_of[pair.operators[1].front()]);
            for (std::size_t side = 0; side < 2; ++side) {
                for (const std::size_t i : pair.operators[side]) {
                    tile_group_of[i] = tile_group;
                    layer_of[i] = side;
                }
            }
        }
        for (int op = segment.first; op < segment.last; ++op) {
            const std::size_t i = static_cast<std::size_t>(op - segment.first);
            const Stage& stage = segment.stages[i];
            PlacedOperator placed;
            placed.op = op;
            placed.segment = static_cast<std::uint16_t>(s);
            placed.tile_group = tile_group_of[i];
            placed.layer = layer_of[i];
            placed.slots = segment.slots[i];
            placed.footprint = stage.footprint;
            placed.prefetched = segment.prefetchable;
            OperatorPlacement& placement = placed.placement;
            placement.op_id = static_cast<std::uint16_t>(op);
            placement.segment = placed.segment;
            placement.shape = workload.graph.operators[op].shape;
            placement.k_factor = static_cast<std::uint16_t>(stage.k_factor);
            placement.units = segment.units;
            placement.unit_samples = segment.unit_samples;
            placement.tiles = std::move(tiles[i]);
            schedule.operators.push_back(std::move(placed));
        }
    }
}

}  // namespace switchyard::sched
