// SPDX-License-Identifier: Apache-2.0
// Timeline: units of operators that pack their samples as they arrive (SegmentOrder::packs, routing: on_chip). A unit
// of a consumer gets parts from several units of a producer. One probe tells a batch; from then on each unit of the
// consumer that has a slot is acknowledged, and every part leaves when it is made and acknowledged.

#include <algorithm>

#include "switchyard/platform/systems/adyna/stages/timeline.h"

namespace switchyard::platform {

void Timeline::reset_packed(std::uint16_t id) {
    EdgeState& edge = edges_[id];
    const EdgeEnds& ends = map_.edge(id);
    const OperatorPlacement &source = *ends.source, &destination = *ends.destination;
    edge.announced = edge.granted = 0;
    edge.ready.assign(destination.units, 0);
    edge.arrivals.assign(std::max(source.units, destination.units), {});
    edge.parts.clear();
    edge.first_part.assign(1, 0);
    edge.parts_left.assign(source.units, 0);
    edge.parts_there.assign(destination.units, 0);
    const unsigned units_there = destination.units_of_invocation(), units_here = source.units_of_invocation();
    for (unsigned made = 0; made < source.units; ++made) {
        const Positions from = counts_.positions(ends.source_samples, source, made);
        const unsigned first = made / units_here * units_there;
        for (unsigned unit = first; unit < first + units_there; ++unit) {
            const Positions to = counts_.positions(ends.destination_samples, destination, unit);
            if (to.first >= from.last) break;
            const Positions both{std::max(from.first, to.first), std::min(from.last, to.last)};
            const std::uint32_t samples = both.first < both.last ? counts_.count(ends.samples, both) : 0;
            if (samples == 0) continue;
            edge.parts.push_back({made, unit, nullptr, -1, -1});
            ++edge.parts_left[made];
            ++edge.parts_there[unit];
        }
        edge.first_part.push_back(static_cast<std::uint32_t>(edge.parts.size()));
    }
}

bool Timeline::batch_masks_known(std::uint16_t id, const Stage& stage, unsigned unit) const {
    const unsigned units = stage.placement->units_of_invocation(), first = unit / units * units;
    for (unsigned one = first; one < first + units; ++one) {
        if (edges_[id].masks_known[one] == 0 && counts_.count(stage.samples, *stage.placement, one) > 0) return false;
    }
    return true;
}

PartOfUnits Timeline::part_of(const EdgeEnds& ends, const Part& part) const {
    const Positions from = counts_.positions(ends.source_samples, *ends.source, part.source_unit);
    const Positions to = counts_.positions(ends.destination_samples, *ends.destination, part.unit);
    const Positions both{std::max(from.first, to.first), std::min(from.last, to.last)};
    PartOfUnits result;
    result.counts.source = counts_.count(ends.source_samples, from);
    result.counts.edge = counts_.count(ends.samples, both);
    result.counts.destination = counts_.count(ends.destination_samples, to);
    result.counts.allocations.source_batch = counts_.of_batch(ends.source_samples, *ends.source, part.source_unit);
    result.counts.allocations.destination_batch =
        counts_.of_batch(ends.destination_samples, *ends.destination, part.unit);
    // Where the first and the last sample of the edge lie.
    const auto [first, last] = counts_.ends(ends.samples, both);
    result.source_first = counts_.count(ends.source_samples, {from.first, first});
    result.source_last = counts_.count(ends.source_samples, {from.first, last});
    result.destination_first = counts_.count(ends.destination_samples, {to.first, first});
    result.destination_last = counts_.count(ends.destination_samples, {to.first, last});
    return result;
}

void Timeline::start_packed(std::uint16_t id, unsigned unit, double time) {
    EdgeState& edge = edges_[id];
    const EdgeEnds& ends = map_.edge(id);
    const unsigned units = ends.source->units_of_invocation();
    if (unit % units == 0) {
        Transfer& probe = transfers_.packed_probe(id);
        ++probe.uses;
        const double sent = time + resources_.backlog(probe.probe_links, time);
        push(std::max(sent + static_cast<double>(probe.announce), resources_.carry(probe.traffic, time)),
             EventKind::batch_announced, id, unit / units);
    }
    for (std::uint32_t part = edge.first_part[unit]; part < edge.first_part[unit + 1]; ++part) {
        edge.parts[part].made_at = time;
        send_part(id, part);
    }
    if (edge.parts_left[unit] == 0) push(time, EventKind::edge_done, id, unit);
}

void Timeline::batch_announced(std::uint16_t id, unsigned batch, double time) {
    EdgeState& edge = edges_[id];
    const unsigned units = map_.edge(id).destination->units_of_invocation();
    edge.announced = (batch + 1) * units;
    for (unsigned unit = batch * units; unit < edge.announced; ++unit)
        if (edge.parts_there[unit] == 0) push(time, EventKind::unit_ready, id, unit);
    grant_packed(id, time);
}

void Timeline::grant_packed(std::uint16_t id, double time) {
    EdgeState& edge = edges_[id];
    const EdgeEnds& ends = map_.edge(id);
    const unsigned window = rules::input_window(edge.released, ends.edge->slots, edge.announced);
    if (window <= edge.granted) return;
    const auto before = [](const Part& part, unsigned unit) { return part.unit < unit; };
    for (auto part = std::lower_bound(edge.parts.begin(), edge.parts.end(), edge.granted, before);
         part != edge.parts.end() && part->unit < window; ++part) {
        PartOfUnits of = part_of(ends, *part);
        of.granted = part == edge.parts.begin() || std::prev(part)->unit != part->unit;
        part->transfer = &transfers_.part(id, of);
        part->granted_at = time + static_cast<double>(part->transfer->grant - part->transfer->head);
        send_part(id, static_cast<unsigned>(part - edge.parts.begin()));
    }
    edge.granted = window;
}

void Timeline::send_part(std::uint16_t id, unsigned number) {
    const Part& part = edges_[id].parts[number];
    if (part.made_at < 0 || part.granted_at < 0) return;
    push(std::max(part.made_at, part.granted_at) + static_cast<double>(part.transfer->head), EventKind::part_heads, id,
         number);
}

void Timeline::part_heads(std::uint16_t id, unsigned number, double time) {
    Transfer& moved = *edges_[id].parts[number].transfer;
    const auto head = static_cast<double>(moved.head);
    ++moved.uses;
    const double end = resources_.carry(moved.traffic, time - head, moved.stretch) + head;
    edges_[id].arrivals[edges_[id].parts[number].unit].sent = time - head;
    spent_.flights += static_cast<double>(moved.grant - moved.head);
    spend(moved, time - head, end);
    push(end, EventKind::part_ready, id, number);
}

void Timeline::part_ready(std::uint16_t id, unsigned number, double time) {
    EdgeState& edge = edges_[id];
    const Part part = edge.parts[number];
    if (--edge.parts_left[part.source_unit] == 0) push(time, EventKind::edge_done, id, part.source_unit);
    if (--edge.parts_there[part.unit] > 0) return;
    edge.ready[part.unit] = 1;
    edge.arrivals[part.unit].at = time;
    try_dispatch(static_cast<unsigned>(map_.edge(id).destination_stage), time);
}

}  // namespace switchyard::platform
