// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/inbound_slots.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/hw/network_interface/index_lists.h"
#include "switchyard/hw/network_interface/memory_fetcher.h"
#include "switchyard/hw/network_interface/packed_parts.h"
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"
#include "switchyard/sw_scheduler/adyna/rules/segments.h"

namespace switchyard::hw {

namespace {

void check_slot(const InterfacePorts& ports, const InEdge& in, unsigned unit) {
    const std::uint64_t bytes = in.units[unit].expected;
    if (bytes > in.edge->slot_bytes)
        ports.fail(fmt::format("edge {} unit {}: expected at most the {} bytes of its slot, found {}", in.edge->id,
                               unit, in.edge->slot_bytes, bytes));
}

}  // namespace

InboundSlots::~InboundSlots() {
    for (InEdge& in : in_edges_) {
        for (::tlm::tlm_generic_payload* payload : in.early) payload->release();
    }
}

void InboundSlots::load(const TileProgram& program) {
    in_edges_.clear();
    shares_.clear();
    index_.clear();
    for (std::size_t i = 0; i < program.operators.size(); ++i) {
        const TileOperator& op = program.operators[i];
        for (const std::uint16_t id : op.in_edges) {
            const Edge& edge = program.edge(id);
            if (carries_decisions(edge.path)) continue;
            InEdge in;
            in.edge = &edge;
            in.destination = &program.placement(op.op_id);
            if (edge.path != EdgePath::weights) in.source = &program.placement(edge.src_op);
            in.operator_index = static_cast<std::uint16_t>(i);
            in.rank = op.rank;
            in.segment = op.segment;
            in.units.resize(edge.path == EdgePath::weights ? 1 : in.destination->units);
            if (index_.size() <= id) index_.resize(id + std::size_t{1}, -1);
            index_[id] = static_cast<int>(in_edges_.size());
            in_edges_.push_back(std::move(in));
        }
    }
}

InEdge& InboundSlots::in_edge(std::uint16_t edge_id) {
    if (!ends_here(edge_id))
        ports_.fail(fmt::format("expected an edge that ends at this tile, found edge {}", edge_id));
    return in_edges_[static_cast<std::size_t>(index_[edge_id])];
}

void InboundSlots::open_segment(std::uint16_t segment, std::uint32_t batch) {
    for (InEdge& in : in_edges_) {
        if (in.segment != segment || in.edge->path == EdgePath::weights) continue;
        in.open = true;
        in.batch = batch;
        in.released = 0;
        std::fill(in.units.begin(), in.units.end(), InputUnit{});
        std::vector<::tlm::tlm_generic_payload*> early;
        early.swap(in.early);
        for (::tlm::tlm_generic_payload* payload : early) {
            on_probe(*payload, *payload->get_extension<AdynaMessage>());
            payload->release();
        }
        std::vector<Grant> grants;
        grants.swap(in.early_grants);
        for (const Grant& grant : grants) fetcher_.take_grant(in, grant);
    }
    for (InEdge& in : in_edges_) {
        if (in.segment != segment || in.edge->path != EdgePath::memory) continue;
        fetcher_.open(in);
    }
}

void InboundSlots::close_segment(std::uint16_t segment) {
    for (InEdge& in : in_edges_) {
        if (in.segment == segment && in.edge->path != EdgePath::weights) in.open = false;
    }
}

void InboundSlots::release_unit(std::uint16_t edge_id, std::uint16_t unit) {
    InEdge& in = in_edge(edge_id);
    in.units[unit].index_list.reset();
    in.released = std::max(in.released, unit + 1U);
    for (unsigned u = unit; u < in.window(); ++u) {
        if (in.units[u].announced) grant(in, u);
    }
    if (in.edge->path == EdgePath::memory) fetcher_.start_loads(in);
}

void InboundSlots::on_probe(::tlm::tlm_generic_payload& payload, const AdynaMessage& message) {
    InEdge& in = in_edge(message.edge);
    if (!in.open || in.batch != message.batch) {
        payload.acquire();
        in.early.push_back(&payload);
        return;
    }
    const bool packed = in.edge->path == EdgePath::on_chip && ports_.packs(in.segment);
    if (!packed && in.units.at(message.unit).announced) return;
    if (packed)
        announce_packed(in, message.unit, message.index_list);
    else
        announce(in, message.unit, message.index_list);
}

void InboundSlots::grant(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    if (input.granted || !in.has_slot(unit)) return;
    input.granted = true;
    if (!input.senders.empty()) ports_.acknowledge(in, unit, input.senders);
    input.senders.clear();
}

void InboundSlots::announce(InEdge& in, unsigned unit, const SampleIndexListPtr& index_list) {
    InputUnit& input = in.units[unit];
    input.announced = true;
    input.index_list = index_list;
    const std::shared_ptr<const Share> share = share_of(in, *index_list);
    input.expected = share->expected;
    if (in.edge->path == EdgePath::on_chip) ports_.stats().samples_received += share->samples;
    check_slot(ports_, in, unit);
    if (!rules::needs_input_slot(input.expected)) {
        input.sent_at = sc_core::sc_time_stamp();  // nothing comes: what was waited for is the word of it
        announce_ready(in, unit);
        return;
    }
    input.senders = in.edge->path == EdgePath::memory ? fetcher_.load_leader(in, unit) : share->senders;
    grant(in, unit);
    if (in.edge->path == EdgePath::memory) fetcher_.start_load(in, unit);
}

void InboundSlots::announce_packed(InEdge& in, unsigned first_unit, const SampleIndexListPtr& whole) {
    const std::uint32_t unit_samples = in.destination->unit_samples;
    const unsigned units = in.destination->units_of_invocation(),
                   first = first_unit / in.source->units_of_invocation() * units;
    const SampleSet& at_source = *sets_of(*in.edge, *whole).source;
    for (unsigned unit = first; unit < first + units; ++unit) {
        InputUnit& input = in.units.at(unit);
        input.announced = true;
        input.index_list = packed_unit(whole, in.edge->pops, unit - first, unit_samples);
        std::set<Endpoint> senders;
        for (const PackedPart& part : packed_parts_to(*in.edge, *in.source, at_source, *whole, *input.index_list)) {
            const TransferPlan plan(*in.edge, *in.source, *in.destination, part.source, part.edge, part.destination,
                                    part.allocations);
            input.expected += plan.expected_bytes(in.rank);
            ports_.stats().samples_received += plan.samples_received(in.rank);
            for (const std::uint16_t rank : plan.senders(in.rank)) senders.insert(in.source->tiles[rank]);
        }
        check_slot(ports_, in, unit);
        input.senders.assign(senders.begin(), senders.end());
    }
    for (unsigned unit = first; unit < first + units; ++unit) {
        if (!rules::needs_input_slot(in.units[unit].expected)) {
            in.units[unit].sent_at = sc_core::sc_time_stamp();
            announce_ready(in, unit);
        } else {
            grant(in, unit);
        }
    }
}

std::shared_ptr<const InboundSlots::Share> InboundSlots::share_of(const InEdge& in, const SampleIndexList& index_list) {
    const EdgeSets sets = sets_of(*in.edge, index_list);
    const EdgeAllocations allocations = allocations_of(*in.edge, index_list, *in.source, *in.destination);
    const auto size = static_cast<std::uint32_t>(sets.edge->size());
    const bool cached = sets.source->size() == size && sets.destination->size() == size;
    const ShareKey key{in.edge->id,
                       size,
                       allocations.source,
                       allocations.destination,
                       allocations.source_batch,
                       allocations.destination_batch};
    if (cached) {
        const auto found = shares_.find(key);
        if (found != shares_.end()) return found->second;
    }
    const TransferPlan plan(*in.edge, *in.source, *in.destination, *sets.source, *sets.edge, *sets.destination,
                            allocations);
    auto share = std::make_shared<Share>();
    share->expected = plan.expected_bytes(in.rank);
    share->samples = plan.samples_received(in.rank);
    if (in.edge->path == EdgePath::on_chip) {
        for (const std::uint16_t rank : plan.senders(in.rank)) share->senders.push_back(in.source->tiles[rank]);
    }
    if (cached) shares_[key] = share;
    return share;
}

void InboundSlots::announce_ready(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    input.ready = true;
    InterfaceEvent event;
    event.kind = InterfaceEvent::Kind::unit_ready;
    event.edge = in.edge->id;
    event.unit = static_cast<std::uint16_t>(unit);
    event.operator_index = in.operator_index;
    event.batch = in.batch;
    event.index_list = input.index_list;
    event.sent_at = input.sent_at;
    event.merged = merged_inputs(in, unit);
    ports_.tell_controller(event);
}

void InboundSlots::expect_tensor(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    const auto& packet = *payload.get_extension<PacketExtension>();
    const auto& message = *payload.get_extension<AdynaMessage>();
    InEdge& in = in_edge(message.edge);
    InputUnit& input = in.units.at(message.unit);
    if (packet.has_values) values_.place(in, payload);  // nobody looks into the slot before the unit is complete
    input.received += packet.payload_bytes;
    ports_.stats().received_bytes += packet.payload_bytes;
    if (input.received > input.expected) {
        ports_.fail(fmt::format("edge {} unit {}: expected {} bytes, found {}", message.edge, message.unit,
                                input.expected, input.received));
    }
    input.complete_at = std::max(input.complete_at, sc_core::sc_time_stamp() + delay);
    input.sent_at = std::max(input.sent_at, packet.sent_at);
    if (input.received < input.expected) return;
    InterfaceTask task;
    task.kind = InterfaceTask::Kind::unit_complete;
    task.edge = message.edge;
    task.unit = message.unit;
    ports_.schedule(std::move(task), input.complete_at - sc_core::sc_time_stamp());
}

void InboundSlots::complete_unit(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    const bool weights = in.edge->path == EdgePath::weights;
    const std::uint64_t slot = weights ? rules::weights_region(*in.edge).first : rules::input_slot(*in.edge, unit);
    ports_.touch_scratchpad(true, slot, input.received);
    if (!weights) {
        if (ports_.config().values && in.edge->reduce == EdgeReduce::global_pool) values_.add_partial_sums(in, unit);
        announce_ready(in, unit);
        return;
    }
    in.open = false;
    InterfaceEvent event;
    event.kind = InterfaceEvent::Kind::weights_ready;
    event.edge = in.edge->id;
    event.sent_at = input.sent_at;
    event.operator_index = in.operator_index;
    ports_.tell_controller(event);
}

std::shared_ptr<const MergedSamples> InboundSlots::merged_inputs(const InEdge& in, unsigned unit) {
    if (in.destination->shape.kind != OpKind::merge) return nullptr;
    RoutingBlocks::Lists sources;
    for (const InEdge& other : in_edges_) {
        if (other.operator_index != in.operator_index || !is_merged(*other.edge)) continue;
        if (!other.units[unit].ready) return nullptr;
        sources.push_back(other.units[unit].index_list->samples.ids());
    }
    return routing_.merge(sources);
}

std::vector<std::string> InboundSlots::waits() const {
    std::vector<std::string> lines;
    for (const InEdge& in : in_edges_) {
        if (!in.open) continue;
        for (std::size_t unit = 0; unit < in.units.size(); ++unit) {
            const InputUnit& input = in.units[unit];
            if (input.ready || !input.announced) continue;
            lines.push_back("edge " + std::to_string(in.edge->id) + " unit " + std::to_string(unit) + ": " +
                            std::to_string(input.expected - input.received) + " of " + std::to_string(input.expected) +
                            " bytes");
        }
    }
    return lines;
}

}  // namespace switchyard::hw
