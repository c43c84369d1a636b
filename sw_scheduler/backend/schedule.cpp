#include "switchyard/sw_scheduler/backend/schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard::sched {

namespace {

/// Kernels that each dynamic operator may have: what the static ones, of one kernel each, leave of its fullest tile's
/// store, shared evenly. Zero if there is no room even for one each.
std::vector<unsigned> kernel_budgets(const Schedule& schedule, const DynGraph& graph,
                                     const HardwareDescription& hardware) {
    std::vector<unsigned> fixed(hardware.tiles(), 0), dynamic(hardware.tiles(), 0);
    for (const PlacedOperator& one : schedule.operators) {
        for (const std::uint16_t tile : one.placement.tiles) {
            ++(graph.operators[one.op].dynamic() ? dynamic : fixed)[tile];
        }
    }
    const unsigned store = hardware.kernel_store_size();
    std::vector<unsigned> budgets;
    for (const PlacedOperator& one : schedule.operators) {
        unsigned budget = store;
        for (const std::uint16_t tile : one.placement.tiles) {
            const unsigned left = store - std::min(store, fixed[tile]);
            budget = std::min(budget, dynamic[tile] > 0 ? left / dynamic[tile] : (fixed[tile] <= store ? 1 : 0));
        }
        budgets.push_back(budget);
    }
    return budgets;
}

void place(Schedule& schedule, const Workload& workload, const HardwareDescription& hardware) {
    const std::vector<std::uint16_t> order = snake_order(hardware);
    for (std::size_t s = 0; s < schedule.segments.size(); ++s) {
        const SegmentPlan& segment = schedule.segments[s];
        std::vector<std::size_t> lane_of(segment.stages.size()), begin_of(lane_of);
        std::size_t next = 0;
        for (std::size_t l = 0; l < segment.lanes.size(); ++l) {
            for (const std::size_t i : segment.lanes[l]) {
                lane_of[i] = l;
                begin_of[i] = next;
            }
            next += segment.tiles[segment.lanes[l].front()];
        }
        for (int op = segment.first; op < segment.last; ++op) {
            const std::size_t i = static_cast<std::size_t>(op - segment.first);
            const Stage& stage = segment.stages[i];
            PlacedOperator placed;
            placed.op = op;
            placed.segment = static_cast<std::uint16_t>(s);
            placed.lane = lane_of[i];
            placed.depths = segment.depths[i];
            placed.footprint = stage.footprint;
            placed.prefetched = segment.prefetchable;
            OperatorPlacement& placement = placed.placement;
            placement.op_id = static_cast<std::uint16_t>(op);
            placement.segment = placed.segment;
            placement.shape = workload.graph.operators[op].shape;
            placement.k_ways = static_cast<std::uint16_t>(stage.k_ways);
            placement.units = segment.units;
            placement.unit_samples = segment.unit_samples;
            const auto begin = order.begin() + static_cast<std::ptrdiff_t>(begin_of[i]);
            placement.tiles.assign(begin, begin + segment.tiles[i]);
            schedule.operators.push_back(std::move(placed));
        }
    }
}

void generate_kernels(Schedule& schedule, StageSearch& stages, const Design& design, const KernelChoice& choice) {
    const HardwareDescription& hardware = stages.hardware();
    const std::vector<unsigned> budgets = kernel_budgets(schedule, stages.workload().graph, hardware);
    KernelSearch search(hardware);
    for (PlacedOperator& placed : schedule.operators) {
        const Operator& one = stages.workload().graph.operators[placed.op];
        OperatorPlacement& placement = placed.placement;
        const unsigned budget = budgets[placed.op];
        if (budget == 0 && !design.every_kernel) {
            throw InputError(stages.workload().graph.file, one.line, one.name,
                             fmt::format("no room for a kernel: a tile's {} bytes hold {}",
                                         hardware.kernel_region_bytes(), hardware.kernel_store_size()));
        }
        const auto largest = static_cast<std::uint16_t>(placement.unit_samples);
        const std::size_t index = static_cast<std::size_t>(placed.op - schedule.segments[placed.segment].first);
        const Stage& stage = schedule.segments[placed.segment].stages[index];
        const unsigned ways = static_cast<unsigned>(placement.tiles.size()) / placement.k_ways;
        unsigned count = design.multi_kernel && one.dynamic() ? budget : 1;
        if (design.every_kernel && one.dynamic()) count = largest;
        const bool compacted = one.dynamic() && placed.depths.decided == one.path.size();
        const DynDims dyn_dims = choice.profile == nullptr || design.every_kernel
                                     ? uniform_dyn_dims(largest, count)
                                     : sample_dyn_dims(choice.sampling, largest, count,
                                                       choice.profile->operators[static_cast<std::size_t>(placed.op)],
                                                       compacted ? stages.workload().graph.batch_samples() : 0);
        for (const std::uint16_t dyn_dim : dyn_dims) {
            const Partition partition = dyn_dim == largest
                                            ? stage.largest
                                            : stages.best_partition(placed.op, placement.k_ways, ways, dyn_dim,
                                                                    placed.footprint, stage.largest.p);
            placement.partitions.push_back(partition);
            placed.kernels.push_back(make_kernel(search, one.shape, stages.workload().items[placed.op].operands,
                                                 partition, placement.k_ways, placement.op_id));
        }
    }
}

}  // namespace

const std::vector<Design>& designs() {
    static const std::vector<Design> kKnown{
        {"adyna", true, true, true, false, true, true, true},
        {"adyna-static", true, true, false, false, true, true, true},
        {"full-kernel", true, true, false, true, true, true, true},
        {"real-time", true, true, false, true, true, true, true},
        {"m-tile", false, false, false, false, false, false, false},
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
                                               {"compaction", &Design::compacts_batches}};
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
    return design;
}

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

Schedule make_schedule(const Workload& workload, const HardwareDescription& hardware, const Design& design,
                       const KernelChoice& choice, unsigned tiles, std::uint32_t unit_samples, const Margins& margins,
                       bool grouping) {
    StageSearch stages(workload, hardware);
    Schedule schedule;
    Segmenter segmenter(stages, tiles, unit_samples, margins, grouping && design.groups_branches,
                        design.compacts_batches);
    schedule.segments = segmenter.best();
    for (SegmentPlan& segment : schedule.segments) segmenter.align(segment);
    const std::size_t count = schedule.segments.size();
    for (std::size_t s = 0; s < count && count > 1; ++s) {
        const std::uint32_t others = std::max(schedule.segments[(s + 1) % count].most_weight_bytes(),
                                              schedule.segments[(s + count - 1) % count].most_weight_bytes());
        segmenter.deepen(schedule.segments[s], others);
    }
    place(schedule, workload, hardware);
    generate_kernels(schedule, stages, design, choice);
    return schedule;
}

}  // namespace switchyard::sched
