// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/memory_fetcher.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "switchyard/hw/network_interface/inbound_slots.h"
#include "switchyard/hw/network_interface/index_lists.h"
#include "switchyard/hw/network_interface/memory_readers.h"
#include "switchyard/hw/network_interface/value_mover.h"
#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {

void MemoryFetcher::request(Fetch fetch) {
    const InterfacePorts::Packet packet = ports_.make_packet(MessageKind::data, ports_.memory_of(fetch.address), 0);
    packet.payload->set_command(::tlm::TLM_READ_COMMAND);
    packet.payload->set_address(fetch.address);
    packet.packet.traffic = TrafficClass::control;
    packet.packet.has_values = fetch.values;
    packet.memory.operation = MemoryOperation::read;
    packet.memory.requested_bytes = fetch.bytes;
    ports_.stats().memory_requested_bytes += fetch.bytes * fetch.reply_to.size();
    packet.memory.reply_to = std::move(fetch.reply_to);
    packet.memory.runs = std::move(fetch.runs);
    packet.message.content = fetch.content;
    packet.message.edge = fetch.edge;
    packet.message.unit = fetch.unit;
    packet.message.part = std::move(fetch.part);
    ports_.inject(packet, ports_.setup());
}

void MemoryFetcher::open(InEdge& in) {
    request_samples(in);
    start_loads(in);
}

bool MemoryFetcher::tells_samples(const InEdge& in) const {
    const SegmentOrder* const order = ports_.program().order(in.segment);
    return in.source->store.index_list_bytes > 0 || (order != nullptr && !order->packs());
}

SampleIndexListPtr MemoryFetcher::of_batch(InEdge& in, unsigned unit) const {
    const unsigned units = in.destination->units_of_invocation();
    const std::uint32_t samples = units * in.destination->unit_samples, first = unit / units * samples;
    const bool known = tells_samples(in) && in.samples.index_list;
    if (!known) return whole_index_list(first, first + samples);
    if (units == in.units.size()) return in.samples.index_list;
    if (!in.samples.of_batch || in.samples.of_batch_first != first) {
        in.samples.of_batch = restricted(in.samples.index_list, SampleSet::range(first, first + samples));
        in.samples.of_batch_first = first;
    }
    return in.samples.of_batch;
}

void MemoryFetcher::start_loads(InEdge& in) {
    const bool by_batch = in.destination->invoked_by_batch(), packs = ports_.packs(in.segment);
    const unsigned units_of_batch = in.destination->units_of_invocation();
    for (std::size_t u = in.released; u < in.window(); ++u) {
        const auto unit = static_cast<unsigned>(u);
        if (in.units[u].announced) {
            start_load(in, unit);
        } else if (!tells_samples(in)) {
            const std::uint32_t size = in.destination->unit_samples;
            slots_.announce(
                in, unit,
                packs ? packed_unit(of_batch(in, unit), in.edge->pops, u % units_of_batch, size)
                      : whole_index_list(unit * size, (unit + 1) * size, by_batch ? units_of_batch * size : 0));
        } else if (!in.samples.units.empty()) {
            const SampleIndexListPtr index_list =
                packs
                    ? packed_unit(of_batch(in, unit), in.edge->pops, u % units_of_batch, in.destination->unit_samples)
                    : restricted(by_batch ? of_batch(in, unit) : in.samples.index_list, in.samples.units[u], by_batch);
            std::vector<Endpoint> others;
            for (const std::uint16_t tile : in.destination->tiles) {
                if (tile != ports_.address().tile) others.push_back(tile);
            }
            ports_.probe(*in.edge, static_cast<std::uint16_t>(unit), in.batch, index_list, others);
            if (!in.units[u].announced) slots_.announce(in, unit, index_list);
        }
    }
}

std::uint64_t MemoryFetcher::samples_record_bytes(const InEdge& in, MessageContent content) const {
    if (content == MessageContent::order) return in.units.size() * in.destination->unit_samples * sizeof(std::uint64_t);
    const TensorStore& store = in.source->store;
    const std::uint32_t records = ceil_div(in.source->unit_samples, store.index_list_samples);
    return std::uint64_t{records} * store.index_list_bytes;
}

void MemoryFetcher::request_samples(InEdge& in) {
    in.samples = {};
    if (in.rank != 0 || !tells_samples(in)) return;
    const auto ask = [&](std::uint64_t address, MessageContent content, std::size_t key) {
        ++in.samples.records_missing;
        Fetch fetch{content, in.edge->id, static_cast<std::uint16_t>(key), address, samples_record_bytes(in, content)};
        fetch.reply_to = {ports_.address().tile};
        fetch.values = true;
        request(std::move(fetch));
    };
    if (in.source->store.index_list_bytes > 0) ask(in.source->store.index_list_address, MessageContent::index_lists, 0);
    const SegmentOrder* const order = ports_.program().order(in.segment);
    if (order == nullptr) return;
    in.samples.masks.resize(order->keys.size());
    for (std::size_t key = 0; key < order->keys.size(); ++key) {
        ask(order->keys[key].mask_address + in.batch % 2 * order->keys[key].mask_bank_stride, MessageContent::order,
            key);
    }
}

void MemoryFetcher::on_samples(InEdge& in, MessageContent content, unsigned key,
                               const std::vector<std::uint8_t>& bytes) {
    BatchSamples& samples = in.samples;
    if (content == MessageContent::index_lists) {
        const std::uint32_t room = in.source->store.index_list_bytes;
        std::vector<SampleIndexListPtr> parts;
        try {
            for (std::size_t at = 0; at < bytes.size(); at += room)
                parts.push_back(deserialise_index_list(bytes.data() + at, room));
        } catch (const InputError& error) {  // a packetiser in RTL has changed what lies in memory
            ports_.fail(fmt::format("edge {}: memory: {}", in.edge->id, error.what()));
        }
        samples.index_list = routing_.united(parts);
    } else {
        samples.masks[key].resize(bytes.size() / sizeof(std::uint64_t));
        std::memcpy(samples.masks[key].data(), bytes.data(), bytes.size());
    }
    if (--samples.records_missing > 0) return;
    const std::uint32_t size = in.destination->unit_samples;
    const SegmentOrder* const order = ports_.program().order(in.segment);
    if (order != nullptr && !order->packs()) {
        samples.units = units_of(ordered_samples(*order, samples.masks), size);
    } else {
        for (std::uint32_t u = 0; u < in.units.size(); ++u)
            samples.units.push_back(SampleSet::range(u * size, (u + 1) * size));
    }
    samples.units.resize(in.units.size());
    if (!samples.index_list)
        samples.index_list = whole_index_list(0, static_cast<std::uint32_t>(in.units.size()) * size);
    start_loads(in);
}

TransferPlan MemoryFetcher::load_plan(const InEdge& in, unsigned unit) {
    return TransferPlan(*in.edge, *in.source, *in.destination, *in.units[unit].index_list);
}

void MemoryFetcher::issue_load(InEdge& in, unsigned unit) {
    const TransferPlan plan = load_plan(in, unit);
    const std::vector<Endpoint> readers =
        tiles_of(in, tensor_readers(plan, in.rank, ports_.config().multicast_reads()));
    for (const TransferPlan::Access& access : plan.reads(in.rank)) {
        const std::uint64_t piece = in.source->store.address(access.piece, in.batch, ports_.address().region_bytes);
        Fetch fetch{MessageContent::tensor, in.edge->id, static_cast<std::uint16_t>(unit), piece + access.offset,
                    access.bytes};
        fetch.reply_to = readers;
        fetch.values = ports_.config().values;
        if (ports_.config().values) {
            fetch.part = std::make_shared<const TensorPart>(plan.part(access.piece, in.rank));
            fetch.runs = runs_of(*fetch.part, *in.source, plan.made(access.piece), piece);
        }
        request(std::move(fetch));
    }
}

const std::vector<std::uint16_t>& MemoryFetcher::readers(InEdge& in, unsigned unit) const {
    std::vector<std::uint16_t>& known = in.units[unit].readers;
    if (!known.empty()) return known;
    const bool multicast = ports_.config().multicast_reads();
    known = in.edge->path == EdgePath::weights ? weight_readers(*in.destination, in.rank, multicast)
                                               : tensor_readers(load_plan(in, unit), in.rank, multicast);
    return known;
}

std::vector<Endpoint> MemoryFetcher::tiles_of(const InEdge& in, const std::vector<std::uint16_t>& ranks) {
    std::vector<Endpoint> tiles;
    tiles.reserve(ranks.size());
    for (const std::uint16_t rank : ranks) tiles.push_back(in.destination->tiles[rank]);
    return tiles;
}

std::vector<Endpoint> MemoryFetcher::load_leader(InEdge& in, unsigned unit) const {
    const std::uint16_t leader = readers(in, unit).front();
    if (leader == in.rank) return {};
    return {in.destination->tiles[leader]};
}

void MemoryFetcher::start_load(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    if (input.load_started || !rules::needs_input_slot(input.expected) || !in.has_slot(unit)) return;
    input.load_started = true;
    issue_when_granted(in, unit);
}

void MemoryFetcher::take_grant(InEdge& in, const Grant& grant) {
    const bool weights = in.edge->path == EdgePath::weights;
    if (!weights && (!in.open || in.batch != grant.batch)) {
        in.early_grants.push_back(grant);
        return;
    }
    InputUnit& input = in.units.at(grant.unit);
    ++input.acks_received;
    input.acknowledged_at = std::max(input.acknowledged_at, grant.arrival);
    if (weights ? in.open : input.load_started) issue_when_granted(in, grant.unit);
}

void MemoryFetcher::issue_when_granted(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    const std::vector<std::uint16_t>& together = readers(in, unit);
    if (together.front() != in.rank) return;
    const auto others = static_cast<unsigned>(together.size()) - 1;
    if (input.acks_received < others) return;
    input.acks_received -= others;
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (others == 0 || input.acknowledged_at <= now) {
        issue_acknowledged(in, unit);
        return;
    }
    InterfaceTask task;
    task.kind = InterfaceTask::Kind::load_acknowledged;
    task.edge = in.edge->id;
    task.unit = static_cast<std::uint16_t>(unit);
    ports_.schedule(std::move(task), input.acknowledged_at - now);
}

void MemoryFetcher::issue_acknowledged(InEdge& in, unsigned unit) {
    if (in.edge->path == EdgePath::weights) {
        issue_weights(in);
    } else {
        issue_load(in, unit);
    }
}

void MemoryFetcher::open_weights(InEdge& in) {
    InputUnit& input = in.units.front();
    input.received = 0;
    input.complete_at = input.sent_at = sc_core::SC_ZERO_TIME;
    input.expected = in.edge->weight_bytes;
    input.announced = true;
    in.open = true;
    const std::vector<Endpoint> leader = load_leader(in, 0);
    if (leader.empty()) {
        issue_when_granted(in, 0);
    } else {
        ports_.acknowledge(in, 0, leader);
    }
}

void MemoryFetcher::issue_weights(InEdge& in) {
    const std::uint64_t slice = in.edge->slice_addresses.at(in.rank % in.destination->k_factor);
    Fetch fetch{MessageContent::tensor, in.edge->id, 0, slice, in.edge->weight_bytes};
    fetch.reply_to = tiles_of(in, readers(in, 0));
    fetch.values = ports_.config().values;
    request(std::move(fetch));
}

std::uint64_t MemoryFetcher::mask_record_bytes(std::uint16_t operator_index) const {
    const TileOperator& op = ports_.program().operators.at(operator_index);
    const SegmentOrder* const order = ports_.program().order(op.segment);
    const OperatorPlacement& placement = ports_.program().placement(op.op_id);
    return (order != nullptr ? placement.units : std::uint64_t{1}) * placement.unit_samples * sizeof(std::uint64_t);
}

void MemoryFetcher::fetch_masks(std::uint16_t operator_index, std::uint16_t unit, std::uint32_t batch) {
    const TileOperator& op = ports_.program().operators.at(operator_index);
    const bool compacted = ports_.program().order(op.segment) != nullptr;
    if (compacted && unit > 0) return;  // came, or comes, with the first unit's
    const std::uint64_t bytes = mask_record_bytes(operator_index);
    Fetch fetch{MessageContent::masks, operator_index, unit,
                op.mask_address + batch % 2 * op.mask_bank_stride + unit * bytes, bytes};
    fetch.reply_to = {ports_.address().tile};
    fetch.values = true;
    request(std::move(fetch));
}

void MemoryFetcher::on_recorded_masks(const AdynaMessage& message, const std::vector<std::uint8_t>& bytes) {
    const TileOperator& op = ports_.program().operators.at(message.edge);
    const OperatorPlacement& placement = ports_.program().placement(op.op_id);
    const bool compacted = ports_.program().order(op.segment) != nullptr;
    decisions_.take_recorded(message.edge, message.unit * placement.unit_samples, bytes);
    for (unsigned unit = message.unit; unit < (compacted ? placement.units : message.unit + 1U); ++unit) {
        InterfaceEvent event;
        event.kind = InterfaceEvent::Kind::masks_ready;
        event.operator_index = message.edge;
        event.unit = static_cast<std::uint16_t>(unit);
        ports_.tell_controller(event);
    }
}

void MemoryFetcher::on_record(const ::tlm::tlm_generic_payload& payload, const AdynaMessage& message) {
    std::vector<std::uint8_t>& bytes = partial_[{message.content, message.edge, message.unit}];
    bytes.insert(bytes.end(), payload.get_data_ptr(), payload.get_data_ptr() + payload.get_data_length());
    ports_.stats().received_bytes += payload.get_extension<PacketExtension>()->payload_bytes;
    if (message.content == MessageContent::masks) {
        if (bytes.size() < mask_record_bytes(message.edge)) return;
        on_recorded_masks(message, bytes);
    } else {
        InEdge& in = slots_.in_edge(message.edge);
        if (bytes.size() < samples_record_bytes(in, message.content)) return;
        on_samples(in, message.content, message.unit, bytes);
    }
    partial_.erase({message.content, message.edge, message.unit});
}

}  // namespace switchyard::hw
