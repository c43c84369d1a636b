// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/routing.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/network_interface/index_lists.h"
#include "switchyard/tlm/rtl_fault.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

Routing::Routing(const sc_core::sc_object& module, const NetworkInterfaceConfig& config,
                 const RoutingBlocksFactory& make)
    : module_(module), config_(config) {
    try {
        blocks_ = make(config.impl, config.packet_format, module.name());
    } catch (const std::invalid_argument& error) {
        fail(error.what());
    }
}

void Routing::fail(const std::string& message) const {
    throw ModelError(module_, message);
}

/// `call()`, whose RtlFault becomes the module's ModelError.
template <class Call>
auto Routing::with_blocks(Call&& call) {
    try {
        return call();
    } catch (const RtlFault& fault) {
        fail(fault.what());
    } catch (const std::invalid_argument& fault) {  // of SampleSet
        fail(fault.what() + blocks_->evidence());
    }
}

void Routing::check(const TileProgram& program) const {
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
            fail(fmt::format("impl: expected at most {} {}, for which {} has been built, found {} in the program", max,
                             what, config_.impl, wanted));
    };
    const RoutingLimits limits = blocks_->limits();
    check(branches, limits.branches, "branches of a switch");
    check(sources, limits.sources, "sources of a merge");
    check(samples, limits.samples, "samples of a batch");
}

void Routing::check_mask(std::uint64_t mask) const {
    const unsigned max = blocks_->limits().branches;
    if (max < 64 && mask >> max != 0)
        fail(
            fmt::format("impl: expected routing masks of at most {} branches, for which {} has been built, found {:#x}",
                        max, config_.impl, mask));
}

std::vector<SampleSet> Routing::split(const SampleSet& samples, const std::vector<std::uint64_t>& masks) {
    std::vector<SampleSet> lists;
    with_blocks([&] {
        for (std::vector<std::uint32_t>& ids : blocks_->split(samples.ids(), masks)) lists.emplace_back(std::move(ids));
    });
    return lists;
}

std::shared_ptr<const MergedSamples> Routing::merge(const RoutingBlocks::Lists& sources) {
    return with_blocks([&] { return std::make_shared<const MergedSamples>(blocks_->merge(sources)); });
}

SampleIndexListPtr Routing::united(const std::vector<SampleIndexListPtr>& index_lists) {
    return with_blocks([&] { return hw::united(index_lists, *blocks_); });
}

void Routing::check_flits(const PacketBytes& whole, const PacketFlits& flits) const {
    const PacketFormat& format = config_.packet_format;
    const auto wrong = [this](const std::string& what) { fail("the packetiser: " + what + blocks_->evidence()); };
    const std::size_t count = flits.marks.size(), expected = format.flits(whole.payload_bytes);
    if (count != expected || flits.bytes.size() != count * format.link_bytes)
        wrong("flit_valid: it made " + std::to_string(count) + " flits, the network counts " +
              std::to_string(expected));
    for (std::size_t i = 0; i < count; ++i) {
        const PacketFlits::Mark& mark = flits.marks[i];
        const bool head = i == 0, tail = i + 1 == count;
        if (mark.head != head || mark.tail != tail || mark.control != whole.control)
            wrong("flit " + std::to_string(i) + " of " + std::to_string(count) + " is marked wrong: " +
                  (mark.head != head   ? "flit_head"
                   : mark.tail != tail ? "flit_tail"
                                       : "flit_vc"));
    }
    for (std::size_t i = 0; i < whole.header.size(); ++i)
        if (flits.bytes[i] != whole.header[i]) wrong("flit: byte " + std::to_string(i) + " of the header has changed");
}

void Routing::packetise(::tlm::tlm_generic_payload& payload, const PacketHeaderFields& fields) {
    PacketExtension& packet = fields.packet;
    const PacketFormat& format = config_.packet_format;
    const bool values = packet.has_values && packet.values.size() == packet.payload_bytes;
    PacketBytes whole;
    whole.header = packet_header(fields);
    whole.header.resize(format.header_bytes);
    whole.payload_bytes = packet.payload_bytes;
    whole.payload = values ? packet.values.data() : nullptr;
    whole.control = packet.traffic == TrafficClass::control;
    const std::uint64_t max = blocks_->limits().payload_bytes;
    if (packet.payload_bytes > max)
        fail(fmt::format("impl: expected packets of at most {} bytes, for which {} has been built, found {}", max,
                         config_.impl, packet.payload_bytes));
    const PacketFlits flits = with_blocks([&] { return blocks_->packetise(whole); });
    check_flits(whole, flits);
    // Only what the check has found to be the header that went in is read.
    if (!read_packet_header(flits.bytes.data(), fields))
        fail(fmt::format("expected a packet header in the packetiser's first flit, found {:02x}",
                         fmt::join(whole.header, " ")));
    if (!values || packet.values.empty()) return;
    std::memcpy(packet.values.data(), flits.bytes.data() + format.header_bytes, packet.values.size());
    payload.set_data_ptr(packet.values.data());
}

}  // namespace switchyard::hw
