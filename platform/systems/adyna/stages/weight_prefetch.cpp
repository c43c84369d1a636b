// SPDX-License-Identifier: Apache-2.0
// Timeline: weights on their way, and who may fetch the next ones when.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "switchyard/platform/systems/adyna/stages/timeline.h"

namespace switchyard::platform {

namespace {

struct Region {
    std::uint64_t first = 0, last = 0;
    bool overlaps(const Region& other) const { return first < other.last && other.first < last; }
};

Region weights_region(const Edge& edge) {
    return {edge.slot_offset, std::uint64_t{edge.slot_offset} + edge.weight_bytes};
}

/// All that a stage uses of its tiles' scratchpads.
std::vector<Region> regions_of(const Stage& stage) {
    const TileOperator& op = *stage.share;
    std::vector<Region> regions{{op.out_offset, op.out_offset + std::uint64_t{op.out_slots} * op.out_slot_bytes}};
    for (const std::uint16_t id : stage.weights) regions.push_back(weights_region(stage.program->edge(id)));
    for (const std::uint16_t id : stage.inputs) {
        const Edge& edge = stage.program->edge(id);
        regions.push_back({edge.slot_offset, edge.slot_offset + std::uint64_t{edge.slots} * edge.slot_bytes});
    }
    return regions;
}

bool weights_overlap(const Stage& next, const Stage& running) {
    for (const Region& used : regions_of(running)) {
        for (const std::uint16_t id : next.weights) {
            if (used.overlaps(weights_region(next.program->edge(id)))) return true;
        }
    }
    return false;
}

}  // namespace

/// Tiles fetch the weights of their next operator while, or right after, they run the one before; those of the first
/// segment during the last one.
void Timeline::derive_prefetches() {
    struct Place {
        unsigned stage, rank;
    };
    std::map<std::uint16_t, std::map<std::uint16_t, std::vector<Place>>> by_tile;  // tile, segment
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const Stage& stage = map_.stages()[i];
        for (std::size_t rank = 0; rank < stage.placement->tiles.size(); ++rank)
            by_tile[stage.placement->tiles[rank]][stage.segment()].push_back(
                {static_cast<unsigned>(i), static_cast<unsigned>(rank)});
    }
    std::vector<std::set<Prefetch>> next(stages_.size());
    for (const auto& [tile, segments] : by_tile) {
        if (segments.size() == 1) continue;
        for (auto here = segments.begin(); here != segments.end(); ++here) {
            const auto before = here == segments.begin() ? std::prev(segments.end()) : std::prev(here);
            for (const Place& place : here->second) {
                if (stages_[place.stage].slices == 0) continue;
                const Stage& stage = map_.stages()[place.stage];
                const bool overlaps = std::any_of(
                    before->second.begin(), before->second.end(),
                    [&](const Place& running) { return weights_overlap(stage, map_.stages()[running.stage]); });
                const unsigned slice = stages_[place.stage].first_slice + place.rank % stages_[place.stage].slices;
                for (const Place& running : before->second) {
                    const unsigned slices = stages_[running.stage].slices;
                    const int own = overlaps || slices == 0 ? -1 : static_cast<int>(running.rank % slices);
                    next[running.stage].insert({slice, own, overlaps});
                }
            }
        }
    }
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        stages_[i].next.assign(next[i].begin(), next[i].end());
        for (const Prefetch& prefetch : stages_[i].next)
            slices_[prefetch.slice].conditions = ++slices_[prefetch.slice].conditions_missing;
    }
}

void Timeline::request_weights(Slice& slice, double time) {
    const Stage& stage = map_.stages()[slice.stage];
    slice.weights = Weights::loading;
    slice.sent = 0;
    const auto index = static_cast<std::uint32_t>(&slice - slices_.data());
    for (const std::uint16_t id : stage.weights) {
        const unsigned readers = transfers_.weight_readers(id, slice.index);
        slice.reads_missing += readers;
        for (unsigned reader = 0; reader < readers; ++reader) {
            push(time + static_cast<double>(transfers_.weights(id, slice.index, reader).grant),
                 EventKind::weights_asked, index, edge_and_reader(id, reader));
        }
    }
}

void Timeline::weights_there(unsigned index, double time) {
    Slice& slice = slices_[index];
    if (--slice.reads_missing > 0) return;
    slice.weights = Weights::present;
    StageState& state = stages_[slice.stage];
    --state.slices_missing;
    state.weights = {time, slice.sent};
    if (!state.active) return;
    prefetch(slice.stage, false, static_cast<int>(slice.index), time);
    try_dispatch(slice.stage, time);
}

void Timeline::prefetch(unsigned stage, bool at_end, int own_slice, double time) {
    for (const Prefetch& prefetch : stages_[stage].next) {
        if (prefetch.after_end != at_end || prefetch.own_slice != own_slice) continue;
        Slice& next = slices_[prefetch.slice];
        if (next.conditions_missing == 0 || --next.conditions_missing > 0) continue;
        if (next.weights == Weights::absent) request_weights(next, time);
    }
}

}  // namespace switchyard::platform
