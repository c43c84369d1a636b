// The exchangeable blocks at work: RoutingBlocks behind the switch, in front of a merge and at the router's port.

#include <cstring>

#include "switchyard/hw/network_interface/frames.h"
#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/network_interface/packet_header.h"

namespace switchyard::hw {

/// `call()`, whose RoutingFault becomes the module's ModelError.
template <class Call>
auto NetworkInterface::with_blocks(Call&& call) {
    try {
        return call();
    } catch (const RoutingFault& fault) {
        fail(fault.what());
    } catch (const std::invalid_argument& fault) {  // of SampleSet
        fail(fault.what());
    }
}

void NetworkInterface::check_routing(const TileProgram& program) const {
    const RoutingLimits limits = blocks_->limits();
    const auto refuse = [&](const std::string& what, std::uint64_t wanted, std::uint64_t most) {
        fail("impl: " + config_.impl + " is built for " + std::to_string(most) + " " + what + ", the program has " +
             std::to_string(wanted));
    };
    for (const Edge& edge : program.edges) {
        if (edge.switch_id != kNone && edge.branch >= limits.branches)
            refuse("branches of a switch", edge.branch + 1U, limits.branches);
    }
    for (const OperatorPlacement& placement : program.placements) {
        const std::uint64_t samples = std::uint64_t{placement.units} * placement.unit_samples;
        if (samples > limits.samples) refuse("samples of a batch", samples, limits.samples);
    }
    for (const TileOperator& op : program.operators) {
        if (op.gate_switch != kNone && op.gate_branches > limits.branches)
            refuse("branches of a switch", op.gate_branches, limits.branches);
        if (program.placement(op.op_id).shape.kind != OpKind::merge) continue;
        std::uint64_t sources = 0;
        for (const std::uint16_t id : op.in_edges) sources += is_merged(program.edge(id)) ? 1 : 0;
        if (sources > limits.sources) refuse("sources of a merge", sources, limits.sources);
    }
}

const NetworkInterface::BranchLists* NetworkInterface::branch_lists(Output& output, std::uint16_t switch_id) {
    const auto known = output.branches.find(switch_id);
    if (known != output.branches.end()) return &known->second;
    const SampleSet& samples = output.frame->samples;
    const auto found = switches_.find({switch_id, output.unit});
    std::vector<std::uint64_t> masks;
    for (const std::uint32_t id : samples.ids()) {
        if (found == switches_.end()) return nullptr;
        const auto mask = found->second.find(id);
        if (mask == found->second.end()) return nullptr;
        masks.push_back(mask->second);
    }
    BranchLists lists;
    with_blocks([&] {
        for (std::vector<std::uint32_t>& ids : blocks_->split(samples.ids(), masks)) lists.emplace_back(std::move(ids));
    });
    return &(output.branches[switch_id] = std::move(lists));
}

std::shared_ptr<const MergedSamples> NetworkInterface::merged_inputs(const InEdge& in, unsigned unit) {
    if (in.destination->shape.kind != OpKind::merge) return nullptr;
    RoutingBlocks::Lists sources;
    for (const InEdge& other : in_edges_) {
        if (other.operator_index != in.operator_index || !is_merged(*other.edge)) continue;
        if (!other.units[unit].ready) return nullptr;
        sources.push_back(other.units[unit].frame->samples.ids());
    }
    return with_blocks([&] { return std::make_shared<const MergedSamples>(blocks_->merge(sources)); });
}

SampleFramePtr NetworkInterface::united_records(const std::vector<SampleFramePtr>& frames) {
    return with_blocks([&] { return united(frames, *blocks_); });
}

void NetworkInterface::packetise(Payload& payload, RoutedExtension& packet) {
    const PacketFormat format{config_.link_bytes, config_.header_bytes};
    const bool values = packet.has_values && packet.values.size() == packet.payload_bytes;
    PacketBytes whole;
    whole.header = packet_header(packet);
    whole.header.resize(format.header_bytes);
    whole.payload_bytes = packet.payload_bytes;
    whole.payload = values ? packet.values.data() : nullptr;
    whole.control = packet.kind == PacketKind::probe || packet.kind == PacketKind::acknowledge;
    const std::uint64_t most = blocks_->limits().payload_bytes;
    if (packet.payload_bytes > most)
        fail("impl: " + config_.impl + " is built for packets of " + std::to_string(most) + " bytes, one has " +
             std::to_string(packet.payload_bytes));
    const PacketFlits flits = with_blocks([&] { return blocks_->packetise(whole); });
    if (!read_packet_header(flits.bytes.data(), packet)) fail("the packetiser's flits begin with no header");
    if (packet.payload_bytes != whole.payload_bytes || flits.marks.size() != format.flits(packet.payload_bytes)) {
        fail("the packetiser made " + std::to_string(flits.marks.size()) + " flits, the network counts " +
             std::to_string(format.flits(whole.payload_bytes)));
    }
    if (!values || packet.values.empty()) return;
    std::memcpy(packet.values.data(), flits.bytes.data() + format.header_bytes, packet.values.size());
    payload.set_data_ptr(packet.values.data());
}

}  // namespace switchyard::hw
