// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/outbound_sender.h"
#include "switchyard/sw_scheduler/adyna/rules/segments.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace switchyard::hw {

void OutboundSender::clear() {
    shares_.clear();
    outbounds_.clear();
    outputs_.clear();
}

void OutboundSender::begin(const SendExtension& send) {
    const TileOperator& op = ports_.program().operators.at(send.operator_index);
    outputs_.push_back(Output{send.operator_index,
                              send.unit,
                              send.batch,
                              send.index_list,
                              static_cast<unsigned>(op.out_edges.size()) + 1,
                              {},
                              false,
                              sc_core::sc_time_stamp(),
                              kNone,
                              {}});
    Output& output = outputs_.back();
    for (const std::uint16_t id : op.out_edges) {
        if (!start_edge(output, ports_.program().edge(id))) output.parked.push_back(id);
    }
    finish_step(send.operator_index, send.unit);  // the step that kept the output alive meanwhile
}

bool OutboundSender::start_edge(Output& output, const Edge& edge) {
    if (carries_decisions(edge.path)) {
        if (!decisions_.labels_known(output)) return false;
        send_decisions(output, edge);
        return true;
    }
    if (edge.path == EdgePath::on_chip && output.index_list->whole) {
        const SampleIndexListPtr whole = packed_list(output, edge);
        if (!whole) return false;
        send_packed(output, edge, whole);
        return true;
    }
    const SampleIndexListPtr index_list =
        rules::waits_for_masks(edge) ? switched_list(output, edge) : output.index_list;
    if (!index_list) return false;
    if (edge.path == EdgePath::on_chip) {
        send_on_chip(output, edge, index_list);
    } else {
        send_to_memory(output, edge, index_list);
    }
    return true;
}

void OutboundSender::start_parked(Output& output) {
    ++output.steps_missing;  // keeps the output alive while its edges start
    output.sent_at = sc_core::sc_time_stamp();
    std::vector<std::uint16_t> parked;
    parked.swap(output.parked);
    const std::uint16_t op = output.operator_index, unit = output.unit;
    for (const std::uint16_t id : parked) {
        if (!start_edge(output, ports_.program().edge(id))) output.parked.push_back(id);
    }
    finish_step(op, unit);
}

SampleIndexListPtr OutboundSender::switched_list(Output& output, const Edge& edge) {
    const BranchLists* const lists = decisions_.branch_lists(output, edge.switch_id);
    if (!lists) return nullptr;
    SampleSet taken = lists->at(edge.branch), partner;
    if (edge.partner != kNone) partner = lists->at(edge.partner);
    decisions_.count_branches(output, edge);
    return std::make_shared<const SampleIndexList>(
        SampleIndexList{std::move(taken), output.index_list, std::move(partner)});
}

unsigned OutboundSender::first_unit(const Output& output) const {
    const std::uint16_t op = ports_.program().operators[output.operator_index].op_id;
    const unsigned units = ports_.program().placement(op).units_of_invocation();
    return output.unit / units * units;
}

SampleIndexListPtr OutboundSender::packed_list(const Output& output, const Edge& edge) {
    const SampleIndexListPtr& whole = output.index_list->whole;
    if (edge.switch_id == kNone) return whole;
    const BranchLists* const lists = decisions_.batch_lists(edge.switch_id, first_unit(output), whole->samples);
    if (!lists) return nullptr;
    return std::make_shared<const SampleIndexList>(SampleIndexList{lists->at(edge.branch), whole});
}

std::shared_ptr<const OutboundSender::Share> OutboundSender::share_of(const Edge& edge,
                                                                      const SampleIndexList& index_list,
                                                                      unsigned rank) {
    const OperatorPlacement &source = ports_.program().placement(edge.src_op),
                            &destination = ports_.program().placement(edge.dst_op);
    const EdgeSets sets = sets_of(edge, index_list);
    const EdgeAllocations allocations = allocations_of(edge, index_list, source, destination);
    const auto size = static_cast<std::uint32_t>(sets.edge->size());
    const bool cached = sets.source->size() == size && sets.destination->size() == size;
    const ShareKey key{edge.id,
                       size,
                       allocations.source,
                       allocations.destination,
                       allocations.source_batch,
                       allocations.destination_batch};
    if (cached) {
        const auto found = shares_.find(key);
        if (found != shares_.end()) return found->second;
    }
    const TransferPlan plan(edge, source, destination, *sets.source, *sets.edge, *sets.destination, allocations);
    auto share = std::make_shared<Share>();
    for (const TransferPlan::Group& planned : plan.groups_from(rank)) {
        Group group;
        group.bytes = planned.bytes;
        group.samples = planned.samples;
        for (const std::uint16_t receiver : planned.ranks) group.destinations.push_back(destination.tiles[receiver]);
        group.acks_missing = static_cast<unsigned>(group.destinations.size());
        share->groups.push_back(std::move(group));
    }
    share->samples = plan.samples_sent(rank);
    if (cached) shares_[key] = share;
    return share;
}

void OutboundSender::send_on_chip(const Output& output, const Edge& edge, const SampleIndexListPtr& index_list) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const OperatorPlacement& destination = ports_.program().placement(edge.dst_op);
    const std::shared_ptr<const Share> share = share_of(edge, *index_list, op.rank);

    Outbound outbound;
    outbound.edge = edge.id;
    outbound.unit = outbound.source_unit = output.unit;
    outbound.operator_index = output.operator_index;
    outbound.batch = output.batch;
    outbound.index_list = index_list;
    outbound.groups = share->groups;
    outbound.groups_missing = static_cast<unsigned>(outbound.groups.size());
    ports_.stats().samples_sent += share->samples;

    if (op.rank == 0) ports_.probe(edge, output.unit, output.batch, index_list, destination.tiles);
    if (outbound.groups.empty()) {
        finish_step(output.operator_index, output.unit);
        return;
    }
    outbounds_.push_back(std::move(outbound));
    const auto early = early_grants_.find({edge.id, output.unit});
    if (early == early_grants_.end()) return;
    const std::vector<Grant> grants = std::move(early->second);
    early_grants_.erase(early);
    for (const Grant& grant : grants) take_grant(outbounds_.back(), grant);
}

void OutboundSender::send_packed(Output& output, const Edge& edge, const SampleIndexListPtr& whole) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const OperatorPlacement &source = ports_.program().placement(edge.src_op),
                            &destination = ports_.program().placement(edge.dst_op);
    if (edge.switch_id != kNone) {
        decisions_.branch_lists(output, edge.switch_id);
        decisions_.count_branches(output, edge);
    }
    // The first one says everything of the batch.
    const unsigned first = first_unit(output),
                   first_there = first / source.units_of_invocation() * destination.units_of_invocation();
    if (op.rank == 0 && output.unit == first) ports_.probe(edge, output.unit, output.batch, whole, destination.tiles);
    for (PackedPart& one : packed_parts_from(edge, destination, output.index_list->samples, output.unit, *whole)) {
        one.unit = static_cast<std::uint16_t>(first_there + one.unit);
        const auto part = std::make_shared<const PackedPart>(std::move(one));
        const TransferPlan plan(edge, source, destination, part->source, part->edge, part->destination,
                                part->allocations);
        Outbound outbound;
        outbound.edge = edge.id;
        outbound.unit = part->unit;
        outbound.source_unit = output.unit;
        outbound.operator_index = output.operator_index;
        outbound.batch = output.batch;
        outbound.index_list = whole;
        outbound.part = part;
        for (const TransferPlan::Group& planned : plan.groups_from(op.rank)) {
            Group group;
            group.bytes = planned.bytes;
            group.samples = planned.samples;
            for (const std::uint16_t receiver : planned.ranks)
                group.destinations.push_back(destination.tiles[receiver]);
            group.acks_missing = static_cast<unsigned>(group.destinations.size());
            outbound.groups.push_back(std::move(group));
        }
        ports_.stats().samples_sent += plan.samples_sent(op.rank);
        outbound.groups_missing = static_cast<unsigned>(outbound.groups.size());
        if (outbound.groups.empty()) continue;
        ++output.steps_missing;
        outbounds_.push_back(std::move(outbound));
        const auto known = early_grants_.find({edge.id, part->unit});
        if (known == early_grants_.end()) continue;
        for (const Grant& grant : known->second)
            if (grant.batch == output.batch) take_grant(outbounds_.back(), grant);
    }
    finish_step(output.operator_index, output.unit);
}

void OutboundSender::take_grant(std::uint16_t edge, const Grant& grant) {
    if (ports_.packs(ports_.program().placement(ports_.program().edge(edge).src_op).segment)) {
        // For all that this tile has, and will have, for the unit.
        std::vector<Grant>& grants = early_grants_[{edge, grant.unit}];
        if (!grants.empty() && grants.front().batch != grant.batch) grants.clear();
        grants.push_back(grant);
        for (Outbound& outbound : outbounds_)
            if (outbound.edge == edge && outbound.unit == grant.unit && outbound.batch == grant.batch)
                take_grant(outbound, grant);
        return;
    }
    for (Outbound& outbound : outbounds_) {
        if (outbound.edge == edge && outbound.unit == grant.unit && outbound.batch == grant.batch) {
            take_grant(outbound, grant);
            return;
        }
    }
    early_grants_[{edge, grant.unit}].push_back(grant);
}

void OutboundSender::take_grant(Outbound& outbound, const Grant& grant) {
    for (std::size_t i = 0; i < outbound.groups.size(); ++i) {
        Group& group = outbound.groups[i];
        if (std::find(group.destinations.begin(), group.destinations.end(), grant.source) == group.destinations.end()) {
            continue;
        }
        group.acknowledged_at = std::max(group.acknowledged_at, grant.arrival);
        if (--group.acks_missing > 0) return;
        InterfaceTask task;
        task.kind = InterfaceTask::Kind::group_acknowledged;
        task.edge = outbound.edge;
        task.unit = outbound.unit;
        task.source_unit = outbound.source_unit;
        task.group = static_cast<std::uint16_t>(i);
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        ports_.schedule(std::move(task), std::max(group.acknowledged_at, now) - now);
        return;
    }
    if (outbound.part) return;  // of another unit of this tile's
    ports_.fail(fmt::format("edge {}: expected acknowledgements of tiles that it sends to, found one of tile {}",
                            outbound.edge, grant.source));
}

void OutboundSender::release_group(std::uint16_t edge, std::uint16_t unit, std::uint16_t source_unit,
                                   std::uint16_t group) {
    const auto outbound = std::find_if(outbounds_.begin(), outbounds_.end(), [&](const Outbound& candidate) {
        return candidate.edge == edge && candidate.unit == unit && candidate.source_unit == source_unit;
    });
    outbound->groups[group].sent = true;
    if (outbound->groups_missing == 1) {
        const auto output = std::find_if(outputs_.begin(), outputs_.end(), [&](const Output& candidate) {
            return candidate.operator_index == outbound->operator_index && candidate.unit == source_unit;
        });
        if (output != outputs_.end()) {
            output->sent_at = sc_core::sc_time_stamp();
            output->last_edge = edge;
        }
    }
    send_group(*outbound, outbound->groups[group]);
    if (--outbound->groups_missing == 0) outbounds_.erase(outbound);
}

void OutboundSender::send_group(const Outbound& outbound, const Group& group) {
    const Edge& edge = ports_.program().edge(outbound.edge);
    const TileOperator& op = ports_.program().operators[outbound.operator_index];
    sc_core::sc_time done;
    bool receipt_due = false;
    std::shared_ptr<const TensorPart> part;
    std::vector<std::uint8_t> values;
    if (ports_.config().values) values = group_values(outbound, group, part);
    for (std::uint64_t sent = 0; sent < group.bytes;) {
        const std::uint64_t bytes = std::min<std::uint64_t>(group.bytes - sent, ports_.config().max_packet_bytes);
        ports_.touch_scratchpad(false, rules::output_slot(op, outbound.source_unit), bytes);
        InterfacePorts::Packet packet = ports_.make_packet(MessageKind::data, group.destinations, bytes);
        packet.message.edge = edge.id;
        packet.message.unit = outbound.unit;
        packet.message.batch = outbound.batch;
        packet.message.segment = op.segment;
        packet.message.operator_id = edge.src_op;
        packet.message.dyn_dim = static_cast<std::uint32_t>(outbound.index_list->samples.size());
        packet.message.last_sample = group.samples;
        if (ports_.config().values) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(sent);
            InterfacePorts::carry_values(packet, {first, first + static_cast<std::ptrdiff_t>(bytes)});
            packet.message.part = part;
            packet.message.first_byte = sent;
        }
        ports_.stats().sent_bytes += bytes;
        ports_.stats().delivered_copy_bytes += bytes * group.destinations.size();
        sent += bytes;
        // The last group's end is the edge's end; earlier ones need not be told apart.
        packet.packet.wants_receipt = outbound.groups_missing == 1 && sent == group.bytes;
        packet.packet.receipt_tag = std::uint32_t{outbound.operator_index} << 16 | outbound.source_unit;
        const auto [arrival, receipt_follows] = ports_.inject(packet);
        done = std::max(done, arrival);
        receipt_due = receipt_follows;
    }
    if (outbound.groups_missing == 1 && !receipt_due) {
        InterfaceTask task;
        task.kind = InterfaceTask::Kind::group_sent;
        task.operator_index = outbound.operator_index;
        task.unit = outbound.source_unit;
        ports_.schedule(std::move(task), done);
    }
}

std::vector<std::uint8_t> OutboundSender::group_values(const Outbound& outbound, const Group& group,
                                                       std::shared_ptr<const TensorPart>& part) {
    const Edge& edge = ports_.program().edge(outbound.edge);
    const OperatorPlacement& destination = ports_.program().placement(edge.dst_op);
    const OperatorPlacement& source = ports_.program().placement(edge.src_op);
    const PackedPart* const packed = outbound.part.get();
    const TransferPlan plan = packed != nullptr ? TransferPlan(edge, source, destination, packed->source, packed->edge,
                                                               packed->destination, packed->allocations)
                                                : TransferPlan(edge, source, destination, *outbound.index_list);
    const auto receiver = std::find(destination.tiles.begin(), destination.tiles.end(), group.destinations.front());
    part = std::make_shared<const TensorPart>(plan.part(ports_.program().operators[outbound.operator_index].rank,
                                                        static_cast<unsigned>(receiver - destination.tiles.begin())));
    const auto output = std::find_if(outputs_.begin(), outputs_.end(), [&outbound](const Output& candidate) {
        return candidate.operator_index == outbound.operator_index && candidate.unit == outbound.source_unit;
    });
    return values_.output_values(*output, edge, plan, *part);
}

void OutboundSender::send_to_memory(Output& output, const Edge& edge, const SampleIndexListPtr& index_list) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const OperatorPlacement& tensor = ports_.program().placement(edge.dst_op);
    const TensorStore& store = tensor.store;
    if (op.rank == 0 && store.index_list_bytes > 0) {
        std::vector<std::uint8_t> record = serialise(*index_list);
        if (record.size() > store.index_list_bytes)
            ports_.fail(fmt::format("edge {}: expected a sample-index list of at most the {} bytes in memory, found {}",
                                    edge.id, store.index_list_bytes, record.size()));
        record.resize(store.index_list_bytes);
        write_memory(output, {edge.id, store.index_list_address + std::uint64_t{output.unit} * store.index_list_bytes,
                              record.size(), &record, nullptr});
    }
    const TransferPlan plan(edge, ports_.program().placement(edge.src_op), tensor, *index_list);
    for (const TransferPlan::Access& access : plan.writes(op.rank)) {
        const std::uint64_t piece = store.address(access.piece, output.batch, ports_.address().region_bytes);
        const std::uint64_t slot = rules::output_slot(op, output.unit);
        if (ports_.config().values) {
            const TensorPart part = plan.part(op.rank, access.piece);
            std::vector<std::uint8_t> values = values_.output_values(output, edge, plan, part);
            ports_.touch_scratchpad(false, slot, access.bytes);
            write_memory(output, {edge.id, piece + access.offset, access.bytes, &values,
                                  runs_of(part, tensor, plan.needed(access.piece), piece)});
            continue;
        }
        for (std::uint64_t done = 0; done < access.bytes;) {
            const std::uint64_t bytes = std::min<std::uint64_t>(access.bytes - done, ports_.config().max_packet_bytes);
            ports_.touch_scratchpad(false, slot, bytes);
            write_memory(output, {edge.id, piece + access.offset + done, bytes, nullptr, nullptr});
            done += bytes;
        }
    }
    finish_step(output.operator_index, output.unit);
}

void OutboundSender::write_memory(Output& output, Store store) {
    InterfacePorts::Packet packet = ports_.make_packet(MessageKind::data, ports_.memory_of(store.address), store.bytes);
    packet.memory.operation = MemoryOperation::write;
    packet.memory.runs = std::move(store.runs);
    packet.message.edge = store.edge;
    packet.message.unit = output.unit;
    packet.message.batch = output.batch;
    packet.message.operator_id = output.operator_index;
    packet.payload->set_address(store.address);
    if (store.values) InterfacePorts::carry_values(packet, std::move(*store.values));
    ++output.steps_missing;
    ports_.stats().memory_written_bytes += store.bytes;
    ports_.inject(packet, ports_.setup());
}

void OutboundSender::send_decisions(Output& output, const Edge& edge) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    const Box box = decisions_.decided_box(output);
    if (!box.empty()) {
        const std::vector<std::uint32_t>& samples = output.index_list->samples.ids();
        std::vector<std::uint32_t> ids(samples.begin() + box.n0, samples.begin() + box.n1);
        GateDecisions::Decisions decisions = decisions_.decide(output, box, ids);
        const bool labels = edge.path == EdgePath::labels;
        if (ports_.config().values && !labels) store_masks(output, ids, decisions.masks);
        const std::uint64_t bytes = ids.size() * (labels ? kLabelBytes : (op.gate_branches + 7U) / 8U);
        const InterfacePorts::Packet packet =
            ports_.make_packet(MessageKind::mask, ports_.program().placement(edge.dst_op).tiles, bytes);
        packet.message.edge = op.gate_switch;
        packet.message.unit = output.unit;
        packet.message.batch = output.batch;
        packet.message.mask_samples = std::make_shared<const SampleSet>(SampleSet(std::move(ids)));
        if (labels)
            packet.message.labels = std::make_shared<const std::vector<SampleLabel>>(std::move(decisions.labels));
        else
            packet.message.masks = std::make_shared<const std::vector<std::uint64_t>>(std::move(decisions.masks));
        ports_.inject(packet, ports_.setup());
    }
    finish_step(output.operator_index, output.unit);
}

void OutboundSender::store_masks(Output& output, const std::vector<std::uint32_t>& ids,
                                 const std::vector<std::uint64_t>& masks) {
    const TileOperator& op = ports_.program().operators[output.operator_index];
    auto runs = std::make_shared<std::vector<MemoryRun>>();
    std::vector<std::uint8_t> bytes(masks.size() * sizeof(std::uint64_t));
    std::memcpy(bytes.data(), masks.data(), bytes.size());
    const std::uint64_t base = op.mask_address + output.batch % 2 * op.mask_bank_stride;
    for (const std::uint32_t id : ids) {
        const std::uint64_t address = base + std::uint64_t{id} * sizeof(std::uint64_t);
        if (!runs->empty() && runs->back().address + runs->back().bytes == address) {
            runs->back().bytes += sizeof(std::uint64_t);
        } else {
            runs->push_back({address, sizeof(std::uint64_t)});
        }
    }
    write_memory(output, {op.gate_switch, base, bytes.size(), &bytes, runs});
}

void OutboundSender::on_masks(const AdynaMessage& message) {
    decisions_.take_masks(message);
    std::vector<std::pair<std::uint16_t, std::uint16_t>> parked;
    for (const Output& output : outputs_)
        if (output.index_list->whole && !output.parked.empty()) parked.emplace_back(output.operator_index, output.unit);
    if (!parked.empty()) {  // the last masks let go outputs of any unit
        for (const auto& [op, unit] : parked) {
            const auto output = std::find_if(
                outputs_.begin(), outputs_.end(),
                [op = op, unit = unit](const Output& one) { return one.operator_index == op && one.unit == unit; });
            if (output != outputs_.end()) start_parked(*output);
        }
        return;
    }
    const auto waits = [this, &message](const Output& output) {
        return output.unit == message.unit &&
               std::any_of(output.parked.begin(), output.parked.end(), [this, &message](std::uint16_t id) {
                   const Edge& edge = ports_.program().edge(id);
                   return edge.switch_id == message.edge && !carries_decisions(edge.path);
               });
    };
    const auto output = std::find_if(outputs_.begin(), outputs_.end(), waits);
    if (output != outputs_.end()) start_parked(*output);
}

void OutboundSender::on_labels(const AdynaMessage& message) {
    decisions_.take_labels(message);
    const auto waits = [this, &message](const Output& output) {
        const auto decides = [this](std::uint16_t id) { return carries_decisions(ports_.program().edge(id).path); };
        return std::any_of(output.parked.begin(), output.parked.end(), decides) &&
               ports_.program().operators[output.operator_index].previous_switch == message.edge &&
               decisions_.labels_known(output);
    };
    for (;;) {  // outputs that start may be gone afterwards
        const auto output = std::find_if(outputs_.begin(), outputs_.end(), waits);
        if (output == outputs_.end()) return;
        start_parked(*output);
    }
}

void OutboundSender::finish_step(std::uint16_t operator_index, std::uint16_t unit, bool by_memory) {
    for (auto it = outputs_.begin(); it != outputs_.end(); ++it) {
        if (it->operator_index != operator_index || it->unit != unit) continue;
        if (--it->steps_missing > 0) return;
        InterfaceEvent event;
        event.kind = InterfaceEvent::Kind::output_sent;
        event.operator_index = operator_index;
        event.unit = unit;
        event.batch = it->batch;
        event.edge = it->last_edge;
        event.sent_at = it->sent_at;
        event.to_memory = by_memory;
        outputs_.erase(it);
        ports_.tell_controller(event);
        return;
    }
    ports_.fail(fmt::format("expected the end of an output that is being sent, found that of operator index {} unit {}",
                            operator_index, unit));
}

std::vector<std::string> OutboundSender::waits() const {
    std::vector<std::string> lines;
    for (const Output& output : outputs_) {
        const TileOperator& op = ports_.program().operators[output.operator_index];
        for (const std::uint16_t edge : output.parked) {
            const bool decides = carries_decisions(ports_.program().edge(edge).path);
            lines.push_back(
                "operator " + std::to_string(op.op_id) + " unit " + std::to_string(output.unit) +
                (decides ? ": labels of switch " + std::to_string(op.previous_switch)
                         : ": routing mask of switch " + std::to_string(ports_.program().edge(edge).switch_id)));
        }
    }
    for (const Outbound& outbound : outbounds_) {
        for (const Group& group : outbound.groups) {
            if (group.sent || group.acks_missing == 0) continue;
            lines.push_back("edge " + std::to_string(outbound.edge) + " unit " + std::to_string(outbound.unit) + ": " +
                            std::to_string(group.acks_missing) + " acknowledge(s) from tiles around " +
                            std::to_string(group.destinations.front()));
        }
    }
    return lines;
}

}  // namespace switchyard::hw
