// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/schedule.h"

#include <algorithm>
#include <utility>

#include "switchyard/sw_scheduler/adyna/compiler/memory_map.h"

namespace switchyard::sched {

namespace {

/// What follows the best cut: segment by segment, and then beside their neighbours.
std::vector<SegmentPlan> refined(std::vector<SegmentPlan> segments, Segmenter& segmenter) {
    for (SegmentPlan& segment : segments) {
        segmenter.align(segment);
        segmenter.improve(segment);
    }
    const std::size_t count = segments.size();
    for (std::size_t s = 0; s < count && count > 1; ++s) {
        const std::uint32_t others = std::max(segments[(s + 1) % count].max_weight_bytes(),
                                              segments[(s + count - 1) % count].max_weight_bytes());
        segmenter.deepen(segments[s], others);
    }
    return segments;
}

/// Bytes of weights on all tiles together.
std::uint64_t weight_bytes(const std::vector<SegmentPlan>& segments) {
    std::uint64_t bytes = 0;
    for (const SegmentPlan& segment : segments) {
        for (std::size_t i = 0; i < segment.stages.size(); ++i)
            bytes += std::uint64_t{segment.tiles[i]} * segment.stages[i].footprint.weights;
    }
    return bytes;
}

/// The same at least, however the network is cut.
std::uint64_t min_weight_bytes(const Workload& workload) {
    std::uint64_t bytes = 0;
    for (const Operator& one : workload.graph.operators) bytes += one.weight_bytes;
    return bytes;
}

/// False if the tiles together have no room for these bytes of weights.
bool may_stay(std::uint64_t bytes, const HardwareDescription& hardware, unsigned tiles) {
    return bytes <= std::uint64_t{tiles} * hardware.data_bytes();
}

bool weights_stay(const std::vector<SegmentPlan>& segments, const Workload& workload,
                  const HardwareDescription& hardware) {
    Schedule placed;
    placed.segments = segments;
    place(placed, workload, hardware);
    return weights_stay(placed.operators, hardware);
}

double cycles(const std::vector<SegmentPlan>& segments) {
    double sum = 0;
    for (const SegmentPlan& segment : segments) sum += segment.cycles;
    return sum;
}

struct PlannedSegments {
    std::vector<SegmentPlan> segments;
    Weights weights;  ///< what comes true on the tiles that they get
};

/// Segments by the segmenters' formulas. Which weights stay on their tiles from one batch to the next is known once
/// tiles are given: planned as if all were loaded, and as if all were resident, which counts if it comes true.
PlannedSegments plan_segments(Segmenter& loading, Segmenter& resident, const Workload& workload,
                              const HardwareDescription& hardware, unsigned tiles) {
    const auto stay = [&](const std::vector<SegmentPlan>& segments) {
        return weights_stay(segments, workload, hardware);
    };
    std::vector<SegmentPlan> best = refined(loading.best(), loading);
    if (best.size() > 1 && stay(best)) {  // they have been counted as loaded, and do not need to be
        std::vector<SegmentPlan> improved = best;
        for (SegmentPlan& segment : improved) resident.improve(segment);
        if (stay(improved)) best = std::move(improved);
    }
    std::vector<SegmentPlan> staying;
    if (may_stay(min_weight_bytes(workload), hardware, tiles)) staying = resident.best_or_nothing();
    if (!staying.empty() && may_stay(weight_bytes(staying), hardware, tiles)) {
        staying = refined(std::move(staying), resident);
        if (cycles(staying) < cycles(best) && stay(staying)) return {std::move(staying), Weights::resident};
    }
    const Weights weights = best.size() > 1 && stay(best) ? Weights::resident : Weights::loaded;
    return {std::move(best), weights};
}

/// Shares tiles wherever that helps. Pairs whose second set of weights would displace what
/// now stays on the tiles from one batch to the next are not worth it: nothing is shared then.
void choose_pairs(Schedule& schedule, Segmenter& segmenter, const Workload& workload,
                  const HardwareDescription& hardware, const Profile* profile) {
    const std::size_t count = schedule.segments.size();
    Schedule shared;
    shared.segments = schedule.segments;
    for (std::size_t s = 0; s < count; ++s) {
        const SegmentPlan &before = shared.segments[(s + count - 1) % count], &after = shared.segments[(s + 1) % count];
        const bool alone = count == 1;
        segmenter.share(shared.segments[s], profile,
                        alone ? 0 : std::max(before.max_weight_bytes(), after.max_weight_bytes()),
                        alone ? 0 : std::max(before.max_bytes(), after.max_bytes()), shared.partners);
    }
    if (shared.partners.empty()) return;
    place(shared, workload, hardware);
    if (weights_stay(schedule.segments, workload, hardware) && !weights_stay(shared.operators, hardware)) return;
    schedule.segments = std::move(shared.segments);
    schedule.partners = std::move(shared.partners);
}

}  // namespace

Schedule make_schedule(const Workload& workload, const HardwareDescription& hardware, const Design& design,
                       const Profile* profile, const KernelChoice& choice, unsigned tiles, std::uint32_t unit_samples,
                       const Margins& margins) {
    StageSearch stages(workload, hardware, design.invocation());
    Schedule schedule;
    Segmenter loading(stages, design, tiles, unit_samples, margins, Weights::loaded);
    Segmenter resident(loading, Weights::resident);
    PlannedSegments planned = plan_segments(loading, resident, workload, hardware, tiles);
    schedule.segments = std::move(planned.segments);
    Segmenter& segmenter = planned.weights == Weights::resident ? resident : loading;
    if (design.has(Mechanism::sharing)) choose_pairs(schedule, segmenter, workload, hardware, profile);
    place(schedule, workload, hardware);
    generate_kernels(schedule, segmenter, stages, design, choice);
    return schedule;
}

}  // namespace switchyard::sched
