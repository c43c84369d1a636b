// Segmenter: the same cuts for all operators of a segment, where that saves packets.

#include <algorithm>

#include "switchyard/sw_scheduler/backend/alignment.h"
#include "switchyard/sw_scheduler/backend/segmentation.h"

namespace switchyard::sched {

std::uint64_t Segmenter::packets(const SegmentPlan& plan, std::size_t i) const {
    const Workload& work = search_.workload();
    const int op = plan.first + static_cast<int>(i);
    const auto spread = [&](int other) {
        const Stage& stage = plan.stages[static_cast<std::size_t>(other - plan.first)];
        return Spread{work.graph.operators[other].shape, stage.largest, stage.k_ways};
    };
    std::uint64_t sum = stored_bytes(plan, op) > 0 ? packets_to_memory(spread(op)) : 0;
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
    for (std::size_t i = 0; i < count; ++i) slowest_allowed = std::max(slowest_allowed, pace(plan, i, plan.stages[i]));

    std::vector<Partition> cuts;
    unsigned used = 0;
    const auto place = [&](std::size_t i, unsigned k_ways) {
        const unsigned before = plan.stages[i].fits ? plan.tiles[i] : 0;
        Stage stage = search_.spread(plan.first + static_cast<int>(i), k_ways, cuts[i], plan.depths[i], weight_copies);
        const unsigned tiles = unsigned{cuts[i].n} * cuts[i].p * k_ways;
        if (!stage.fits || used - before + tiles > tiles_) return false;
        used += tiles - before;
        plan.tiles[i] = tiles;
        plan.stages[i] = std::move(stage);
        return true;
    };
    const auto unit = static_cast<std::uint16_t>(plan.unit_samples);
    const Partition alike{unit, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(p)};
    for (std::size_t i = 0; i < count; ++i) {
        const int op = plan.first + static_cast<int>(i);
        // What a single tile can do in time needs no cut.
        const Stage alone = search_.spread(op, 1, {unit, 1, 1}, plan.depths[i], weight_copies);
        const bool small = alone.fits && pace(plan, i, alone) <= slowest_allowed;
        cuts.push_back(small ? alone.largest : search_.tight(alike, op));
        plan.stages[i].fits = false;
        const unsigned most = graph.operators[op].shape.out_channels;
        for (unsigned k_ways = 1; k_ways <= most && !place(i, k_ways);) k_ways = search_.more_slices(op, k_ways);
        if (!plan.stages[i].fits) return false;
    }
    for (;;) {
        std::size_t slowest = 0;
        for (std::size_t i = 1; i < count; ++i) {
            if (pace(plan, i, plan.stages[i]) > pace(plan, slowest, plan.stages[slowest])) slowest = i;
        }
        const int op = plan.first + static_cast<int>(slowest);
        const unsigned k_ways = search_.more_slices(op, plan.stages[slowest].k_ways);
        if (k_ways > graph.operators[op].shape.out_channels || !place(slowest, k_ways)) break;
    }
    add_memory_cycles(plan);
    add_pipeline_cycles(plan);
    add_cycles(plan);
    return true;
}

void Segmenter::align(SegmentPlan& plan) {
    std::uint32_t most_rows = 1;
    for (int op = plan.first; op < plan.last; ++op) {
        most_rows = std::max<std::uint32_t>(most_rows, search_.workload().graph.operators[op].shape.out_rows);
    }
    SegmentPlan best = plan;
    std::uint64_t fewest = packets(plan);
    for (std::uint32_t n = 1; n <= std::min(plan.unit_samples, tiles_); ++n) {
        if (plan.unit_samples % n != 0) continue;
        for (std::uint32_t p = 1, block = 0; p <= std::min(most_rows, tiles_ / n); ++p) {
            if ((most_rows + p - 1) / p == block) continue;  // the same pieces as with fewer ways
            block = (most_rows + p - 1) / p;
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
