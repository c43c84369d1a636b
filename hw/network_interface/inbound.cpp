// SPDX-License-Identifier: Apache-2.0
// What arrives at a network interface: probes, tensor data, slots that become free.

#include <algorithm>

#include "switchyard/hw/network_interface/network_interface.h"

namespace switchyard::hw {

NetworkInterface::InEdge& NetworkInterface::in_edge(std::uint16_t edge_id) {
    if (edge_id >= in_edge_index_.size() || in_edge_index_[edge_id] < 0) {
        fail("edge " + std::to_string(edge_id) + " does not end at this tile");
    }
    return in_edges_[static_cast<std::size_t>(in_edge_index_[edge_id])];
}

void NetworkInterface::open_segment(std::uint16_t segment, std::uint32_t batch) {
    for (InEdge& in : in_edges_) {
        if (in.segment != segment || in.edge->path == EdgePath::weights) continue;
        in.open = true;
        in.batch = batch;
        in.released = 0;
        std::fill(in.units.begin(), in.units.end(), InputUnit{});
        std::vector<Payload*> early;
        early.swap(in.early);
        for (Payload* payload : early) {
            on_probe(*payload, *payload->get_extension<AdynaMessage>());
            payload->release();
        }
        std::vector<EarlyGrant> grants;
        grants.swap(in.early_grants);
        for (const EarlyGrant& grant : grants) take_grant(in, grant);
    }
    for (InEdge& in : in_edges_) {
        if (in.segment != segment || in.edge->path != EdgePath::memory) continue;
        request_samples(in);
        start_loads(in);
    }
}

void NetworkInterface::close_segment(std::uint16_t segment) {
    for (InEdge& in : in_edges_) {
        if (in.segment == segment && in.edge->path != EdgePath::weights) in.open = false;
    }
    switches_.clear();
    recorded_masks_.clear();
}

void NetworkInterface::release_unit(std::uint16_t edge_id, std::uint16_t unit) {
    InEdge& in = in_edge(edge_id);
    in.units[unit].index_list.reset();
    in.released = std::max(in.released, unit + 1U);
    const unsigned newest = in.released + in.edge->slots;
    for (unsigned u = unit; u < std::min<std::size_t>(newest, in.units.size()); ++u) {
        if (in.units[u].announced) grant(in, u);
    }
    if (in.edge->path == EdgePath::memory) start_loads(in);
}

void NetworkInterface::on_probe(Payload& payload, const AdynaMessage& message) {
    InEdge& in = in_edge(message.edge);
    if (!in.open || in.batch != message.batch) {
        payload.acquire();
        in.early.push_back(&payload);
        return;
    }
    if (!in.units.at(message.unit).announced) announce(in, message.unit, message.index_list);
}

void NetworkInterface::grant(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    if (input.granted || !has_slot(in, unit)) return;
    input.granted = true;
    if (!input.senders.empty()) acknowledge(in, unit, std::move(input.senders));
}

void NetworkInterface::acknowledge(const InEdge& in, unsigned unit, std::vector<Endpoint> senders) {
    const Packet packet = make_packet(MessageKind::acknowledge, std::move(senders), 0);
    packet.packet.traffic = TrafficClass::control;
    packet.message.edge = in.edge->id;
    packet.message.unit = static_cast<std::uint16_t>(unit);
    packet.message.batch = in.batch;
    ++stats_.acknowledges;
    inject(packet);
}

void NetworkInterface::announce(InEdge& in, unsigned unit, const SampleIndexListPtr& index_list) {
    InputUnit& input = in.units[unit];
    input.announced = true;
    input.index_list = index_list;
    const std::shared_ptr<const Share> share = receiving_share(in, *index_list);
    input.expected = share->expected;
    if (in.edge->path == EdgePath::on_chip) stats_.samples_received += share->samples;
    if (input.expected > in.edge->slot_bytes) {
        fail("edge " + std::to_string(in.edge->id) + " unit " + std::to_string(unit) + " needs " +
             std::to_string(input.expected) + " bytes, its slot has " + std::to_string(in.edge->slot_bytes));
    }
    if (input.expected == 0) {
        announce_ready(in, unit);
        return;
    }
    input.senders = in.edge->path == EdgePath::memory ? load_leader(in, unit) : share->senders;
    grant(in, unit);
    if (in.edge->path == EdgePath::memory) start_load(in, unit);
}

std::shared_ptr<const NetworkInterface::Share> NetworkInterface::receiving_share(const InEdge& in,
                                                                                 const SampleIndexList& index_list) {
    const EdgeSets sets = sets_of(*in.edge, index_list);
    const EdgeAllocations allocations = allocations_of(*in.edge, index_list, *in.source, *in.destination);
    const auto size = static_cast<std::uint32_t>(sets.edge->size());
    const bool cached = sets.source->size() == size && sets.destination->size() == size;
    const ShareKey key{in.edge->id, size, allocations.source, allocations.destination};
    if (cached) {
        const auto found = receiving_.find(key);
        if (found != receiving_.end()) return found->second;
    }
    const TransferPlan plan(*in.edge, *in.source, *in.destination, *sets.source, *sets.edge, *sets.destination,
                            allocations);
    auto share = std::make_shared<Share>();
    share->expected = plan.expected_bytes(in.rank);
    share->samples = plan.samples_received(in.rank);
    if (in.edge->path == EdgePath::on_chip) {
        for (const std::uint16_t rank : plan.senders(in.rank)) share->senders.push_back(in.source->tiles[rank]);
    }
    if (cached) receiving_[key] = share;
    return share;
}

void NetworkInterface::announce_ready(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    input.ready = true;
    InterfaceEvent event;
    event.kind = InterfaceEvent::Kind::unit_ready;
    event.edge = in.edge->id;
    event.unit = static_cast<std::uint16_t>(unit);
    event.operator_index = in.operator_index;
    event.batch = in.batch;
    event.index_list = input.index_list;
    event.merged = merged_inputs(in, unit);
    tell_controller(event);
}

void NetworkInterface::expect_tensor(const Payload& payload, const sc_core::sc_time& delay) {
    const auto& packet = *payload.get_extension<PacketExtension>();
    const auto& message = *payload.get_extension<AdynaMessage>();
    InputUnit& input = in_edge(message.edge).units.at(message.unit);
    if (packet.has_values) place_values(payload);  // nobody looks into the slot before the unit is complete
    input.received += packet.payload_bytes;
    stats_.received_bytes += packet.payload_bytes;
    if (input.received > input.expected) {
        fail("edge " + std::to_string(message.edge) + " unit " + std::to_string(message.unit) + ": " +
             std::to_string(input.received) + " bytes arrived, " + std::to_string(input.expected) + " were expected");
    }
    input.complete_at = std::max(input.complete_at, sc_core::sc_time_stamp() + delay);
    if (input.received < input.expected) return;
    Item item;
    item.kind = Item::Kind::unit_complete;
    item.edge = message.edge;
    item.unit = message.unit;
    queue_.push(std::move(item), input.complete_at - sc_core::sc_time_stamp());
}

void NetworkInterface::complete_unit(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    const bool weights = in.edge->path == EdgePath::weights;
    const std::uint64_t slot = weights ? 0 : std::uint64_t{unit} % in.edge->slots * in.edge->slot_bytes;
    touch_scratchpad(true, in.edge->slot_offset + slot, input.received);
    if (!weights) {
        if (config_.values && in.edge->reduce == EdgeReduce::global_pool) add_partial_sums(in, unit);
        announce_ready(in, unit);
        return;
    }
    in.open = false;
    InterfaceEvent event;
    event.kind = InterfaceEvent::Kind::weights_ready;
    event.edge = in.edge->id;
    event.operator_index = in.operator_index;
    tell_controller(event);
}

void NetworkInterface::on_values(const Payload& payload, const AdynaMessage& message) {
    std::vector<std::uint8_t>& bytes = partial_values_[{message.content, message.edge, message.unit}];
    bytes.insert(bytes.end(), payload.get_data_ptr(), payload.get_data_ptr() + payload.get_data_length());
    stats_.received_bytes += payload.get_extension<PacketExtension>()->payload_bytes;
    if (message.content == MessageContent::masks) {
        if (bytes.size() < mask_record_bytes(message.edge)) return;
        on_recorded_masks(message, bytes);
    } else {
        InEdge& in = in_edge(message.edge);
        if (bytes.size() < samples_record_bytes(in, message.content)) return;
        on_samples(in, message.content, message.unit, bytes);
    }
    partial_values_.erase({message.content, message.edge, message.unit});
}

}  // namespace switchyard::hw
