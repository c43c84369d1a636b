// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/container/flat_map.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_setups.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_trials.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"
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
        throw Infeasible(
            search.workload().graph.file, 0, "batch",
            unit_samples > 0
                ? fmt::format("expected a batch of whole units of {} samples{}, found {} samples; give "
                              "units that divide the batch",
                              unit_samples, joined > 1 ? fmt::format(" and whole inputs of {} in each", joined) : "",
                              batch)
                : fmt::format("expected a batch of equal micro-batches of at most 65535 samples (16 bits of "
                              "the kernel format), found {} samples",
                              batch));
    }
    look_up_stored_bytes();
}

Segmenter::Segmenter(Segmenter& other, Weights weights)
    : search_(other.search_),
      tiles_(other.tiles_),
      margins_(other.margins_),
      pipelining_(other.pipelining_),
      grouping_(other.grouping_),
      compaction_(other.compaction_),
      packing_(other.packing_),
      weights_(weights),
      unit_sizes_(other.unit_sizes_),
      stored_bytes_(other.stored_bytes_) {
    if (!search_.hardware().multicast_reads) return;  // a tile's own reads of weights count when tiles are given
    if (!other.shared_) other.shared_ = std::make_shared<Shared>();
    shared_ = other.shared_;
}

Segmenter::~Segmenter() = default;

std::vector<std::vector<int>> Segmenter::orders(int first, int last) const {
    const DynGraph& graph = search_.workload().graph;
    boost::container::small_flat_map<int, std::uint64_t, 8> decided;  // branches inside the segment, a bit each
    const auto joins = [](const Operator& op) { return op.shape.joined > 1; };
    const auto begin = graph.operators.begin();
    if (std::any_of(begin + first, begin + last, joins)) return {{}};  // samples of an input follow one another
    for (int op = first; op < last && compaction_; ++op) {
        for (const BranchStep& step : graph.operators[op].path) {
            if (graph.switches[step.switch_id].gate < first) decided[step.switch_id] |= bit(step.branch);
        }
    }
    if (decided.empty()) return {{}};
    std::vector<int> order;
    bool side_by_side = false;
    for (const auto& [switch_id, branches] : decided) {  // switches are numbered outer before inner
        order.push_back(switch_id);
        side_by_side |= graph.switches[switch_id].exclusive && (branches & (branches - 1)) != 0;
    }
    std::vector<std::vector<int>> result{std::move(order)};
    if (side_by_side) result.emplace_back();
    return result;
}

void Segmenter::add_all_cycles(SegmentPlan& plan) const {
    const LoadedBytes loaded = loaded_bytes(plan);
    add_memory_cycles(plan, loaded);
    add_pipeline_cycles(plan, loaded);
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

bool Segmenter::fits(const Trial& trial, Setups& setups) {
    std::size_t number = 0;
    for (const auto* groups = setups.tile_groups(trial, 0); groups; groups = setups.tile_groups(trial, ++number)) {
        if (!may_fit(trial, *groups)) continue;
        std::optional<SegmentPlan> found = plan(trial, setups.buffers(trial), *groups, number);
        if (!found) continue;
        spare_ = std::move(*found);
        return true;
    }
    return false;
}

std::optional<SegmentPlan> Segmenter::plan(const Trial& trial, Setups& setups) {
    std::optional<SegmentPlan> best;
    std::size_t number = 0;
    for (const auto* groups = setups.tile_groups(trial, 0); groups; groups = setups.tile_groups(trial, ++number)) {
        if (!may_fit(trial, *groups)) continue;
        std::optional<SegmentPlan> found = plan(trial, setups.buffers(trial), *groups, number);
        if (!found) continue;
        if (!best || found->cycles < best->cycles) best.swap(found);
        if (found) spare_ = std::move(*found);
        if (number > 0) break;
    }
    return best;
}

std::optional<SegmentPlan> Segmenter::plan(const Trial& trial, const Buffers& buffers,
                                           const std::vector<TileGroup>& tile_groups, std::size_t number) {
    if (tile_groups.size() > tiles_) return std::nullopt;
    SegmentPlan plan = std::move(spare_);  // all of it is set anew; there is its memory
    plan.tile_groups = tile_groups;
    plan.first = trial.first;
    plan.last = trial.last;
    plan.unit_samples = trial.unit_samples;
    plan.units = static_cast<std::uint16_t>(search_.workload().graph.samples_in_flight() / trial.unit_samples);
    plan.units_of_batch = static_cast<std::uint16_t>(search_.workload().graph.batch_samples() / trial.unit_samples);
    plan.order = trial.order;
    plan.slots = buffers.slots;
    plan.slot_times = buffers.slot_times;
    plan.prefetchable = trial.weight_copies > 1;
    if (!allocate(plan, trial, number)) {
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
        plan.slot_times[i] = slot_times(plan.first + static_cast<int>(i), plan.first, !plan.order.empty(), slots);
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
