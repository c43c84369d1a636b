// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/segment_setups.h"

#include <algorithm>
#include <cmath>

namespace switchyard::sched {

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
    const double transfer = transfer_cycles();
    for (int op = first; op < last; ++op) {
        const Operator& one = work.graph.operators[op];
        double& start = begin[op - first];
        for (const Source& source : one.inputs) {
            if (inside(source.producer)) start = std::max(start, leaves_at(source));
        }
        const double alone = search_.cycles_on_one_tile(op, unit_samples) + transfer;
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

Segmenter::Setups::Setup& Segmenter::Setups::setup(const Trial& trial) {
    const auto known = std::find_if(known_.begin(), known_.end(), [&trial](const Setup& one) {
        return one.unit_samples == trial.unit_samples && one.order == trial.order;
    });
    if (known != known_.end()) return *known;
    known_.push_front({trial.unit_samples, trial.order, {segmenter_.slots_of(trial), {}}, {}});
    Buffers& buffers = known_.front().buffers;
    buffers.slot_times.reserve(buffers.slots.size());
    for (std::size_t i = 0; i < buffers.slots.size(); ++i)
        buffers.slot_times.push_back(
            segmenter_.slot_times(first_ + static_cast<int>(i), first_, !trial.order.empty(), buffers.slots[i]));
    return known_.front();
}

const std::vector<TileGroup>* Segmenter::Setups::tile_groups(const Trial& trial, std::size_t number) {
    const auto count = static_cast<std::size_t>(last_ - first_);
    if (number == 0) {
        if (separate_.empty()) separate_ = separate_tile_groups(count);
        return &separate_;
    }
    if (!segmenter_.grouping_) return nullptr;
    const Workload& workload = segmenter_.search_.workload();
    if (!branches_) branches_ = operators_on_branches(workload.graph, first_, last_);
    std::vector<std::vector<TileGroup>>& known = setup(trial).shared;
    while (known.size() < number) {
        const std::size_t max = known.empty() ? count : (longest(known.back()) + 1) / 2;
        if (max <= 1) return nullptr;
        known.push_back(shared_tile_groups(workload, *branches_, first_, last_, trial.unit_samples, max, trial.order));
    }
    return known[number - 1].size() == count ? nullptr : &known[number - 1];
}

}  // namespace switchyard::sched
