// SPDX-License-Identifier: Apache-2.0
// Segmenter: the same cuts for all operators of a segment, where that saves packets.

#include <algorithm>

#include "switchyard/sw_scheduler/adyna/compiler/alignment.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

std::uint64_t Segmenter::packets(const SegmentPlan& plan, std::size_t i) const {
    const Workload& work = search_.workload();
    const int op = plan.first + static_cast<int>(i);
    const auto spread = [&](int other) {
        const Stage& stage = plan.stages[static_cast<std::size_t>(other - plan.first)];
        return Spread{work.graph.operators[other].shape, stage.largest, stage.k_factor};
    };
    std::uint64_t sum = stored_bytes(plan.last, op) > 0 ? packets_to_memory(spread(op)) : 0;
    for (const Source& source : work.graph.operators[op].inputs) {
        sum += source.producer >= plan.first ? packets_between(source, spread(source.producer), spread(op))
                                             : packets_from_memory(source, spread(op));
    }
    return sum;
}

std::uint64_t Segmenter::packets(const SegmentPlan& plan) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < plan.stages.size(); ++i) sum += packets(plan, i);
    return sum;
}

bool Segmenter::cut_alike(SegmentPlan& plan, std::uint32_t n, std::uint32_t p) {
    const DynGraph& graph = search_.workload().graph;
    const unsigned weight_copies = plan.prefetchable ? 2 : 1;
    const std::size_t count = plan.stages.size();
    double slowest_allowed = plan.memory_cycles / plan.units;
    for (const TileGroup& tile_group : plan.tile_groups)
        slowest_allowed = std::max(slowest_allowed, initiation_interval(plan, tile_group));

    std::vector<Partition> cuts(count);
    unsigned used = 0;
    std::fill(plan.tiles.begin(), plan.tiles.end(), 0);
    const auto spread = [&](const TileGroup& tile_group, std::size_t i, unsigned k_factor, const Partition& cut) {
        return search_.spread({plan.first + static_cast<int>(i), plan.unit_samples, plan.slots[i], weight_copies,
                               static_cast<unsigned>(tile_group.size())},
                              k_factor, cut);
    };
    const auto place = [&](const TileGroup& tile_group, std::size_t i, unsigned k_factor) {
        Stage stage = spread(tile_group, i, k_factor, cuts[i]);
        const unsigned before = plan.tiles[i];  // k factors never become fewer
        const unsigned tiles = std::max(before, unsigned{cuts[i].n} * cuts[i].p * k_factor);
        if (!stage.fits || used - before + tiles > tiles_) return false;
        used += tiles - before;
        for (const std::size_t member : tile_group) plan.tiles[member] = tiles;
        plan.stages[i] = std::move(stage);
        return true;
    };
    const auto unit = static_cast<std::uint16_t>(plan.unit_samples);
    const Partition uncut{unit, 1, 1};
    const Partition alike{unit, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(p)};
    for (const TileGroup& tile_group : plan.tile_groups) {
        // What a single tile can do in time needs no cut.
        std::vector<Stage> alone;
        for (const std::size_t i : tile_group) alone.push_back(spread(tile_group, i, 1, uncut));
        StageList turns(alone.size());
        std::transform(alone.begin(), alone.end(), turns.begin(), [](const Stage& stage) { return &stage; });
        const bool small = std::all_of(alone.begin(), alone.end(), [](const Stage& stage) { return stage.fits; }) &&
                           initiation_interval(plan, tile_group, turns) <= slowest_allowed;
        for (const std::size_t i : tile_group) {
            const int op = plan.first + static_cast<int>(i);
            cuts[i] = small ? uncut : search_.tight(alike, op);
            const unsigned max = graph.operators[op].shape.out_channels;
            unsigned k_factor = 1;
            while (k_factor <= max && !place(tile_group, i, k_factor)) k_factor = search_.more_slices(op, k_factor);
            if (k_factor > max) return false;
        }
    }
    std::vector<double> intervals;
    for (const TileGroup& tile_group : plan.tile_groups) intervals.push_back(initiation_interval(plan, tile_group));
    for (;;) {
        const auto longest = std::max_element(intervals.begin(), intervals.end());
        const TileGroup& slowest = plan.tile_groups[static_cast<std::size_t>(longest - intervals.begin())];
        // Of its members the one that computes longest and can be cut further.
        std::size_t chosen = 0;
        unsigned chosen_factor = 0;
        for (const std::size_t i : slowest) {
            const int op = plan.first + static_cast<int>(i);
            const unsigned k_factor = search_.more_slices(op, plan.stages[i].k_factor);
            if (k_factor > graph.operators[op].shape.out_channels) continue;
            if (chosen_factor > 0 && plan.stages[i].compute_cycles <= plan.stages[chosen].compute_cycles) continue;
            chosen = i;
            chosen_factor = k_factor;
        }
        if (chosen_factor == 0 || !place(slowest, chosen, chosen_factor)) break;
        *longest = initiation_interval(plan, slowest);
    }
    add_all_cycles(plan);
    return true;
}

void Segmenter::align(SegmentPlan& plan) {
    std::uint32_t max_rows = 1;
    for (int op = plan.first; op < plan.last; ++op) {
        max_rows = std::max<std::uint32_t>(max_rows, search_.workload().graph.operators[op].shape.out_rows);
    }
    SegmentPlan best = plan;
    std::uint64_t fewest = packets(plan);
    for (std::uint32_t n = 1; n <= std::min(plan.unit_samples, tiles_); ++n) {
        if (plan.unit_samples % n != 0) continue;
        for (std::uint32_t p = 1, block = 0; p <= std::min(max_rows, tiles_ / n); ++p) {
            if (ceil_div(max_rows, p) == block) continue;  // the same pieces as with a smaller factor
            block = ceil_div(max_rows, p);
            SegmentPlan trial = plan;
            if (!cut_alike(trial, n, p) || trial.cycles > margins_.alike * plan.cycles) continue;
            const std::uint64_t count = packets(trial);
            if (count >= fewest) continue;
            fewest = count;
            best = std::move(trial);
        }
    }
    plan = std::move(best);
}

}  // namespace switchyard::sched
