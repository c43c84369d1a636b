#include "switchyard/sw_scheduler/backend/schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/backend/memory_map.h"
#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::sched {

const std::vector<Design>& designs() {
    static const std::vector<Design> kKnown{
        {"adyna", true, true, true, false, true, true, true, true},
        {"adyna-static", true, true, false, false, true, false, true, true},
        {"full-kernel", true, true, false, true, true, true, true, true},
        {"real-time", true, true, false, true, true, true, true, true},
        {"m-tile", false, false, false, false, false, false, false, false},
    };
    return kKnown;
}

const Design& find_design(const std::string& name) {
    std::string names;
    for (const Design& design : designs()) {
        if (name == design.name) return design;
        names += std::string(names.empty() ? "" : ", ") + design.name;
    }
    throw InputError("design " + name + ": unknown; known designs: " + names);
}

const std::vector<Mechanism>& mechanisms() {
    static const std::vector<Mechanism> kKnown{{"frequency_weighting", &Design::frequency_weighted},
                                               {"multi_kernel", &Design::multi_kernel},
                                               {"grouping", &Design::groups_branches},
                                               {"sharing", &Design::shares_tiles},
                                               {"compaction", &Design::compacts_batches},
                                               {"routing", &Design::routes_samples}};
    return kKnown;
}

Design without(Design design, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const auto found = std::find_if(mechanisms().begin(), mechanisms().end(),
                                        [&name](const Mechanism& one) { return name == one.name; });
        if (found == mechanisms().end()) {
            std::vector<std::string> known;
            for (const Mechanism& mechanism : mechanisms()) known.emplace_back(mechanism.name);
            throw InputError(fmt::format("mechanism {}: unknown; known mechanisms: {}", name, fmt::join(known, ", ")));
        }
        if (!(design.*(found->flag)))
            throw InputError(fmt::format("design {}: has no mechanism {} to do without", design.name, name));
        design.*(found->flag) = false;
    }
    // What lives on samples that take different branches.
    if (!design.routes_samples) design.groups_branches = design.shares_tiles = design.compacts_batches = false;
    return design;
}

Design design_of(const ImageMeta& meta) {
    return without(find_design(meta.design), meta.without);
}

bool has_mechanism(const Design& design, const std::string& name) {
    return std::any_of(mechanisms().begin(), mechanisms().end(),
                       [&](const Mechanism& one) { return name == one.name && design.*(one.flag); });
}

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
    Segmenter segmenter(stages, tiles, unit_samples, margins, design.groups_branches, design.compacts_batches);
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
    if (design.shares_tiles) choose_pairs(schedule, segmenter, workload, hardware, choice.profile);
    place(schedule, workload, hardware);
    generate_kernels(schedule, segmenter, stages, design, choice);
    return schedule;
}

}  // namespace switchyard::sched
