#include "switchyard/platform/stages/timeline.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace switchyard::platform {

Timeline::Timeline(const PlatformConfig& platform, const ProgramMap& map, const SampleCounts& counts,
                   TransferCosts& transfers, KernelMeter& kernels)
    : map_(map),
      counts_(counts),
      transfers_(transfers),
      kernels_(kernels),
      resources_(platform, transfers.traffic().links()),
      mask_prefetch_units_(platform.controller.mask_prefetch_units),
      scheduling_cycles_(platform.cycles(platform.chip.online_scheduling_us * 1e3)),
      stages_(map.stages().size()),
      edges_(map.edges().size()) {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const Stage& stage = map_.stages()[i];
        stages_[i].picked.assign(stage.share->kernel_count + std::size_t{1}, 0);
        stages_[i].computed.assign((stage.placement->unit_samples + std::size_t{1}) *
                                       std::max<std::size_t>(1, stage.placement->allocations.size()),
                                   0);
        stages_[i].resident = std::all_of(stage.weights.begin(), stage.weights.end(),
                                          [&stage](std::uint16_t id) { return stage.program->edge(id).resident; });
        if (stage.weights.empty()) continue;
        stages_[i].first_slice = static_cast<unsigned>(slices_.size());
        stages_[i].slices = stages_[i].slices_missing =
            std::min<unsigned>(stage.placement->k_ways, static_cast<unsigned>(stage.placement->tiles.size()));
        for (unsigned slice = 0; slice < stages_[i].slices; ++slice)
            slices_.push_back({static_cast<unsigned>(i), slice, Weights::absent, 0, 0, 0});
    }
    derive_groups();
    derive_prefetches();
}

void Timeline::push(double time, EventKind kind, std::uint32_t index, std::uint32_t unit) {
    events_.push({time, sequence_++, kind, index, unit});
}

void Timeline::run_segment(unsigned segment, double start) {
    segment_ = static_cast<int>(segment);
    // What is left of the segments before: weights on their way.
    while (!events_.empty() && events_.top().time <= start) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
    }
    const std::vector<unsigned>& members = map_.segments().at(segment);
    stages_missing_ = static_cast<unsigned>(members.size());
    for (const unsigned stage : members) begin_stage(stage, start);
    for (const unsigned stage : members) {
        for (const std::uint16_t id : map_.stages()[stage].inputs) {
            if (map_.edge(id).source_stage < 0) request_frames(id, start);
        }
        request_masks(stage, start);
        try_dispatch(stage, start);
    }
    while (stages_missing_ > 0) {
        if (events_.empty()) throw std::runtime_error("no progress: " + waits());
        const Event event = events_.top();
        events_.pop();
        handle(event);
    }
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
    state.unit_in_slot.assign(stage.share->out_slots, -1);
    state.edges_missing.assign(units, 0);
    state.complete.assign(units, 0);
    const auto reset = [&](std::uint16_t id) {
        EdgeState& edge = edges_[id];
        edge.released = edge.window = 0;
        edge.ready.assign(units, 0);
        edge.complete_at.assign(units, -1);
        edge.masks_known.assign(map_.edge(id).edge->path == EdgePath::mask ? units : 0, 0);
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

EdgeCounts Timeline::counts(const EdgeEnds& ends, unsigned unit) const {
    const OperatorPlacement& placement = ends.source_stage < 0 ? *ends.destination : *ends.source;
    EdgeCounts counts;
    counts.edge = counts_.count(ends.samples, placement, unit);
    counts.source =
        ends.source_samples == ends.samples ? counts.edge : counts_.count(ends.source_samples, placement, unit);
    counts.destination = ends.destination_samples == ends.samples
                             ? counts.edge
                             : counts_.count(ends.destination_samples, placement, unit);
    counts.allocations = {
        ends.source_stage < 0 ? 0 : counts_.allocation(ends.source_samples, *ends.source, unit),
        ends.destination_stage < 0 ? 0 : counts_.allocation(ends.destination_samples, *ends.destination, unit)};
    return counts;
}

Transfer& Timeline::transfer(std::uint16_t edge, unsigned unit) {
    return transfers_.tensor(edge, unit, counts(map_.edge(edge), unit));
}

void Timeline::handle(const Event& event) {
    const double time = event.time;
    const auto edge = static_cast<std::uint16_t>(event.index);
    switch (event.kind) {
        case EventKind::computed:
            computed(event.index, event.unit, time);
            break;
        case EventKind::heads_arrive: {
            Transfer& moved = transfer(edge, event.unit);
            const auto head = static_cast<double>(moved.head);
            ++moved.uses;
            const double end = resources_.carry(moved.traffic, time - head) + head;
            push(end, EventKind::unit_ready, edge, event.unit);
            push(end, EventKind::edge_done, edge, event.unit);
            break;
        }
        case EventKind::requests_arrive: {
            Transfer& moved = transfer(edge, event.unit);
            ++moved.uses;
            push(resources_.read(moved.traffic, time) + static_cast<double>(moved.head), EventKind::unit_ready, edge,
                 event.unit);
            break;
        }
        case EventKind::stores_leave: {
            Transfer& moved = transfer(edge, event.unit);
            ++moved.uses;
            push(resources_.write(moved.traffic, time, static_cast<double>(moved.head)) +
                     static_cast<double>(moved.back),
                 EventKind::edge_done, edge, event.unit);
            break;
        }
        case EventKind::unit_ready:
            edges_[edge].ready[event.unit] = 1;
            try_dispatch(static_cast<unsigned>(map_.edge(edge).destination_stage), time);
            break;
        case EventKind::edge_done:
            edge_done(static_cast<unsigned>(map_.edge(edge).source_stage), event.unit, time);
            break;
        case EventKind::masks_known: {
            edges_[edge].masks_known[event.unit] = 1;
            const auto index = static_cast<unsigned>(map_.edge(edge).destination_stage);
            if (!stages_[index].complete[event.unit]) break;
            const std::uint16_t switch_id =
                map_.stages()[static_cast<std::size_t>(map_.edge(edge).source_stage)].share->gate_switch;
            for (const std::uint16_t out : map_.stages()[index].outputs) {
                const Edge& parked = *map_.edge(out).edge;
                if (parked.switch_id == switch_id && parked.path != EdgePath::mask) start_output(out, event.unit, time);
            }
            break;
        }
        case EventKind::masks_read:
            stages_[event.index].masks_read[event.unit] = 1;
            try_dispatch(event.index, time);
            break;
        case EventKind::frames_read:
            edges_[edge].framed = true;
            open_loads(edge, time);
            break;
        case EventKind::scheduled:
            stages_[event.index].scheduling = StageState::Scheduling::done;
            try_dispatch(event.index, time);
            break;
        case EventKind::weights_asked: {
            const auto id = static_cast<std::uint16_t>(event.unit);
            const Transfer& moved = transfers_.weights(id, slices_[event.index].index);
            const Resources::Stream stream = resources_.stream(moved.traffic, time);
            streams_[{event.index, event.unit}] = stream;
            push(stream.end + static_cast<double>(moved.head), EventKind::weights_there, event.index, id);
            break;
        }
        case EventKind::weights_there: {
            const double delay = resources_.delay_of(streams_.at({event.index, event.unit}));
            if (delay > 0) {
                push(time + delay, EventKind::weights_there, event.index, event.unit);
            } else {
                ++transfers_.weights(static_cast<std::uint16_t>(event.unit), slices_[event.index].index).uses;
                weights_there(slices_[event.index], time);
            }
            break;
        }
    }
}

void Timeline::try_group(unsigned group, double time) {
    for (const unsigned stage : groups_[group]) try_dispatch(stage, time);
}

void Timeline::try_dispatch(unsigned index, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    const unsigned unit = state.next_unit;
    if (!state.active || group_busy_[state.group] != 0 || unit == stage.units() ||
        state.in_flight >= stage.share->out_slots || state.slices_missing > 0) {
        return;
    }
    for (const std::uint16_t id : stage.inputs) {
        if (edges_[id].ready[unit] == 0) return;
    }
    if (!state.masks_read.empty() && state.masks_read[unit] == 0) return;
    if (state.scheduling != StageState::Scheduling::done) {
        if (state.scheduling == StageState::Scheduling::asked) return;
        state.scheduling = StageState::Scheduling::asked;
        scheduler_free_ = std::max(scheduler_free_, time) + scheduling_cycles_;
        push(scheduler_free_, EventKind::scheduled, index, unit);
        return;
    }
    const std::uint32_t dyn_dim = counts_.count(stage.samples, *stage.placement, unit);
    int& slot = state.unit_in_slot[unit % state.unit_in_slot.size()];
    if (dyn_dim > 0) {
        if (slot >= 0) return;
        slot = static_cast<int>(unit);
    }
    const unsigned allocation = counts_.allocation(stage.samples, *stage.placement, unit);
    const StageWork& work = kernels_.work(stage, dyn_dim, allocation);
    ++state.picked[work.kernel < 0 ? 0 : static_cast<std::size_t>(work.kernel) + 1];
    ++state.computed[allocation * (stage.placement->unit_samples + std::size_t{1}) + dyn_dim];
    ++state.in_flight;
    group_busy_[state.group] = 1;
    push(end_on_tiles(stage, work, allocation, dyn_dim, time), EventKind::computed, index, unit);
}

void Timeline::computed(unsigned index, unsigned unit, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    group_busy_[state.group] = 0;
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

bool Timeline::masks_missing(const Edge& edge, unsigned index, unsigned unit) const {
    if (edge.switch_id == kNone || edge.path == EdgePath::mask) return false;
    const Stage& stage = map_.stages()[index];
    if (counts_.count(stage.samples, *stage.placement, unit) == 0) return false;
    for (const std::uint16_t id : stage.share->in_edges) {
        const EdgeEnds& ends = map_.edge(id);
        if (ends.edge->path != EdgePath::mask) continue;
        const Stage& gate = map_.stages()[static_cast<std::size_t>(ends.source_stage)];
        if (gate.share->gate_switch == edge.switch_id) return edges_[id].masks_known[unit] == 0;
    }
    return true;
}

void Timeline::start_output(std::uint16_t id, unsigned unit, double time) {
    const EdgeEnds& ends = map_.edge(id);
    if (ends.edge->path == EdgePath::mask) {
        const std::uint32_t decided = counts_.count(ends.source_samples, *ends.source, unit);
        Transfer& sent = transfers_.masks(id, decided, counts_.allocation(ends.source_samples, *ends.source, unit));
        ++sent.uses;
        if (!sent.empty) {
            resources_.carry(sent.traffic, time);
            push(time + static_cast<double>(sent.announce), EventKind::masks_known, id, unit);
        }
        push(time, EventKind::edge_done, id, unit);
        return;
    }
    Transfer& moved = transfer(id, unit);
    if (ends.destination_stage < 0) {
        if (moved.empty) {
            push(time, EventKind::edge_done, id, unit);
        } else {
            push(time + static_cast<double>(moved.grant), EventKind::stores_leave, id, unit);
        }
        return;
    }
    if (moved.empty) {  // the probe says that nothing will come; that takes no slot
        ++moved.uses;
        resources_.carry(moved.traffic, time);
        push(time + static_cast<double>(moved.announce), EventKind::unit_ready, id, unit);
        push(time, EventKind::edge_done, id, unit);
        return;
    }
    EdgeState& edge = edges_[id];
    if (unit < edge.released + ends.edge->slots) {
        push(time + static_cast<double>(moved.announce), EventKind::heads_arrive, id, unit);
    } else {
        edge.complete_at[unit] = time;
    }
}

void Timeline::release(std::uint16_t id, unsigned unit, double time) {
    EdgeState& edge = edges_[id];
    edge.released = unit + 1;
    const EdgeEnds& ends = map_.edge(id);
    if (ends.source_stage < 0) {
        open_loads(id, time);
        return;
    }
    const unsigned next = unit + ends.edge->slots;
    if (next >= edge.complete_at.size() || edge.complete_at[next] < 0) return;
    const Transfer& moved = transfer(id, next);
    push(
        std::max(edge.complete_at[next] + static_cast<double>(moved.announce), time + static_cast<double>(moved.grant)),
        EventKind::heads_arrive, id, next);
    edge.complete_at[next] = -1;
}

void Timeline::request_frames(std::uint16_t id, double time) {
    Transfer& moved = transfers_.frames(id);
    if (moved.empty) {
        edges_[id].framed = true;
        open_loads(id, time);
        return;
    }
    ++moved.uses;
    edges_[id].framed = false;
    push(resources_.read(moved.traffic, time + static_cast<double>(moved.grant)) + static_cast<double>(moved.head),
         EventKind::frames_read, id, 0);
}

void Timeline::open_loads(std::uint16_t id, double time) {
    EdgeState& edge = edges_[id];
    if (!edge.framed) return;
    const auto units = static_cast<unsigned>(edge.ready.size());
    for (; edge.window < std::min(edge.released + map_.edge(id).edge->slots, units); ++edge.window) {
        Transfer& moved = transfer(id, edge.window);
        const double known = time + static_cast<double>(moved.announce);
        if (moved.empty) {
            ++moved.uses;
            resources_.read(moved.traffic, time);
            push(known, EventKind::unit_ready, id, edge.window);
        } else {
            push(known + static_cast<double>(moved.grant), EventKind::requests_arrive, id, edge.window);
        }
    }
}

void Timeline::request_masks(unsigned index, double time) {
    StageState& state = stages_[index];
    if (state.masks_read.empty()) return;
    const Stage& stage = map_.stages()[index];
    const SegmentOrder* const order = map_.order(stage.segment());
    if (order != nullptr) {  // a unit's samples may be any: all masks at once
        if (state.masks_requested > 0) return;
        Transfer& moved = transfers_.recorded_masks(stage, order->samples);
        ++moved.uses;
        const double there =
            resources_.read(moved.traffic, time + static_cast<double>(moved.grant)) + static_cast<double>(moved.head);
        for (; state.masks_requested < stage.units(); ++state.masks_requested)
            push(there, EventKind::masks_read, index, state.masks_requested);
        return;
    }
    const unsigned window = std::min(state.next_unit + mask_prefetch_units_, stage.units());
    for (; state.masks_requested < window; ++state.masks_requested) {
        Transfer& moved = transfers_.recorded_masks(stage, stage.placement->unit_samples);
        ++moved.uses;
        push(resources_.read(moved.traffic, time + static_cast<double>(moved.grant)) + static_cast<double>(moved.head),
             EventKind::masks_read, index, state.masks_requested);
    }
}

void Timeline::edge_done(unsigned index, unsigned unit, double time) {
    StageState& state = stages_[index];
    if (--state.edges_missing[unit] > 0) return;
    --state.in_flight;
    int& slot = state.unit_in_slot[unit % state.unit_in_slot.size()];
    if (slot == static_cast<int>(unit)) slot = -1;
    check_done(index, time);
    try_dispatch(index, time);
}

void Timeline::check_done(unsigned index, double time) {
    StageState& state = stages_[index];
    const Stage& stage = map_.stages()[index];
    if (state.next_unit < stage.units() || state.in_flight > 0 || !state.active) return;
    state.active = false;
    state.done = true;
    state.done_at = time;
    for (unsigned i = 0; i < state.slices; ++i) {
        Slice& slice = slices_[state.first_slice + i];
        slice.conditions_missing = slice.conditions;
        if (!state.resident) slice.weights = Weights::absent;
    }
    if (!state.resident) state.slices_missing = state.slices;
    --stages_missing_;
    prefetch(index, true, -1, time);
}

void Timeline::clear_picked() {
    for (StageState& state : stages_) std::fill(state.picked.begin(), state.picked.end(), 0);
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
