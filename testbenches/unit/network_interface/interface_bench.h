// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_target_socket.h>

#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/extended_payload.h"
#ifdef SWITCHYARD_TEST_RTL
#include "switchyard/rtl/network_interface/make_routing_blocks.h"
#endif

namespace switchyard::testing {

inline constexpr Endpoint kFirstMemory = 16;
inline constexpr Endpoint kHost = 18;

/// The blocks of the network interfaces that the testbench runs against: the model, or with SWITCHYARD_TEST_RTL the
/// model beside the RTL.
struct InterfaceBlocks {
#ifdef SWITCHYARD_TEST_RTL
    std::string impl = "lockstep";
    hw::RoutingBlocksFactory make = &rtl::make_routing_blocks;
#else
    std::string impl = "packets";
    hw::RoutingBlocksFactory make = &hw::make_routing_blocks;
#endif
};

/// A network interface of tile 0 between a scripted controller and a network that keeps every packet.
class InterfaceBench : public sc_core::sc_module {
public:
    /// A packet's extensions: those that it was sent with, or shall arrive with.
    struct Extensions {
        PacketExtension packet;
        MemoryExtension memory;
        AdynaMessage message;
    };
    struct Packet : Extensions {
        std::uint64_t address = 0;
        sc_core::sc_time at;
    };

    InterfaceBench(const sc_core::sc_module_name& name, TileProgram program, const InterfaceBlocks& blocks = {},
                   const std::string& memory_reads = "multicast")
        : sc_module(name),
          interface("interface", config_of(blocks, memory_reads), {0, {kFirstMemory, kFirstMemory + 1}, kHost, 1 << 20},
                    registry, blocks.make),
          network("network"),
          controller("controller"),
          scratchpad("scratchpad"),
          issue("issue"),
          control("control"),
          eject("eject") {
        interface.noc_out.bind(network);
        interface.controller.bind(controller);
        interface.scratchpad.bind(scratchpad);
        issue.bind(interface.issue);
        control.bind(interface.control);
        eject.bind(interface.noc_in);
        network.register_b_transport(this, &InterfaceBench::keep);
        controller.register_b_transport(this, &InterfaceBench::note);
        scratchpad.register_b_transport(this, &InterfaceBench::accept);
        InterfaceCommand load;
        load.kind = InterfaceCommand::Kind::program;
        load.program = std::make_shared<const TileProgram>(std::move(program));
        tell(load);
    }

    void tell(const InterfaceCommand& command) {
        ExtendedPayload<InterfaceCommand> payload;
        payload.extension() = command;
        send(control, payload.fresh());
    }
    void open(std::uint16_t segment, std::uint32_t batch = 0) {
        InterfaceCommand command;
        command.kind = InterfaceCommand::Kind::open_segment;
        command.segment = segment;
        command.batch = batch;
        tell(command);
    }
    void release(std::uint16_t edge, std::uint16_t unit) {
        InterfaceCommand command;
        command.kind = InterfaceCommand::Kind::release_unit;
        command.edge = edge;
        command.unit = unit;
        tell(command);
    }
    void output(std::uint16_t unit, const SampleIndexListPtr& index_list) {
        ExtendedPayload<SendExtension> payload;
        payload->unit = unit;
        payload->index_list = index_list;
        send(issue, payload.fresh());
    }
    void arrive(const Extensions& packet) {
        PooledPayload payload(pool_);
        payload.packet() = packet.packet;
        payload.extension<MemoryExtension>() = packet.memory;
        payload.extension<AdynaMessage>() = packet.message;
        payload->set_command(::tlm::TLM_WRITE_COMMAND);
        payload->set_data_ptr(bytes_);
        payload->set_data_length(1);
        payload->set_streaming_width(1);
        send(eject, *payload);
    }
    void run() { sc_core::sc_start(10, sc_core::SC_US); }

    /// Packets that are no requests to memory.
    std::vector<Packet> sent(MessageKind kind) const {
        std::vector<Packet> found;
        std::copy_if(packets.begin(), packets.end(), std::back_inserter(found), [kind](const Packet& packet) {
            return packet.memory.operation == MemoryOperation::none && packet.message.kind == kind;
        });
        return found;
    }
    std::vector<Packet> sent(MemoryOperation operation) const {
        std::vector<Packet> found;
        std::copy_if(packets.begin(), packets.end(), std::back_inserter(found),
                     [operation](const Packet& packet) { return packet.memory.operation == operation; });
        return found;
    }
    std::size_t events(InterfaceEvent::Kind kind) const {
        return static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), kind));
    }

    using Initiator = tlm_utils::simple_initiator_socket<InterfaceBench>;

    SimulationRegistry registry;
    hw::NetworkInterface interface;
    tlm_utils::simple_target_socket<InterfaceBench> network, controller, scratchpad;
    Initiator issue, control, eject;
    std::vector<Packet> packets;
    std::vector<InterfaceEvent::Kind> kinds;

private:
    using Payload = ::tlm::tlm_generic_payload;
    static hw::NetworkInterface::Config config_of(const InterfaceBlocks& blocks, const std::string& memory_reads) {
        hw::NetworkInterface::Config config;
        config.impl = blocks.impl;
        config.memory_reads = memory_reads;
        return config;
    }
    static void send(Initiator& socket, Payload& payload) {
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        REQUIRE(payload.is_response_ok());
    }
    void keep(Payload& payload, sc_core::sc_time& delay) {
        Packet packet;
        packet.packet = *payload.get_extension<PacketExtension>();
        packet.memory = *payload.get_extension<MemoryExtension>();
        packet.message = *payload.get_extension<AdynaMessage>();
        packet.address = payload.get_address();
        packet.at = sc_core::sc_time_stamp() + delay;
        packets.push_back(packet);
        delay += sc_core::sc_time(20, sc_core::SC_NS);
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    void note(Payload& payload, sc_core::sc_time&) {
        kinds.push_back(payload.get_extension<InterfaceEvent>()->kind);
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
    void accept(Payload& payload, sc_core::sc_time&) { payload.set_response_status(::tlm::TLM_OK_RESPONSE); }

    AdynaPacketPool pool_{"packets"};
    unsigned char bytes_[1] = {};
};

inline OperatorPlacement placement(std::uint16_t id, std::vector<std::uint16_t> tiles, std::uint16_t segment = 0) {
    OperatorPlacement p;
    p.op_id = id;
    p.segment = segment;
    p.shape.out_channels = p.shape.in_channels = 8;
    p.units = 4;
    p.unit_samples = 4;
    p.partitions = {{4, static_cast<std::uint16_t>(tiles.size()), 1}};
    p.tiles = std::move(tiles);
    return p;
}

inline Edge edge(std::uint16_t id, std::uint16_t source, std::uint16_t destination) {
    Edge e;
    e.id = id;
    e.src_op = source;
    e.dst_op = destination;
    e.channels = 8;
    e.slots = 1;
    e.slot_bytes = 1024;
    return e;
}

inline TileOperator tile_operator(std::uint16_t id, std::vector<std::uint16_t> in, std::vector<std::uint16_t> out) {
    TileOperator op;
    op.op_id = id;
    op.in_edges = std::move(in);
    op.out_edges = std::move(out);
    op.out_slot_bytes = 1024;
    return op;
}

/// Tile 0 runs operator 1, fed by operator 0 on tile 1.
inline TileProgram consumer() {
    TileProgram program;
    program.operators = {tile_operator(1, {0}, {})};
    program.placements = {placement(0, {1}), placement(1, {0})};
    program.edges = {edge(0, 0, 1)};
    return program;
}

/// Tile 0 runs operator 0; switch 0 sends branch 0 to operator 1 on tile 1, branch 1 to operator 2 on tiles 2 and 3.
inline TileProgram switching() {
    TileProgram program;
    program.operators = {tile_operator(0, {}, {0, 1})};
    program.placements = {placement(0, {0}), placement(1, {1}), placement(2, {2, 3})};
    program.edges = {edge(0, 0, 1), edge(1, 0, 2)};
    program.edges[0].switch_id = program.edges[1].switch_id = 0;
    program.edges[1].branch = 1;
    return program;
}

inline SampleIndexListPtr whole(std::uint32_t first, std::uint32_t last) {
    return std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet::range(first, last), nullptr});
}

inline InterfaceBench::Extensions probe(std::uint16_t unit, const SampleIndexListPtr& index_list) {
    InterfaceBench::Extensions packet;
    packet.message.kind = MessageKind::probe;
    packet.packet.source = 1;
    packet.message.unit = unit;
    packet.message.index_list = index_list;
    return packet;
}

inline InterfaceBench::Extensions data(std::uint16_t unit, std::uint64_t bytes) {
    InterfaceBench::Extensions packet;
    packet.message.kind = MessageKind::data;
    packet.packet.source = 1;
    packet.message.unit = unit;
    packet.packet.payload_bytes = bytes;
    return packet;
}

inline InterfaceBench::Extensions masks(std::uint16_t unit, std::vector<std::uint32_t> ids,
                                        std::vector<std::uint64_t> values) {
    InterfaceBench::Extensions packet;
    packet.message.kind = MessageKind::mask;
    packet.packet.source = 5;
    packet.message.unit = unit;
    packet.message.dyn_dim = 4;
    packet.message.mask_samples = std::make_shared<const SampleSet>(SampleSet(std::move(ids)));
    packet.message.masks = std::make_shared<const std::vector<std::uint64_t>>(std::move(values));
    return packet;
}

}  // namespace switchyard::testing
