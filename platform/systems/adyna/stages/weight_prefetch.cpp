// SPDX-License-Identifier: Apache-2.0
// Timeline: weights on their way, and who may fetch the next ones when.

#include <algorithm>
#include <map>
#include <set>

#include "switchyard/platform/systems/adyna/stages/timeline.h"

namespace switchyard::platform {

namespace {

/// Whether the tile that runs these stages fetches the weights of `next` when they have ended.
bool fetched_after(const Stage& next, const std::vector<const Stage*>& running) {
    return std::any_of(running.begin(), running.end(), [&](const Stage* stage) {
        return rules::fetch_of_weights(*next.share, *next.program, {stage->share}, *stage->program) ==
               rules::WeightsFetch::after_segment;
    });
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
        std::vector<std::uint16_t> numbers;
        for (const auto& segment : segments) numbers.push_back(segment.first);
        for (const auto& [segment, running] : segments) {
            const auto after = static_cast<std::uint16_t>(rules::segment_after(numbers, segment));
            if (after == segment) continue;
            std::vector<const Stage*> of_tile;
            for (const Place& place : running) of_tile.push_back(&map_.stages()[place.stage]);
            for (const Place& place : segments.at(after)) {
                if (stages_[place.stage].slices == 0) continue;
                const bool overlaps = fetched_after(map_.stages()[place.stage], of_tile);
                const unsigned slice = stages_[place.stage].first_slice + place.rank % stages_[place.stage].slices;
                for (const Place& before : running) {
                    const unsigned slices = stages_[before.stage].slices;
                    const int own = overlaps || slices == 0 ? -1 : static_cast<int>(before.rank % slices);
                    next[before.stage].insert({slice, own, overlaps});
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
