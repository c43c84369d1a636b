// SPDX-License-Identifier: Apache-2.0
// The exchangeable blocks at work: RoutingBlocks behind the switch, in front of a merge and at the router's port.

#include <algorithm>
#include <cstring>
#include <utility>

#include "switchyard/hw/network_interface/index_lists.h"
#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/network_interface/packet_header.h"

namespace switchyard::hw {

/// `call()`, whose RtlFault becomes the module's ModelError.
template <class Call>
auto NetworkInterface::with_blocks(Call&& call) {
    try {
        return call();
    } catch (const RtlFault& fault) {
        fail(fault.what());
    } catch (const std::invalid_argument& fault) {  // of SampleSet
        fail(fault.what());
    }
}

void NetworkInterface::check_routing(const TileProgram& program) const {
    std::uint64_t branches = 0, sources = 0, samples = 0;
    for (const Edge& edge : program.edges) {
        if (edge.switch_id == kNone) continue;
        branches = std::max<std::uint64_t>(branches, edge.branch + 1U);
        if (edge.partner != kNone) branches = std::max<std::uint64_t>(branches, edge.partner + 1U);
    }
    for (const TileOperator& op : program.operators) {
        if (op.gate_switch != kNone) branches = std::max<std::uint64_t>(branches, op.gate_branches);
        if (program.placement(op.op_id).shape.kind != OpKind::merge) continue;
        std::uint64_t merged = 0;
        for (const std::uint16_t id : op.in_edges) merged += is_merged(program.edge(id)) ? 1 : 0;
        sources = std::max(sources, merged);
    }
    for (const OperatorPlacement& placement : program.placements)
        samples = std::max(samples, std::uint64_t{placement.units} * placement.unit_samples);
    const auto check = [this](std::uint64_t wanted, std::uint64_t max, const char* what) {
        if (wanted > max)
            fail("impl: " + config_.impl + " has been built for at most " + std::to_string(max) + " " + what +
                 ", the program has " + std::to_string(wanted));
    };
    const RoutingLimits limits = blocks_->limits();
    check(branches, limits.branches, "branches of a switch");
    check(sources, limits.sources, "sources of a merge");
    check(samples, limits.samples, "samples of a batch");
}

const NetworkInterface::BranchLists* NetworkInterface::branch_lists(Output& output, std::uint16_t switch_id) {
    const auto known = output.branches.find(switch_id);
    if (known != output.branches.end()) return &known->second;
    const SampleSet& samples = output.index_list->samples;
    const auto found = switches_.find({switch_id, output.unit});
    std::vector<std::uint64_t> masks;
    const unsigned max = blocks_->limits().branches;
    for (const std::uint32_t id : samples.ids()) {
        if (found == switches_.end()) return nullptr;
        const auto mask = found->second.find(id);
        if (mask == found->second.end()) return nullptr;
        masks.push_back(mask->second);
        if (max < 64 && mask->second >> max != 0)
            fail("impl: " + config_.impl + " has been built for at most " + std::to_string(max) +
                 " branches of a switch, a routing mask names more");
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
        sources.push_back(other.units[unit].index_list->samples.ids());
    }
    return with_blocks([&] { return std::make_shared<const MergedSamples>(blocks_->merge(sources)); });
}

SampleIndexListPtr NetworkInterface::united_records(const std::vector<SampleIndexListPtr>& index_lists) {
    return with_blocks([&] { return united(index_lists, *blocks_); });
}

void NetworkInterface::packetise(const Packet& sent) {
    PacketExtension& packet = sent.packet;
    const PacketFormat& format = config_.packet_format;
    const bool values = packet.has_values && packet.values.size() == packet.payload_bytes;
    PacketBytes whole;
    whole.header = packet_header({packet, sent.memory, sent.message});
    whole.header.resize(format.header_bytes);
    whole.payload_bytes = packet.payload_bytes;
    whole.payload = values ? packet.values.data() : nullptr;
    whole.control = packet.traffic == TrafficClass::control;
    const std::uint64_t max = blocks_->limits().payload_bytes;
    if (packet.payload_bytes > max)
        fail("impl: " + config_.impl + " has been built for packets of at most " + std::to_string(max) +
             " bytes, one has " + std::to_string(packet.payload_bytes));
    const PacketFlits flits = with_blocks([&] { return blocks_->packetise(whole); });
    if (!read_packet_header(flits.bytes.data(), {packet, sent.memory, sent.message}))
        fail("the packetiser's flits begin with no header");
    if (packet.payload_bytes != whole.payload_bytes || flits.marks.size() != format.flits(packet.payload_bytes)) {
        fail("the packetiser made " + std::to_string(flits.marks.size()) + " flits, the network counts " +
             std::to_string(format.flits(whole.payload_bytes)));
    }
    if (!values || packet.values.empty()) return;
    std::memcpy(packet.values.data(), flits.bytes.data() + format.header_bytes, packet.values.size());
    sent.payload->set_data_ptr(packet.values.data());
}

}  // namespace switchyard::hw
