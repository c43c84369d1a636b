// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

Segmenter::Segmenter(StageSearch& search, const Design& design, unsigned tiles, std::uint32_t unit_samples,
                     const Margins& margins, Weights weights)
    : search_(search),
      tiles_(tiles),
      margins_(margins),
      pipelining_(design.has(Mechanism::pipelining)),
      grouping_(design.has(Mechanism::grouping)),
      compaction_(design.has(Mechanism::compaction)),
      packing_(design.has(Mechanism::packing)),
      weights_(weights) {
    const std::uint32_t batch = search.workload().graph.batch_samples(),
                        all = search.workload().graph.samples_in_flight();
    constexpr std::uint32_t kLargestUnits = 0xFFFF;
    std::uint32_t joined = 1;  // samples of an input, or one
    for (const Operator& op : search.workload().graph.operators)
        joined = std::max<std::uint32_t>(joined, op.shape.joined);
    for (std::uint32_t size = std::min<std::uint32_t>(batch, 0xFFFF); size >= 1; --size) {
        const bool whole_inputs = size % joined == 0;
        if (batch % size == 0 && whole_inputs && all / size <= kLargestUnits &&
            (unit_samples == 0 || size == unit_samples)) {
            unit_sizes_.push_back(size);
        }
    }
    if (unit_sizes_.empty()) {
        throw Infeasible(search.workload().graph.file, 0, "batch",
                         unit_samples > 0
                             ? fmt::format("{} samples cannot be cut into units of {}{}", batch, unit_samples,
                                           joined > 1 ? fmt::format(" that are whole inputs of {}", joined) : "")
                             : fmt::format("{} samples cannot be cut into equal micro-batches of at most "
                                           "65535 (16 bits of the kernel format)",
                                           batch));
    }
}

Segmenter::~Segmenter() = default;

std::vector<std::vector<int>> Segmenter::orders(int first, int last) const {
    const DynGraph& graph = search_.workload().graph;
    std::map<int, std::set<unsigned>> decided;  // branches inside the segment
    const auto joins = [](const Operator& op) { return op.shape.joined > 1; };
    const auto begin = graph.operators.begin();
    if (std::any_of(begin + first, begin + last, joins)) return {{}};  // samples of an input follow one another
    for (int op = first; op < last && compaction_; ++op) {
        for (const BranchStep& step : graph.operators[op].path) {
            if (graph.switches[step.switch_id].gate < first) decided[step.switch_id].insert(step.branch);
        }
    }
    if (decided.empty()) return {{}};
    std::vector<int> order;
    bool side_by_side = false;
    for (const auto& [switch_id, branches] : decided) {  // switches are numbered outer before inner
        order.push_back(switch_id);
        side_by_side |= graph.switches[switch_id].exclusive && branches.size() > 1;
    }
    std::vector<std::vector<int>> result{std::move(order)};
    if (side_by_side) result.emplace_back();
    return result;
}

std::vector<BufferSlots> Segmenter::slots_of(const Trial& trial) {
    const int first = trial.first, last = trial.last;
    const std::uint32_t unit_samples = trial.unit_samples;
    const Workload& work = search_.workload();
    // A gate can also stand behind the segment: useful_slices asks for operators one by one.
    const auto inside = [first, last](int op) { return op >= first && op < last; };
    double load = 0;
    for (int op = first; op < last; ++op) load += work.load(op);
    const double shortest_interval = load / tiles_ * unit_samples / work.graph.samples_in_flight();

    // When an operator begins and ends its first unit, in units of the shortest initiation interval; what passes a
    // switch waits for the gate as well. A stage takes at most one, by the allocation, and less if a single tile needs
    // less.
    std::vector<double> begin(static_cast<std::size_t>(last - first), 0), end(begin);
    // What is packed waits for the gate's last unit.
    const double after_gate = packing_ ? work.graph.batch_samples() / unit_samples - 1 : 0;
    const auto leaves_at = [&](const Source& source) {
        double at = end[source.producer - first];
        if (source.switch_id != kNoSwitch) {
            const int gate = work.graph.switches[source.switch_id].gate;
            if (inside(gate)) at = std::max(at, end[gate - first] + after_gate);
        }
        return at;
    };
    for (int op = first; op < last; ++op) {
        const Operator& one = work.graph.operators[op];
        double& start = begin[op - first];
        for (const Source& source : one.inputs) {
            if (inside(source.producer)) start = std::max(start, leaves_at(source));
        }
        const Partition on_one_tile{static_cast<std::uint16_t>(unit_samples), 1, 1};
        const double alone =
            search_.estimated_cycles(tile_work(one.shape, work.items[op].operands, on_one_tile, 1)) + transfer_cycles();
        end[op - first] = start + (alone < shortest_interval ? alone / shortest_interval : 1.0);
    }
    std::vector<BufferSlots> result(begin.size());
    const std::uint32_t units = work.graph.samples_in_flight() / unit_samples;
    const bool own_reads = !search_.hardware().multicast_reads;
    const auto slots_for = [units](double units_waiting) {
        constexpr double kRounding = 1e-6;
        const double slots = kFewestSlots + std::max(0.0, std::ceil(units_waiting - kRounding));
        return static_cast<std::uint16_t>(std::min<double>(slots, units));
    };
    for (int op = first; op < last; ++op) {
        BufferSlots& slots = result[op - first];
        const BranchPath& path = work.graph.operators[op].path;
        while (slots.decided_switches < path.size() &&
               std::find(trial.order.begin(), trial.order.end(), path[slots.decided_switches].switch_id) !=
                   trial.order.end()) {
            ++slots.decided_switches;
        }
        if (packing_) slots.decided_switches = static_cast<unsigned>(path.size());
        slots.in.reserve(work.graph.operators[op].inputs.size());
        for (const Source& source : work.graph.operators[op].inputs) {
            if (!inside(source.producer) && own_reads && slots.in.size() < OwnReads::kMax)
                slots.reads.inputs |= std::uint64_t{1} << slots.in.size();
            slots.in.push_back(slots_for(inside(source.producer) ? begin[op - first] - leaves_at(source) : 0));
        }
        if (own_reads && loads_weights(first, last)) slots.reads.weight_units = units;
        double waits = 0;  // an output with a switch stays until its gate has answered
        for (const int fed : work.items[op].feeds) {
            const int gate = work.graph.switches[fed].gate;
            const auto& uses = work.items[op].uses;
            const bool passes = std::any_of(uses.begin(), uses.end(), [&](const Workload::Use& use) {
                return inside(use.consumer) && work.graph.operators[use.consumer].inputs[use.source].switch_id == fed;
            });
            if (inside(gate)) waits = std::max(waits, end[gate - first] + (passes ? after_gate : 0) - end[op - first]);
        }
        slots.out = slots_for(waits);
    }
    return result;
}

void Segmenter::add_all_cycles(SegmentPlan& plan) const {
    add_memory_cycles(plan);
    add_pipeline_cycles(plan);
    add_cycles(plan);
}

bool Segmenter::may_fit(const Trial& trial, const std::vector<TileGroup>& tile_groups) const {
    unsigned sum = 0;
    for (auto tile_group = tile_groups.begin(); tile_group != tile_groups.end() && sum <= tiles_; ++tile_group) {
        unsigned max = 0;
        for (const std::size_t i : *tile_group)
            max = std::max(max, search_.tiles_bound(trial.first + static_cast<int>(i), trial.unit_samples,
                                                    trial.weight_copies, static_cast<unsigned>(tile_group->size())));
        sum += max;
    }
    return sum <= tiles_;
}

const std::vector<TileGroup>* Segmenter::tile_groups(const Trial& trial, std::size_t number) {
    const auto count = static_cast<std::size_t>(trial.last - trial.first);
    if (number == 0) {
        if (separate_.size() != count) separate_ = separate_tile_groups(count);
        return &separate_;
    }
    if (!grouping_) return nullptr;
    std::vector<std::vector<TileGroup>>& known = prepared(trial).groupings;
    while (known.size() < number) {
        const std::size_t max = known.empty() ? count : (longest(known.back()) + 1) / 2;
        if (max <= 1) return nullptr;
        known.push_back(shared_tile_groups(search_.workload(), branches_of(trial.first, trial.last), trial.first,
                                           trial.last, trial.unit_samples, max, trial.order));
    }
    return known[number - 1].size() == count ? nullptr : &known[number - 1];
}

bool Segmenter::fits(const Trial& trial) {
    std::size_t number = 0;
    for (const auto* groups = tile_groups(trial, 0); groups; groups = tile_groups(trial, ++number)) {
        if (!may_fit(trial, *groups)) continue;
        std::optional<SegmentPlan> found = plan(trial, *groups);
        if (!found) continue;
        spare_ = std::move(*found);
        return true;
    }
    return false;
}

std::optional<SegmentPlan> Segmenter::plan(const Trial& trial) {
    std::optional<SegmentPlan> best;
    std::size_t number = 0;
    for (const auto* groups = tile_groups(trial, 0); groups; groups = tile_groups(trial, ++number)) {
        if (!may_fit(trial, *groups)) continue;
        std::optional<SegmentPlan> found = plan(trial, *groups);
        if (!found) continue;
        if (!best || found->cycles < best->cycles) best.swap(found);
        if (found) spare_ = std::move(*found);
        if (number > 0) break;
    }
    return best;
}

const BranchOperators& Segmenter::branches_of(int first, int last) {
    if (branches_of_ != std::pair(first, last)) {
        branches_ = operators_on_branches(search_.workload().graph, first, last);
        branches_of_ = {first, last};
    }
    return branches_;
}

std::optional<SegmentPlan> Segmenter::plan(const Trial& trial, const std::vector<TileGroup>& tile_groups) {
    if (tile_groups.size() > tiles_) return std::nullopt;
    SegmentPlan plan = std::move(spare_);  // all of it is set anew; there is its memory
    plan.tile_groups = tile_groups;
    plan.first = trial.first;
    plan.last = trial.last;
    plan.unit_samples = trial.unit_samples;
    plan.units = static_cast<std::uint16_t>(search_.workload().graph.samples_in_flight() / trial.unit_samples);
    plan.units_of_batch = static_cast<std::uint16_t>(search_.workload().graph.batch_samples() / trial.unit_samples);
    plan.order = trial.order;
    plan.slots = prepared(trial).slots;
    plan.prefetchable = trial.weight_copies > 1;
    if (!allocate(plan, trial.weight_copies)) {
        spare_ = std::move(plan);
        return std::nullopt;
    }
    add_all_cycles(plan);
    return plan;
}

bool Segmenter::switched_inside(const Source& source, int first, int last) const {
    if (source.switch_id == kNoSwitch || source.producer < first) return false;
    const int gate = search_.workload().graph.switches[static_cast<std::size_t>(source.switch_id)].gate;
    return gate >= first && gate < last;
}

std::vector<unsigned> Segmenter::gates_in_front(int first, int last) const {
    const DynGraph& graph = search_.workload().graph;
    std::vector<unsigned> gates(static_cast<std::size_t>(last - first), 0);
    for (int op = first; op < last; ++op) {
        unsigned& here = gates[static_cast<std::size_t>(op - first)];
        for (const Source& source : graph.operators[static_cast<std::size_t>(op)].inputs) {
            if (source.producer < first) continue;
            const unsigned waits = switched_inside(source, first, last) ? 1 : 0;
            here = std::max(here, gates[static_cast<std::size_t>(source.producer - first)] + waits);
        }
    }
    return gates;
}

void Segmenter::deepen(SegmentPlan& plan, std::uint32_t other_weights) {
    const Workload& work = search_.workload();
    const auto dynamic = [&](int op) { return work.graph.operators[op].dynamic(); };
    const auto deepened = [&](const TileGroup& tile_group, std::size_t i, BufferSlots slots) {
        const Stage& stage = plan.stages[i];
        const Stage trial =
            search_.spread({plan.first + static_cast<int>(i), plan.unit_samples, slots}, stage.k_factor, stage.largest);
        const std::uint64_t others = plan.tile_group_bytes(tile_group) - stage.footprint.total();
        if (!trial.fits || trial.footprint.total() + others + other_weights > search_.hardware().data_bytes())
            return false;
        plan.slots[i] = std::move(slots);
        plan.stages[i].footprint = trial.footprint;
        return true;
    };
    const auto one_more = [&](const TileGroup& tile_group, std::size_t i) {
        const int op = plan.first + static_cast<int>(i);
        const std::vector<Source>& inputs = work.graph.operators[op].inputs;
        BufferSlots slots = plan.slots[i];
        bool more = false;
        for (std::size_t s = 0; s < inputs.size(); ++s) {
            const bool fluctuates = dynamic(op) || inputs[s].switch_id != kNoSwitch ||
                                    (inputs[s].producer >= 0 && dynamic(inputs[s].producer));
            if (!fluctuates || slots.in[s] >= std::min(plan.units, margins_.deepest)) continue;
            ++slots.in[s];
            more = true;
        }
        return more && deepened(tile_group, i, std::move(slots));
    };
    for (const TileGroup& tile_group : plan.tile_groups) {
        for (bool more = true; more;) {  // the members of a tile group one slot at a time
            more = false;
            for (const std::size_t i : tile_group) more |= one_more(tile_group, i);
        }
    }
}

}  // namespace switchyard::sched
