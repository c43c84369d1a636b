// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/timeline.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::platform {

Timeline::Timeline(const PlatformConfig& platform, const ProgramMap& map, const SampleCounts& counts,
                   TransferCosts& transfers, KernelMeter& kernels, Resources& resources)
    : map_(map),
      counts_(counts),
      transfers_(transfers),
      kernels_(kernels),
      resources_(resources),
      mask_prefetch_units_(platform.controller.mask_prefetch_units),
      scheduling_cycles_(platform.cycles(platform.chip.online_scheduling_us * 1e3)),
      stages_(map.stages().size()),
      edges_(map.edges().size()) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const Stage& stage = map_.stages()[i];
        stages_[i].selected.assign(stage.share->kernel_count + std::size_t{1}, 0);
        stages_[i].computed.assign((stage.placement->unit_samples + std::size_t{1}) *
                                       std::max<std::size_t>(1, stage.placement->allocations.size()),
                                   0);
        stages_[i].resident = std::all_of(stage.weights.begin(), stage.weights.end(), [&stage](std::uint16_t id) {
            return rules::weights_stay(stage.program->edge(id));
        });
        if (stage.weights.empty()) continue;
        stages_[i].first_slice = static_cast<unsigned>(slices_.size());
        stages_[i].slices = stages_[i].slices_missing =
            std::min<unsigned>(stage.placement->k_factor, static_cast<unsigned>(stage.placement->tiles.size()));
        for (unsigned slice = 0; slice < stages_[i].slices; ++slice)
            slices_.push_back({static_cast<unsigned>(i), slice, Weights::absent, 0, 0, 0});
    }
    derive_groups();
    derive_prefetches();
    if (log_ != nullptr) open_log(platform);
}

void Timeline::push(double time, EventKind kind, std::uint32_t index, std::uint32_t unit) {
    events_.push({time, sequence_++, kind, index, unit});
}

void Timeline::begin_not_before(Endpoint tile, double time) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const std::vector<std::uint16_t>& tiles = map_.stages()[i].placement->tiles;
        if (std::find(tiles.begin(), tiles.end(), tile) != tiles.end())
            stages_[i].ready_at = std::max(stages_[i].ready_at, time);
    }
}

void Timeline::begin_segment(unsigned segment, double start) {
    run_until(start);  // what is left of the segments before: weights on their way
    segment_ = static_cast<int>(segment);
    segment_start_ = start;
    const std::vector<unsigned>& members = map_.segments().at(segment);
    stages_missing_ = static_cast<unsigned>(members.size());
    for (const unsigned stage : members) begin_stage(stage, start);
    for (const unsigned stage : members) group_free_[stages_[stage].group] = start;
    for (const unsigned stage : members) {
        for (const std::uint16_t id : map_.stages()[stage].inputs) {
            if (map_.edge(id).source_stage < 0) request_index_lists(id, start);
        }
        request_masks(stage, start);
        try_dispatch(stage, start);
    }
}

void Timeline::run_until(double time) {
    const bool segment = running();
    while (!events_.empty() && events_.top().time <= time) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
        if (segment && !running()) return;
    }
    if (running() && events_.empty()) throw std::runtime_error("no progress: " + waits());
}

void Timeline::begin_stage(unsigned index, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    const unsigned units = stage.units();
    state.active = true;
    state.done = false;
    const bool online = scheduling_cycles_ > 0 && stage.samples != 0;
    state.scheduling = online ? StageState::Scheduling::none : StageState::Scheduling::done;
    state.next_unit = state.in_flight = state.masks_requested = 0;
    state.masks_read.assign(stage.share->gate_switch == kNone ? 0 : units, 0);
    state.output_slots = rules::OutputSlots(stage.share->out_slots);
    state.edges_missing.assign(units, 0);
    state.complete.assign(units, 0);
    state.output = {};
    state.output_to_memory = false;
    state.output_to = kNone;
    state.masks_at = state.scheduled_at = 0;
    const auto reset = [&](std::uint16_t id) {
        EdgeState& edge = edges_[id];
        edge.released = edge.window = 0;
        edge.ready.assign(units, 0);
        edge.arrivals.assign(units, {});
        edge.complete_at.assign(units, -1);
        edge.transfers.assign(units, {});
        edge.masks_known.assign(map_.edge(id).edge->path == EdgePath::mask ? units : 0, 0);
        if (packed(map_.edge(id))) reset_packed(id);
    };
    for (const std::uint16_t id : stage.inputs) reset(id);
    for (const std::uint16_t id : stage.outputs) reset(id);
    prefetch(index, false, -1, time);
    for (unsigned i = 0; i < state.slices; ++i) {
        Slice& slice = slices_[state.first_slice + i];
        if (slice.weights == Weights::absent) request_weights(slice, time);
        if (slice.weights == Weights::present) prefetch(index, false, static_cast<int>(i), time);
    }
}

void Timeline::handle(const Event& event) {
    const double time = event.time;
    const auto edge = static_cast<std::uint16_t>(event.index);
    switch (event.kind) {
        case EventKind::computed:
            computed(event.index, event.unit, time);
            break;
        case EventKind::heads_arrive:
            heads_arrive(edge, event.unit, time);
            break;
        case EventKind::requests_arrive:
            requests_arrive(edge, event.unit, time);
            break;
        case EventKind::stores_leave:
            stores_leave(edge, event.unit, time);
            break;
        case EventKind::unit_ready:
            edges_[edge].ready[event.unit] = 1;
            edges_[edge].arrivals[event.unit].at = time;
            try_dispatch(static_cast<unsigned>(map_.edge(edge).destination_stage), time);
            break;
        case EventKind::edge_done:
            note_output(static_cast<unsigned>(map_.edge(edge).source_stage), edge, event.unit, time);
            edge_done(static_cast<unsigned>(map_.edge(edge).source_stage), event.unit, time);
            break;
        case EventKind::masks_known:
            masks_known(edge, event.unit, time);
            break;
        case EventKind::masks_read: {
            std::vector<std::uint8_t>& read = stages_[event.index].masks_read;
            if (event.unit == kAllUnits) {
                std::fill(read.begin(), read.end(), 1);
            } else {
                read[event.unit] = 1;
            }
            stages_[event.index].masks_at = time;
            try_dispatch(event.index, time);
            break;
        }
        case EventKind::index_lists_read:
            edges_[edge].index_list_known = true;
            open_loads(edge, time);
            break;
        case EventKind::scheduled:
            stages_[event.index].scheduling = StageState::Scheduling::done;
            stages_[event.index].scheduled_at = time;
            try_dispatch(event.index, time);
            break;
        case EventKind::data_ready:
            data_ready(event.index, time);
            break;
        case EventKind::turn_ready:
            turn_ready(event.index, time);
            break;
        case EventKind::batch_announced:
            batch_announced(edge, event.unit, time);
            break;
        case EventKind::part_heads:
            part_heads(edge, event.unit, time);
            break;
        case EventKind::part_ready:
            part_ready(edge, event.unit, time);
            break;
        case EventKind::weights_asked:
            move(transfers_.weights(edge_of(event.unit), slices_[event.index].index, reader_of(event.unit)), time,
                 EventKind::weights_there, event.index, 0);
            break;
        case EventKind::weights_there:
            weights_there(event.index, time);
            break;
    }
}

void Timeline::try_group(unsigned group, double time) {
    for (const unsigned stage : groups_[group]) try_dispatch(stage, time);
}

rules::UnitWait Timeline::wait_of_next(unsigned index) const {
    const StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    rules::NextUnit next;
    next.unit = state.next_unit;
    next.units = stage.units();
    next.outputs_in_flight = state.in_flight;
    next.output_slots = stage.share->out_slots;
    next.weights_present = state.slices_missing == 0;
    const bool ends = next.unit == next.units;
    next.inputs_ready = ends || std::all_of(stage.inputs.begin(), stage.inputs.end(),
                                            [&](std::uint16_t id) { return edges_[id].ready[next.unit] != 0; });
    next.masks_read = ends || state.masks_read.empty() || state.masks_read[next.unit] != 0;
    return rules::wait_of(next);
}

void Timeline::try_dispatch(unsigned index, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    const unsigned unit = state.next_unit;
    if (!state.active || group_busy_[state.group] != 0 || wait_of_next(index) != rules::UnitWait::none) return;
    if (state.scheduling != StageState::Scheduling::done) {
        if (state.scheduling == StageState::Scheduling::asked) return;
        state.scheduling = StageState::Scheduling::asked;
        scheduler_free_ = std::max(scheduler_free_, time) + scheduling_cycles_;
        push(scheduler_free_, EventKind::scheduled, index, unit);
        return;
    }
    const std::uint32_t dyn_dim = counts_.count(stage.samples, *stage.placement, unit);
    const bool empty = dyn_dim == 0;
    if (!state.output_slots.may_take(unit, empty)) return;
    state.output_slots.take(unit, empty);
    const unsigned allocation = counts_.allocation(stage.samples, *stage.placement, unit);
    const UnitOfBatch of_batch = counts_.unit_of_batch(stage.samples, *stage.placement, unit);
    const StageWork& work = kernels_.work(stage, dyn_dim, allocation, of_batch);
    count_work(index, work, dyn_dim, allocation, of_batch);
    ++state.in_flight;
    group_busy_[state.group] = 1;
    if (stage.placement->allocations.empty() && time > group_free_[state.group])
        charge_wait(index, unit, group_free_[state.group], time, static_cast<double>(stage.placement->tiles.size()));
    if (log_ != nullptr) log_kernel(index, unit, work, dyn_dim, std::max(time, state.ready_at));
    const double end = end_on_tiles(index, unit, work, allocation, of_batch.samples > 0 ? of_batch.samples : dyn_dim,
                                    std::max(time, state.ready_at));
    spent_.kernels += end - time;
    push(end, EventKind::computed, index, unit);
}

void Timeline::count_work(unsigned index, const StageWork& work, std::uint32_t dyn_dim, unsigned allocation,
                          const UnitOfBatch& of_batch) {
    StageState& state = stages_[index];
    const OperatorPlacement& placement = *map_.stages()[index].placement;
    if (!placement.invoked_by_batch()) {
        ++state.selected[work.kernel < 0 ? 0 : static_cast<std::size_t>(work.kernel) + 1];
        ++state.computed[allocation * (placement.unit_samples + std::size_t{1}) + dyn_dim];
        return;
    }
    // An invocation counts with its first unit, by the samples that it is for.
    if (!of_batch.later)
        ++state.selected[of_batch.samples == 0
                             ? 0
                             : static_cast<std::size_t>(placement.best_fit(allocation, of_batch.samples) + 1)];
    ++state.computed_of_batch[{dyn_dim, allocation, of_batch.samples, of_batch.later}];
}

void Timeline::computed(unsigned index, unsigned unit, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    group_busy_[state.group] = 0;
    group_free_[state.group] = time;
    ++state.next_unit;
    state.complete[unit] = 1;
    for (const std::uint16_t id : stage.inputs) release(id, unit, time);
    request_masks(index, time);
    state.edges_missing[unit] = static_cast<std::uint16_t>(stage.outputs.size());
    if (stage.outputs.empty()) {
        state.edges_missing[unit] = 1;
        edge_done(index, unit, time);
    }
    for (const std::uint16_t id : stage.outputs) {
        if (!masks_missing(*map_.edge(id).edge, index, unit)) start_output(id, unit, time);
    }
    try_group(state.group, time);
}

void Timeline::edge_done(unsigned index, unsigned unit, double time) {
    StageState& state = stages_[index];
    if (--state.edges_missing[unit] > 0) return;
    --state.in_flight;
    state.output_slots.release(unit);
    check_done(index, time);
    try_dispatch(index, time);
}

void Timeline::check_done(unsigned index, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    if (!state.active || !rules::is_done(state.next_unit, stage.units(), state.in_flight)) return;
    state.active = false;
    state.done = true;
    state.done_at = time;
    const bool last = std::all_of(groups_[state.group].begin(), groups_[state.group].end(),
                                  [this](unsigned member) { return stages_[member].done; });
    if (last && stage.placement->allocations.empty())
        charge_wait(index, stage.units(), group_free_[state.group], time,
                    static_cast<double>(stage.placement->tiles.size()));
    for (unsigned i = 0; i < state.slices; ++i) {
        Slice& slice = slices_[state.first_slice + i];
        slice.conditions_missing = slice.conditions;
        if (!state.resident) slice.weights = Weights::absent;
    }
    if (!state.resident) state.slices_missing = state.slices;
    --stages_missing_;
    prefetch(index, true, -1, time);
}

void Timeline::clear_selected() {
    for (StageState& state : stages_) std::fill(state.selected.begin(), state.selected.end(), 0);
}

std::string Timeline::waits() const {
    std::string text;
    for (const unsigned index : map_.segments().at(static_cast<std::size_t>(segment_))) {
        const StageState& state = stages_[index];
        const Stage& stage = map_.stages()[index];
        if (state.done) continue;
        text +=
            fmt::format("{}operator {} unit {}:", text.empty() ? "" : "; ", stage.placement->op_id, state.next_unit);
        if (state.next_unit == stage.units()) {
            text += fmt::format(" {} outputs to be taken", state.in_flight);
            continue;
        }
        if (state.slices_missing > 0) text += " weights";
        for (const std::uint16_t id : stage.inputs) {
            if (edges_[id].ready[state.next_unit] == 0) text += fmt::format(" input (edge {})", id);
        }
        if (state.in_flight >= stage.share->out_slots) text += " output slot";
        if (!state.masks_read.empty() && state.masks_read[state.next_unit] == 0) text += " recorded masks";
    }
    return text;
}

}  // namespace switchyard::platform
