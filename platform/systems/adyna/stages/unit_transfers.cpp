// SPDX-License-Identifier: Apache-2.0
// Timeline: micro-batches on their way between stages, and to and from HBM: slots, probes, sample-index lists, masks.

#include <algorithm>

#include "switchyard/platform/systems/adyna/stages/timeline.h"

namespace switchyard::platform {

EdgeCounts Timeline::counts(const EdgeEnds& ends, unsigned unit) const {
    const bool loads = ends.source_stage < 0;
    const SetId samples = loads ? ends.destination_samples : ends.source_samples;
    const Positions at = counts_.positions(samples, loads ? *ends.destination : *ends.source, unit);
    EdgeCounts counts;
    counts.edge = counts_.count(ends.samples, at);
    counts.source = ends.source_samples == ends.samples ? counts.edge : counts_.count(ends.source_samples, at);
    counts.destination =
        ends.destination_samples == ends.samples ? counts.edge : counts_.count(ends.destination_samples, at);
    if (ends.edge->path == EdgePath::memory) {
        // Tiles that load wait each for their own pieces and go ahead of one another, so that the interfaces are busy
        // alike. Writes leave a tile in their order: they wait for the interface that has the most of the unit.
        counts.ids = loads ? counts_.ids(samples, at, TransferCosts::block_of(ends)) : counts_.ids(samples, at);
    }
    counts.allocations = {
        ends.source_stage < 0 ? 0 : counts_.allocation(ends.source_samples, *ends.source, unit),
        ends.destination_stage < 0 ? 0 : counts_.allocation(ends.destination_samples, *ends.destination, unit),
        ends.source_stage < 0 ? 0 : counts_.of_batch(ends.source_samples, *ends.source, unit),
        ends.destination_stage < 0 ? 0 : counts_.of_batch(ends.destination_samples, *ends.destination, unit)};
    return counts;
}

Timeline::UnitTransfer& Timeline::unit_transfer(std::uint16_t edge, unsigned unit) {
    UnitTransfer& known = edges_[edge].transfers[unit];
    if (known.transfer != nullptr) return known;
    const EdgeEnds& ends = map_.edge(edge);
    const EdgeCounts counts = this->counts(ends, unit);
    known.transfer = &transfers_.tensor(edge, counts);
    if (ends.edge->path == EdgePath::memory) known.displacement = transfers_.displacement(edge, counts.ids);
    return known;
}

bool Timeline::masks_missing(const Edge& edge, unsigned index, unsigned unit) const {
    if (!rules::waits_for_masks(edge)) return false;
    const Stage& stage = map_.stages()[index];
    if (counts_.count(stage.samples, *stage.placement, unit) == 0) return false;
    for (const std::uint16_t id : stage.share->in_edges) {
        const EdgeEnds& ends = map_.edge(id);
        if (ends.edge->path != EdgePath::mask) continue;
        const Stage& gate = map_.stages()[static_cast<std::size_t>(ends.source_stage)];
        if (gate.share->gate_switch != edge.switch_id) continue;
        return packed(map_.edge(edge.id)) ? !batch_masks_known(id, stage, unit) : edges_[id].masks_known[unit] == 0;
    }
    return true;
}

void Timeline::start_output(std::uint16_t id, unsigned unit, double time) {
    const EdgeEnds& ends = map_.edge(id);
    if (ends.edge->path == EdgePath::labels) {  // the next gate's results come later than they
        Transfer& sent = transfers_.masks(id, counts_.count(ends.source_samples, *ends.source, unit),
                                          counts_.allocation(ends.source_samples, *ends.source, unit),
                                          counts_.of_batch(ends.source_samples, *ends.source, unit));
        ++sent.uses;
        resources_.carry(sent.traffic, time);
        push(time, EventKind::edge_done, id, unit);
        return;
    }
    if (ends.edge->path == EdgePath::mask) {
        const std::uint32_t decided = counts_.count(ends.source_samples, *ends.source, unit);
        Transfer& sent = transfers_.masks(id, decided, counts_.allocation(ends.source_samples, *ends.source, unit),
                                          counts_.of_batch(ends.source_samples, *ends.source, unit));
        ++sent.uses;
        if (!sent.empty) {
            push(std::max(time + static_cast<double>(sent.announce), resources_.carry(sent.traffic, time)),
                 EventKind::masks_known, id, unit);
        }
        push(time, EventKind::edge_done, id, unit);
        return;
    }
    if (packed(ends)) return start_packed(id, unit, time);
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
        const double told = std::max(time + static_cast<double>(moved.announce), resources_.carry(moved.traffic, time));
        edges_[id].arrivals[unit].sent = told;
        push(told, EventKind::unit_ready, id, unit);
        push(time, EventKind::edge_done, id, unit);
        return;
    }
    EdgeState& edge = edges_[id];
    if (rules::has_input_slot(unit, edge.released, ends.edge->slots)) {
        const double sent = time + resources_.backlog(moved.probe_links, time);
        spent_.waits += sent - time;
        push(sent + static_cast<double>(moved.announce), EventKind::heads_arrive, id, unit);
    } else {
        edge.complete_at[unit] = time;
    }
}

void Timeline::heads_arrive(std::uint16_t id, unsigned unit, double time) {
    Transfer& moved = transfer(id, unit);
    const auto head = static_cast<double>(moved.head);
    ++moved.uses;
    const double end = resources_.carry(moved.traffic, time - head, moved.stretch) + head;
    spent_.flights += static_cast<double>(moved.announce - moved.head);
    edges_[id].arrivals[unit].sent = time - head;
    spend(moved, time - head, end);
    push(end, EventKind::unit_ready, id, unit);
    push(end, EventKind::edge_done, id, unit);
}

void Timeline::stores_leave(std::uint16_t id, unsigned unit, double time) {
    const UnitTransfer& moved = unit_transfer(id, unit);
    move(*moved.transfer, time, EventKind::edge_done, id, unit, moved.displacement);
}

void Timeline::masks_known(std::uint16_t id, unsigned unit, double time) {
    edges_[id].masks_known[unit] = 1;
    const EdgeEnds& ends = map_.edge(id);
    const auto index = static_cast<unsigned>(ends.destination_stage);
    const Stage& stage = map_.stages()[index];
    const std::uint16_t switch_id = map_.stages()[static_cast<std::size_t>(ends.source_stage)].share->gate_switch;
    for (const std::uint16_t out : stage.outputs) {
        const Edge& parked = *map_.edge(out).edge;
        if (parked.switch_id != switch_id || !rules::waits_for_masks(parked)) continue;
        if (!packed(map_.edge(out))) {
            if (stages_[index].complete[unit]) start_output(out, unit, time);
            continue;
        }
        if (!batch_masks_known(id, stage, unit)) continue;
        const unsigned units = stage.placement->units_of_invocation(), first = unit / units * units;
        for (unsigned one = first; one < first + units; ++one)
            if (stages_[index].complete[one]) start_output(out, one, time);
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
    if (packed(ends)) return grant_packed(id, time);
    const auto units = static_cast<unsigned>(edge.complete_at.size());
    const unsigned next = rules::input_window(unit, ends.edge->slots, units);
    if (next == rules::input_window(edge.released, ends.edge->slots, units) || edge.complete_at[next] < 0) return;
    const Transfer& moved = transfer(id, next);
    push(
        std::max(edge.complete_at[next] + static_cast<double>(moved.announce), time + static_cast<double>(moved.grant)),
        EventKind::heads_arrive, id, next);
    edge.complete_at[next] = -1;
}

void Timeline::request_index_lists(std::uint16_t id, double time) {
    Transfer& moved = transfers_.index_lists(id);
    if (moved.empty) {
        edges_[id].index_list_known = true;
        open_loads(id, time);
        return;
    }
    edges_[id].index_list_known = false;
    move(moved, time + static_cast<double>(moved.grant), EventKind::index_lists_read, id, 0);
}

void Timeline::open_loads(std::uint16_t id, double time) {
    EdgeState& edge = edges_[id];
    if (!edge.index_list_known) return;
    const auto units = static_cast<unsigned>(edge.ready.size());
    const unsigned window = rules::input_window(edge.released, map_.edge(id).edge->slots, units);
    for (; edge.window < window; ++edge.window) {
        Transfer& moved = transfer(id, edge.window);
        const double known = time + static_cast<double>(moved.announce);
        if (moved.empty) {
            ++moved.uses;
            const double told = std::max(known, resources_.carry(moved.traffic, time));
            edge.arrivals[edge.window].sent = told;
            push(told, EventKind::unit_ready, id, edge.window);
        } else {
            push(known + static_cast<double>(moved.grant), EventKind::requests_arrive, id, edge.window);
        }
    }
}

void Timeline::requests_arrive(std::uint16_t id, unsigned unit, double time) {
    const UnitTransfer& moved = unit_transfer(id, unit);
    move(*moved.transfer, time, EventKind::unit_ready, id, unit, moved.displacement);
}

void Timeline::request_masks(unsigned index, double time) {
    StageState& state = stages_[index];
    if (state.masks_read.empty()) return;
    const Stage& stage = map_.stages()[index];
    const SegmentOrder* const order = map_.order(stage.segment());
    if (order != nullptr) {  // a unit's samples may be any: all masks at once
        if (state.masks_requested > 0) return;
        Transfer& moved = transfers_.recorded_masks(stage, counts_.samples());
        move(moved, time + static_cast<double>(moved.grant), EventKind::masks_read, index, kAllUnits);
        state.masks_requested = stage.units();
        return;
    }
    const unsigned window = rules::masks_window(state.next_unit, mask_prefetch_units_, stage.units());
    for (; state.masks_requested < window; ++state.masks_requested) {
        Transfer& moved = transfers_.recorded_masks(stage, stage.placement->unit_samples);
        move(moved, time + static_cast<double>(moved.grant), EventKind::masks_read, index, state.masks_requested);
    }
}

}  // namespace switchyard::platform
