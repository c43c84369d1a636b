// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/edge_builder.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

EdgeBuilder::EdgeBuilder(const Schedule& schedule, const Workload& workload, const HardwareDescription& hardware)
    : schedule_(schedule),
      workload_(workload),
      hardware_(hardware),
      regions_(scratchpad_map(schedule.operators, hardware)),
      tensors_(schedule, workload, hardware) {
    const DynGraph& graph = workload.graph;
    add_stores();
    for (int op = 0; op < static_cast<int>(graph.operators.size()); ++op) {
        for (unsigned i = 0; i < graph.operators[op].inputs.size(); ++i) add_operand(op, i);
        add_weights(op);
    }
    for (int s = 0; s < static_cast<int>(graph.switches.size()); ++s) add_mask(s);
    for (const Switch& one : graph.switches) add_labels(one);
    place_blocks();
    if (edges.size() >= kNone) {
        throw Infeasible(graph.file, 0, graph.name,
                         fmt::format("expected at most {} edges, which 16 bits can number, found {}; take a smaller "
                                     "network",
                                     kNone - 1, edges.size()));
    }
}

Edge& EdgeBuilder::new_edge() {
    edges.emplace_back();
    edges.back().id = static_cast<std::uint16_t>(edges.size() - 1);
    return edges.back();
}

std::size_t EdgeBuilder::add_block(std::uint16_t tile, std::uint64_t bytes, std::uint16_t segment) {
    blocks_.push_back({bytes, {tile, {{segment, static_cast<double>(bytes)}}}});
    return blocks_.size() - 1;
}

void EdgeBuilder::place_blocks() {
    std::vector<PieceTraffic> traffic;
    for (const Block& block : blocks_) traffic.push_back(block.traffic);
    const std::vector<unsigned> interfaces = balanced_interfaces(hardware_, traffic);
    HbmAllocator memory(hardware_, tensors_.end());
    std::vector<std::uint64_t> address;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        address.push_back(memory.allocate(interfaces[i], blocks_[i].bytes));
    }
    for (const WeightBlocks& weights : weight_blocks_) {
        Edge& edge = edges[weights.edge];
        const std::size_t slices = host_tensors[weights.host_tensor].piece_bytes.size();
        for (std::size_t ik = 0; ik < slices; ++ik) edge.slice_addresses.push_back(address[weights.first + ik]);
        host_tensors[weights.host_tensor].addresses = edge.slice_addresses;
    }
    for (std::size_t s = 0; s < masks.size(); ++s) masks[s].address = address[mask_blocks_[s]];
    std::size_t next = 0;
    for (const StoredTensor& tensor : tensors()) {
        if (tensors_.index_list_room(tensor) > 0)
            tensors_.place_index_lists(tensor, address[index_list_blocks_[next++]]);
    }
}

void EdgeBuilder::add_stores() {
    for (const StoredTensor& tensor : tensors()) {
        if (tensor.kind != StoredTensor::Kind::between_segments) host_tensors.push_back(tensors_.host_tensor(tensor));
        if (tensor.producer < 0) continue;
        Edge& edge = new_edge();
        const std::uint16_t id = edge.id;
        edge = tensor.edge();
        edge.first_channel = tensor.first_channel;
        edge.id = id;
        edge.src_op = static_cast<std::uint16_t>(tensor.producer);
        edge.dst_op = tensor.placement.op_id;
        edge.slots = 0;
        if (tensor.switch_id != kNoSwitch) {
            edge.switch_id = static_cast<std::uint16_t>(tensor.switch_id);
            edge.branch = static_cast<std::uint16_t>(tensor.branch);
            edge.partner = schedule_.partner(tensor.switch_id, tensor.branch);
        }
        const std::uint64_t index_lists = tensors_.index_list_room(tensor);
        const PlacedOperator& producer = schedule_.operators[tensor.producer];
        if (index_lists > 0) {
            index_list_blocks_.push_back(add_block(producer.placement.tiles.front(), index_lists, producer.segment));
        }
    }
}

void EdgeBuilder::add_operand(int op, unsigned source_index) {
    const PlacedOperator& placed = schedule_.operators[op];
    const Source& source = workload_.graph.operators[op].inputs[source_index];
    Edge edge;
    if (const StoredTensor* tensor = tensors_.find(op, source_index)) {
        edge = tensor->edge();
        edge.src_op = tensor->placement.op_id;
        if (tensor->producer < 0) {
            edge.first_channel = source.first_channel();
            edge.channels = source.taken_channels();
        }
    } else {
        edge.src_op = static_cast<std::uint16_t>(source.producer);
        edge.reduce = source.reduce;
        edge.first_channel = source.first_channel();
        edge.channels = source.taken_channels();
        edge.rows = source.shape.rows;
        edge.columns = source.shape.columns;
        edge.element_bytes = source.shape.element_bytes;
        if (source.switch_id != kNoSwitch) {
            edge.switch_id = static_cast<std::uint16_t>(source.switch_id);
            edge.branch = static_cast<std::uint16_t>(source.branch);
            edge.partner = schedule_.partner(source.switch_id, source.branch);
        }
    }
    edge.dst_op = static_cast<std::uint16_t>(op);
    edge.role = source.role;
    edge.pops = static_cast<std::uint8_t>(source.pops);
    edge.slots = placed.slots.in[source_index];
    edge.slot_offset = regions_[op].slots[source_index];
    edge.slot_bytes = placed.footprint.slot_bytes[source_index];
    edge.id = new_edge().id;
    edges.back() = std::move(edge);
}

void EdgeBuilder::add_weights(int op) {
    const Operator& one = workload_.graph.operators[op];
    if (one.weight_bytes == 0) return;
    const PlacedOperator& placed = schedule_.operators[op];
    const OperatorPlacement& placement = placed.placement;
    Edge& edge = new_edge();
    edge.dst_op = static_cast<std::uint16_t>(op);
    edge.path = EdgePath::weights;
    edge.slots = 1;
    edge.slot_offset = regions_[op].weights;
    edge.slot_bytes = edge.weight_bytes = placed.footprint.weights;
    edge.resident = regions_[op].resident;
    ImageMeta::Tensor tensor;
    tensor.name = one.name;
    tensor.kind = "weights";
    tensor.piece_bytes.assign(placement.k_factor, edge.weight_bytes);
    tensor.bytes = std::uint64_t{edge.weight_bytes} * placement.k_factor;
    const std::size_t segments = schedule_.segments.size();
    const std::size_t loaded_in = placed.prefetched ? (placed.segment + segments - 1) % segments : placed.segment;
    weight_blocks_.push_back({edge.id, host_tensors.size(), blocks_.size()});
    // The tiles of slice ik are those of ranks ik, k_factor + ik, ...: each slice lies near a different one.
    const std::size_t groups = placement.tiles.size() / placement.k_factor;
    for (unsigned ik = 0; ik < placement.k_factor; ++ik) {
        add_block(placement.tiles[ik % groups * placement.k_factor + ik], edge.weight_bytes,
                  static_cast<std::uint16_t>(loaded_in));
    }
    host_tensors.push_back(std::move(tensor));
}

void EdgeBuilder::add_mask(int switch_id) {
    const Switch& one = workload_.graph.switches[switch_id];
    Edge& edge = new_edge();
    edge.src_op = static_cast<std::uint16_t>(one.gate);
    edge.dst_op = static_cast<std::uint16_t>(one.data);
    edge.path = EdgePath::mask;
    edge.switch_id = static_cast<std::uint16_t>(switch_id);
    const std::uint64_t bytes = aligned(sizeof(std::uint64_t) * std::uint64_t{workload_.graph.samples_in_flight()});
    const OperatorPlacement& gate = schedule_.operators[one.gate].placement;
    mask_blocks_.push_back(add_block(gate.tiles.front(), 2 * bytes, gate.segment));
    masks.push_back({0, bytes});
}

void EdgeBuilder::add_labels(const Switch& one) {
    if (one.previous == kNoSwitch) return;
    Edge& edge = new_edge();
    edge.src_op = static_cast<std::uint16_t>(workload_.graph.switches[static_cast<std::size_t>(one.previous)].gate);
    edge.dst_op = static_cast<std::uint16_t>(one.gate);
    edge.path = EdgePath::labels;
    edge.switch_id = static_cast<std::uint16_t>(one.previous);
}

}  // namespace switchyard::sched
