// SPDX-License-Identifier: Apache-2.0
// What leaves a network interface: the switch, probes and sends to other tiles, pieces to memory.

#include <algorithm>
#include <utility>

#include "switchyard/hw/network_interface/network_interface.h"

namespace switchyard::hw {

void NetworkInterface::probe(const Edge& edge, std::uint16_t unit, std::uint32_t batch,
                             const SampleIndexListPtr& index_list, std::vector<Endpoint> destinations) {
    if (destinations.empty()) return;
    const std::uint64_t bytes = 8 + (program_->placement(edge.dst_op).unit_samples + 7) / 8;  // a bitmap of the samples
    const Packet packet = make_packet(MessageKind::probe, std::move(destinations), bytes);
    packet.packet.traffic = TrafficClass::control;
    packet.message.edge = edge.id;
    packet.message.unit = unit;
    packet.message.batch = batch;
    packet.message.operator_id = edge.src_op;
    packet.message.dyn_dim = static_cast<std::uint32_t>(index_list->samples.size());
    packet.message.index_list = index_list;
    ++stats_.probes;
    inject(packet, clock_.cycles(config_.setup_cycles));
}

void NetworkInterface::begin_send(const SendExtension& send) {
    const TileOperator& op = program_->operators.at(send.operator_index);
    outputs_.push_back(Output{send.operator_index,
                              send.unit,
                              send.batch,
                              send.index_list,
                              static_cast<unsigned>(op.out_edges.size()) + 1,
                              {},
                              false,
                              {}});
    Output& output = outputs_.back();
    for (const std::uint16_t id : op.out_edges) {
        if (!start_edge(output, program_->edge(id))) output.parked.push_back(id);
    }
    finish_step(send.operator_index, send.unit);  // the step that kept the output alive meanwhile
}

bool NetworkInterface::start_edge(Output& output, const Edge& edge) {
    if (carries_decisions(edge.path)) {
        if (!labels_known(output)) return false;
        send_decisions(output, edge);
        return true;
    }
    const SampleIndexListPtr index_list = edge.switch_id == kNone ? output.index_list : switched_list(output, edge);
    if (!index_list) return false;
    if (edge.path == EdgePath::on_chip) {
        send_on_chip(output, edge, index_list);
    } else {
        send_to_memory(output, edge, index_list);
    }
    return true;
}

SampleIndexListPtr NetworkInterface::switched_list(Output& output, const Edge& edge) {
    const SampleSet& samples = output.index_list->samples;
    const BranchLists* const lists = branch_lists(output, edge.switch_id);
    if (!lists) return nullptr;
    const OperatorPlacement& placement = program_->placement(edge.src_op);
    SampleSet taken = lists->at(edge.branch), partner;
    if (edge.partner != kNone) partner = lists->at(edge.partner);
    if (!output.counted) {
        output.counted = true;
        const TileOperator& op = program_->operators[output.operator_index];
        const int index = placement.best_fit(placement.allocation_for(*output.index_list),
                                             static_cast<std::uint32_t>(samples.size()));
        const Box box = output_box(placement.shape, placement.partitions.at(static_cast<std::size_t>(index)),
                                   placement.k_factor, op.rank, static_cast<std::uint32_t>(samples.size()));
        for (std::uint32_t n = box.n0; n < box.n1 && box.k0 == 0 && box.p0 == 0; ++n) {
            const std::uint64_t mask = switches_.at({edge.switch_id, output.unit}).at(samples[n]);
            for (unsigned branch = 0; branch < 64; ++branch) {
                if (!(mask >> branch & 1U)) continue;
                const auto [entry, added] = branch_samples_.try_emplace({edge.switch_id, branch}, 0);
                ++entry->second;
                if (added) registry_.add(*this, branch_samples(edge.switch_id, branch), "1", entry->second);
            }
        }
    }
    return std::make_shared<const SampleIndexList>(
        SampleIndexList{std::move(taken), output.index_list, std::move(partner)});
}

std::shared_ptr<const NetworkInterface::Share> NetworkInterface::sending_share(const Edge& edge,
                                                                               const SampleIndexList& index_list,
                                                                               unsigned rank) {
    const OperatorPlacement &source = program_->placement(edge.src_op), &destination = program_->placement(edge.dst_op);
    const EdgeSets sets = sets_of(edge, index_list);
    const EdgeAllocations allocations = allocations_of(edge, index_list, source, destination);
    const auto size = static_cast<std::uint32_t>(sets.edge->size());
    const bool cached = sets.source->size() == size && sets.destination->size() == size;
    const ShareKey key{edge.id, size, allocations.source, allocations.destination};
    if (cached) {
        const auto found = sending_.find(key);
        if (found != sending_.end()) return found->second;
    }
    const TransferPlan plan(edge, source, destination, *sets.source, *sets.edge, *sets.destination, allocations);
    auto share = std::make_shared<Share>();
    for (const TransferPlan::Group& planned : plan.groups_from(rank)) {
        Outbound::Group group;
        group.bytes = planned.bytes;
        group.samples = planned.samples;
        for (const std::uint16_t receiver : planned.ranks) group.destinations.push_back(destination.tiles[receiver]);
        group.acks_missing = static_cast<unsigned>(group.destinations.size());
        share->groups.push_back(std::move(group));
    }
    share->samples = plan.samples_sent(rank);
    if (cached) sending_[key] = share;
    return share;
}

void NetworkInterface::send_on_chip(const Output& output, const Edge& edge, const SampleIndexListPtr& index_list) {
    const TileOperator& op = program_->operators[output.operator_index];
    const OperatorPlacement& destination = program_->placement(edge.dst_op);
    const std::shared_ptr<const Share> share = sending_share(edge, *index_list, op.rank);

    Outbound outbound;
    outbound.edge = edge.id;
    outbound.unit = output.unit;
    outbound.operator_index = output.operator_index;
    outbound.batch = output.batch;
    outbound.index_list = index_list;
    outbound.groups = share->groups;
    outbound.groups_missing = static_cast<unsigned>(outbound.groups.size());
    stats_.samples_sent += share->samples;

    if (op.rank == 0) probe(edge, output.unit, output.batch, index_list, destination.tiles);
    if (outbound.groups.empty()) {
        finish_step(output.operator_index, output.unit);
        return;
    }
    outbounds_.push_back(std::move(outbound));
    const auto early = early_grants_.find({edge.id, output.unit});
    if (early == early_grants_.end()) return;
    const std::vector<EarlyGrant> grants = std::move(early->second);
    early_grants_.erase(early);
    for (const EarlyGrant& grant : grants) take_grant(outbounds_.back(), grant);
}

void NetworkInterface::expect_acknowledge(const Payload& payload, const sc_core::sc_time& delay) {
    const auto& message = *payload.get_extension<AdynaMessage>();
    const EarlyGrant grant{message.batch, message.unit, payload.get_extension<PacketExtension>()->source,
                           sc_core::sc_time_stamp() + delay};
    // Of an edge that ends here only those acknowledge who read along, of others the consumers.
    if (message.edge < in_edge_index_.size() && in_edge_index_[message.edge] >= 0) {
        take_grant(in_edge(message.edge), grant);
        return;
    }
    for (Outbound& outbound : outbounds_) {
        if (outbound.edge == message.edge && outbound.unit == message.unit && outbound.batch == message.batch) {
            take_grant(outbound, grant);
            return;
        }
    }
    early_grants_[{message.edge, message.unit}].push_back(grant);
}

void NetworkInterface::take_grant(Outbound& outbound, const EarlyGrant& grant) {
    for (std::size_t i = 0; i < outbound.groups.size(); ++i) {
        Outbound::Group& group = outbound.groups[i];
        if (std::find(group.destinations.begin(), group.destinations.end(), grant.source) == group.destinations.end()) {
            continue;
        }
        group.acknowledged_at = std::max(group.acknowledged_at, grant.arrival);
        if (--group.acks_missing > 0) return;
        Item item;
        item.kind = Item::Kind::group_acknowledged;
        item.edge = outbound.edge;
        item.unit = outbound.unit;
        item.group = static_cast<std::uint16_t>(i);
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        queue_.push(std::move(item), std::max(group.acknowledged_at, now) - now);
        return;
    }
    fail("edge " + std::to_string(outbound.edge) + ": tile " + std::to_string(grant.source) +
         " acknowledges what it will not get");
}

void NetworkInterface::release_group(std::uint16_t edge, std::uint16_t unit, std::uint16_t group) {
    const auto outbound = std::find_if(outbounds_.begin(), outbounds_.end(), [edge, unit](const Outbound& candidate) {
        return candidate.edge == edge && candidate.unit == unit;
    });
    outbound->groups[group].sent = true;
    send_group(*outbound, outbound->groups[group]);
    if (--outbound->groups_missing == 0) outbounds_.erase(outbound);
}

void NetworkInterface::send_group(const Outbound& outbound, const Outbound::Group& group) {
    const Edge& edge = program_->edge(outbound.edge);
    const TileOperator& op = program_->operators[outbound.operator_index];
    sc_core::sc_time done;
    bool receipt_due = false;
    std::shared_ptr<const TensorPart> part;
    std::vector<std::uint8_t> values;
    if (config_.values) values = group_values(outbound, group, part);
    for (std::uint64_t sent = 0; sent < group.bytes;) {
        const std::uint64_t bytes = std::min<std::uint64_t>(group.bytes - sent, config_.max_packet_bytes);
        touch_scratchpad(false, op.out_offset + std::uint64_t{outbound.unit} % op.out_slots * op.out_slot_bytes, bytes);
        Packet packet = make_packet(MessageKind::data, group.destinations, bytes);
        packet.message.edge = edge.id;
        packet.message.unit = outbound.unit;
        packet.message.batch = outbound.batch;
        packet.message.segment = op.segment;
        packet.message.operator_id = edge.src_op;
        packet.message.dyn_dim = static_cast<std::uint32_t>(outbound.index_list->samples.size());
        packet.message.last_sample = group.samples;
        if (config_.values) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(sent);
            carry_values(packet, {first, first + static_cast<std::ptrdiff_t>(bytes)});
            packet.message.part = part;
            packet.message.first_byte = sent;
        }
        stats_.sent_bytes += bytes;
        stats_.delivered_copy_bytes += bytes * group.destinations.size();
        sent += bytes;
        // The last group's end is the edge's end; earlier ones need not be told apart.
        packet.packet.wants_receipt = outbound.groups_missing == 1 && sent == group.bytes;
        packet.packet.receipt_tag = std::uint32_t{outbound.operator_index} << 16 | outbound.unit;
        const auto [arrival, receipt_follows] = inject(packet);
        done = std::max(done, arrival);
        receipt_due = receipt_follows;
    }
    if (outbound.groups_missing == 1 && !receipt_due) {
        Item item;
        item.kind = Item::Kind::group_sent;
        item.operator_index = outbound.operator_index;
        item.unit = outbound.unit;
        queue_.push(std::move(item), done);
    }
}

std::vector<std::uint8_t> NetworkInterface::group_values(const Outbound& outbound, const Outbound::Group& group,
                                                         std::shared_ptr<const TensorPart>& part) {
    const Edge& edge = program_->edge(outbound.edge);
    const OperatorPlacement& destination = program_->placement(edge.dst_op);
    const TransferPlan plan(edge, program_->placement(edge.src_op), destination, *outbound.index_list);
    const auto receiver = std::find(destination.tiles.begin(), destination.tiles.end(), group.destinations.front());
    part = std::make_shared<const TensorPart>(plan.part(program_->operators[outbound.operator_index].rank,
                                                        static_cast<unsigned>(receiver - destination.tiles.begin())));
    const auto output = std::find_if(outputs_.begin(), outputs_.end(), [&outbound](const Output& candidate) {
        return candidate.operator_index == outbound.operator_index && candidate.unit == outbound.unit;
    });
    return output_values(*output, edge, plan, *part);
}

void NetworkInterface::send_to_memory(Output& output, const Edge& edge, const SampleIndexListPtr& index_list) {
    const TileOperator& op = program_->operators[output.operator_index];
    const OperatorPlacement& tensor = program_->placement(edge.dst_op);
    const TensorStore& store = tensor.store;
    if (op.rank == 0 && store.index_list_bytes > 0) {
        std::vector<std::uint8_t> record = serialise(*index_list);
        if (record.size() > store.index_list_bytes) fail("sample-index list does not fit its place in memory");
        record.resize(store.index_list_bytes);
        write_memory(output, {edge.id, store.index_list_address + std::uint64_t{output.unit} * store.index_list_bytes,
                              record.size(), &record, nullptr});
    }
    const TransferPlan plan(edge, program_->placement(edge.src_op), tensor, *index_list);
    for (const TransferPlan::Access& access : plan.writes(op.rank)) {
        const std::uint64_t piece = store.address(access.piece, output.batch, address_.region_bytes);
        const std::uint64_t slot = op.out_offset + std::uint64_t{output.unit} % op.out_slots * op.out_slot_bytes;
        if (config_.values) {
            const TensorPart part = plan.part(op.rank, access.piece);
            std::vector<std::uint8_t> values = output_values(output, edge, plan, part);
            touch_scratchpad(false, slot, access.bytes);
            write_memory(output, {edge.id, piece + access.offset, access.bytes, &values,
                                  runs_of(part, tensor, plan.needed(access.piece), piece)});
            continue;
        }
        for (std::uint64_t done = 0; done < access.bytes;) {
            const std::uint64_t bytes = std::min<std::uint64_t>(access.bytes - done, config_.max_packet_bytes);
            touch_scratchpad(false, slot, bytes);
            write_memory(output, {edge.id, piece + access.offset + done, bytes, nullptr, nullptr});
            done += bytes;
        }
    }
    finish_step(output.operator_index, output.unit);
}

void NetworkInterface::write_memory(Output& output, Store store) {
    Packet packet = make_packet(MessageKind::data, {memory_of(store.address)}, store.bytes);
    packet.memory.operation = MemoryOperation::write;
    packet.memory.runs = std::move(store.runs);
    packet.message.edge = store.edge;
    packet.message.unit = output.unit;
    packet.message.batch = output.batch;
    packet.message.operator_id = output.operator_index;
    packet.payload->set_address(store.address);
    if (store.values) carry_values(packet, std::move(*store.values));
    ++output.steps_missing;
    stats_.memory_written_bytes += store.bytes;
    inject(packet, clock_.cycles(config_.setup_cycles));
}

void NetworkInterface::finish_step(std::uint16_t operator_index, std::uint16_t unit) {
    for (auto it = outputs_.begin(); it != outputs_.end(); ++it) {
        if (it->operator_index != operator_index || it->unit != unit) continue;
        if (--it->steps_missing > 0) return;
        InterfaceEvent event;
        event.kind = InterfaceEvent::Kind::output_sent;
        event.operator_index = operator_index;
        event.unit = unit;
        event.batch = it->batch;
        outputs_.erase(it);
        tell_controller(event);
        return;
    }
    fail("nothing left to finish for operator index " + std::to_string(operator_index));
}

}  // namespace switchyard::hw
