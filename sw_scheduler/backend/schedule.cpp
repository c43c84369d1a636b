#include "switchyard/sw_scheduler/backend/schedule.h"

#include <algorithm>

#include "switchyard/sw_scheduler/backend/memory_map.h"

namespace switchyard::sched {

namespace {

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
                        alone ? 0 : std::max(before.most_weight_bytes(), after.most_weight_bytes()),
                        alone ? 0 : std::max(before.most_bytes(), after.most_bytes()), shared.partners);
    }
    if (shared.partners.empty()) return;
    place(shared, workload, hardware);
    Schedule apart = schedule;
    place(apart, workload, hardware);
    if (weights_stay(apart.operators, hardware) && !weights_stay(shared.operators, hardware)) return;
    schedule.segments = std::move(shared.segments);
    schedule.partners = std::move(shared.partners);
}

}  // namespace

Schedule make_schedule(const Workload& workload, const HardwareDescription& hardware, const Design& design,
                       const KernelChoice& choice, unsigned tiles, std::uint32_t unit_samples, const Margins& margins) {
    StageSearch stages(workload, hardware);
    Schedule schedule;
    Segmenter segmenter(stages, tiles, unit_samples, margins, design);
    schedule.segments = segmenter.best();
    for (SegmentPlan& segment : schedule.segments) {
        segmenter.align(segment);
        segmenter.improve(segment);
    }
    const std::size_t count = schedule.segments.size();
    for (std::size_t s = 0; s < count && count > 1; ++s) {
        const std::uint32_t others = std::max(schedule.segments[(s + 1) % count].most_weight_bytes(),
                                              schedule.segments[(s + count - 1) % count].most_weight_bytes());
        segmenter.deepen(schedule.segments[s], others);
    }
    if (design.has(Mechanism::sharing)) choose_pairs(schedule, segmenter, workload, hardware, choice.profile);
    place(schedule, workload, hardware);
    generate_kernels(schedule, segmenter, stages, design, choice);
    return schedule;
}

}  // namespace switchyard::sched
