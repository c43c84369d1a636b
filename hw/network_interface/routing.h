// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/network_interface/interface_config.h"
#include "switchyard/hw/network_interface/packet_header.h"
#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"

namespace switchyard::hw {

/// The exchangeable blocks at work: RoutingBlocks behind the switch, in front of a merge and at the router's port. What
/// the blocks refuse is the module's ModelError.
class Routing {
public:
    Routing(const sc_core::sc_object& module, const NetworkInterfaceConfig& config, const RoutingBlocksFactory& make);

    /// Refuses a program that the blocks are not built for.
    void check(const TileProgram& program) const;
    /// The samples of each branch.
    std::vector<SampleSet> split(const SampleSet& samples, const std::vector<std::uint64_t>& masks);
    /// Refuses a mask with branches that the blocks are not built for.
    void check_mask(std::uint64_t mask) const;
    std::shared_ptr<const MergedSamples> merge(const RoutingBlocks::Lists& sources);
    SampleIndexListPtr united(const std::vector<SampleIndexListPtr>& index_lists);
    /// As RtlPart::evidence(), of the blocks.
    std::string evidence() const { return blocks_->evidence(); }
    bool packetises() const { return blocks_->packetises(); }
    /// Through the packetiser: the packet is what its flits hold.
    void packetise(::tlm::tlm_generic_payload& payload, const PacketHeaderFields& fields);

private:
    template <class Call>
    auto with_blocks(Call&& call);
    [[noreturn]] void fail(const std::string& message) const;
    /// That the flits are those of `whole`, but for its payload.
    void check_flits(const PacketBytes& whole, const PacketFlits& flits) const;

    const sc_core::sc_object& module_;
    NetworkInterfaceConfig config_;
    std::unique_ptr<RoutingBlocks> blocks_;
};

/// An edge whose units a merge brings together.
inline bool is_merged(const Edge& edge) {
    return edge.role == OperandRole::input && edge.path != EdgePath::weights && !carries_decisions(edge.path);
}

}  // namespace switchyard::hw
