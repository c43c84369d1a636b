// What a network interface reads from HBM: tensors of earlier segments, weights, sample frames, recorded masks.
// Of all tiles that need the same bytes the lowest rank leads: it probes the others and asks memory to send to all.

#include <algorithm>
#include <cstring>

#include "switchyard/hw/network_interface/frames.h"
#include "switchyard/hw/network_interface/network_interface.h"

namespace switchyard::hw {

namespace {

std::uint64_t piece_address(const Edge& edge, unsigned rank, std::uint32_t batch, std::uint32_t unit) {
    return edge.memory_base.at(rank) + batch % 2 * edge.memory_bank_stride +
           std::uint64_t{unit} * edge.memory_unit_stride;
}

}  // namespace

void NetworkInterface::request(std::uint64_t address, std::uint64_t bytes, const std::vector<Endpoint>& reply_to,
                               std::uint16_t edge, std::uint16_t unit, std::uint32_t tag, bool values) {
    RoutedExtension* packet = nullptr;
    Payload& payload = make_packet(PacketKind::read_request, {memory_of(address)}, 0, packet);
    payload.set_command(::tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    packet->requested_bytes = bytes;
    packet->reply_to = reply_to;
    packet->edge = edge;
    packet->unit = unit;
    packet->tag = tag;
    packet->has_values = values;
    stats_.memory_requested_bytes += bytes * reply_to.size();
    inject(payload, clock_.cycles(config_.setup_cycles));
}

/// Units of the producer's that cover a unit of the consumer's: [first, last).
std::pair<std::uint32_t, std::uint32_t> NetworkInterface::source_units(const InEdge& in, unsigned unit) const {
    const std::uint32_t size = in.destination->unit_samples;
    const std::uint32_t source_size = in.source->unit_samples;
    const std::uint32_t last = ((unit + 1) * size + source_size - 1) / source_size;
    return {unit * size / source_size, std::min<std::uint32_t>(last, in.source->units)};
}

void NetworkInterface::start_loads(InEdge& in) {
    const std::size_t window = std::min<std::size_t>(in.released + in.edge->slots, in.units.size());
    for (std::size_t u = in.released; u < window; ++u) {
        const auto unit = static_cast<unsigned>(u);
        if (in.units[u].announced) {
            start_load(in, unit);
        } else if (in.edge->frame_bytes == 0) {
            const auto [first, last] = source_units(in, unit);
            const std::uint32_t size = in.source->unit_samples;
            announce(in, unit, whole_frame(first * size, last * size));
        } else if (in.rank == 0 && !in.units[u].frame_requested) {
            request_frame(in, unit);
        }
    }
}

void NetworkInterface::request_frame(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    input.frame_requested = true;
    const auto [first, last] = source_units(in, unit);
    input.frame_parts.assign(last - first, nullptr);
    input.frame_parts_missing = last - first;
    for (std::uint32_t source_unit = first; source_unit < last; ++source_unit) {
        request(piece_address(*in.edge, 0, in.batch, source_unit), in.edge->frame_bytes, {address_.tile}, in.edge->id,
                static_cast<std::uint16_t>(unit), kFrameTag + ((source_unit - first) << 8U), true);
    }
}

void NetworkInterface::on_frame(InEdge& in, const RoutedExtension& packet, const std::vector<std::uint8_t>& bytes) {
    InputUnit& input = in.units.at(packet.unit);
    input.frame_parts.at(packet.tag >> 8U) = deserialise_frame(bytes.data(), bytes.size());
    if (--input.frame_parts_missing > 0) return;
    const SampleFramePtr frame = united(input.frame_parts);
    input.frame_parts.clear();
    std::vector<Endpoint> others;
    for (const std::uint16_t tile : in.destination->tiles) {
        if (tile != address_.tile) others.push_back(tile);
    }
    probe(*in.edge, packet.unit, in.batch, frame, std::move(others), false);
    if (!input.announced) announce(in, packet.unit, frame);
}

/// Calls visit(producer unit, plan) for every producer unit of which a consumer's unit holds samples. Each was written
/// under its own kernel's partition, so each has a plan of its own.
template <class Visit>
void NetworkInterface::visit_stored_units(const InEdge& in, unsigned unit, Visit&& visit) const {
    const InputUnit& input = in.units[unit];
    const auto [first, last] = source_units(in, unit);
    const std::uint32_t source_size = in.source->unit_samples;
    const std::uint32_t size = in.destination->unit_samples;
    const EdgeSets wanted = sets_of(*in.edge, *input.frame);
    for (std::uint32_t source_unit = first; source_unit < last; ++source_unit) {
        const SampleFramePtr stored =
            restricted(input.stored_frame, source_unit * source_size, (source_unit + 1) * source_size);
        const SampleFramePtr overlap = restricted(stored, unit * size, (unit + 1) * size);
        visit(source_unit, TransferPlan(*in.edge, *in.source, *in.destination, *sets_of(*in.edge, *stored).source,
                                        overlap->samples, *wanted.destination));
    }
}

std::uint64_t NetworkInterface::expected_from_memory(const InEdge& in, unsigned unit) const {
    std::uint64_t sum = 0;
    visit_stored_units(in, unit, [&](std::uint32_t, const TransferPlan& plan) { sum += plan.expected_bytes(in.rank); });
    return sum;
}

void NetworkInterface::issue_load(InEdge& in, unsigned unit) {
    visit_stored_units(in, unit, [&](std::uint32_t source_unit, const TransferPlan& plan) {
        std::vector<Endpoint> sharers;
        for (const std::uint16_t rank : plan.sharers(in.rank)) sharers.push_back(in.destination->tiles[rank]);
        for (unsigned source_rank = 0; source_rank < in.edge->memory_base.size(); ++source_rank) {
            const std::uint64_t bytes = plan.bytes(source_rank, in.rank);
            if (bytes == 0) continue;
            request(piece_address(*in.edge, source_rank, in.batch, source_unit) + in.edge->frame_bytes, bytes, sharers,
                    in.edge->id, static_cast<std::uint16_t>(unit), kTensorTag, false);
        }
    });
}

void NetworkInterface::start_load(InEdge& in, unsigned unit) {
    InputUnit& input = in.units[unit];
    if (input.load_started || !has_slot(in, unit)) return;
    input.load_started = true;
    if (input.expected == 0) return;
    std::vector<std::uint16_t> sharers;  // the same in every plan: they follow from the consumer's kernel
    visit_stored_units(in, unit, [&](std::uint32_t, const TransferPlan& plan) { sharers = plan.sharers(in.rank); });
    if (sharers.front() != in.rank) return;
    std::vector<Endpoint> others;
    for (std::size_t i = 1; i < sharers.size(); ++i) others.push_back(in.destination->tiles[sharers[i]]);
    input.acks_missing = static_cast<unsigned>(others.size());
    if (others.empty()) {
        issue_load(in, unit);
        return;
    }
    probe(*in.edge, static_cast<std::uint16_t>(unit), in.batch, input.stored_frame, std::move(others), true);
}

void NetworkInterface::issue_acknowledged(InEdge& in, unsigned unit) {
    if (in.edge->path == EdgePath::weights) {
        issue_weights(in);
    } else {
        issue_load(in, unit);
    }
}

void NetworkInterface::open_weights(std::uint16_t edge_id) {
    InEdge& in = in_edge(edge_id);
    InputUnit& input = in.units.front();
    input.received = 0;
    input.complete_at = input.acknowledged_at = sc_core::SC_ZERO_TIME;
    input.expected = in.edge->weight_bytes;
    input.announced = true;
    in.open = true;
    std::vector<Endpoint> waiting;
    waiting.swap(input.waiting);
    for (const Endpoint source : waiting) acknowledge(in, 0, source);
    const unsigned k_ways = in.destination->k_ways;
    if (in.rank >= k_ways) return;
    std::vector<Endpoint> others;
    for (std::size_t rank = in.rank + std::size_t{k_ways}; rank < in.destination->tiles.size(); rank += k_ways) {
        others.push_back(in.destination->tiles[rank]);
    }
    input.acks_missing = static_cast<unsigned>(others.size());
    if (others.empty()) {
        issue_weights(in);
        return;
    }
    probe(*in.edge, 0, in.batch, nullptr, std::move(others), true);
}

void NetworkInterface::issue_weights(InEdge& in) {
    std::vector<Endpoint> sharers;
    for (std::size_t rank = in.rank; rank < in.destination->tiles.size(); rank += in.destination->k_ways) {
        sharers.push_back(in.destination->tiles[rank]);
    }
    request(in.edge->memory_base.at(in.rank), in.edge->weight_bytes, sharers, in.edge->id, 0, kTensorTag, false);
}

std::uint64_t NetworkInterface::mask_record_bytes(std::uint16_t operator_index) const {
    const TileOperator& op = program_->operators.at(operator_index);
    return std::uint64_t{program_->placement(op.op_id).unit_samples} * sizeof(std::uint64_t);
}

void NetworkInterface::fetch_masks(std::uint16_t operator_index, std::uint16_t unit, std::uint32_t batch) {
    const TileOperator& op = program_->operators.at(operator_index);
    const std::uint64_t bytes = mask_record_bytes(operator_index);
    request(op.mask_address + batch % 2 * op.mask_bank_stride + unit * bytes, bytes, {address_.tile}, operator_index,
            unit, kMaskTag, true);
}

void NetworkInterface::on_recorded_masks(const RoutedExtension& packet, const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint64_t>& masks = recorded_masks_[{packet.edge, packet.unit}];
    masks.resize(bytes.size() / sizeof(std::uint64_t));
    std::memcpy(masks.data(), bytes.data(), masks.size() * sizeof(std::uint64_t));
    InterfaceEvent event;
    event.kind = InterfaceEvent::Kind::masks_ready;
    event.operator_index = packet.edge;
    event.unit = packet.unit;
    tell_controller(event);
}

}  // namespace switchyard::hw
