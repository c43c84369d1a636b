// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/packet_header.h"
#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::hw;

TEST_CASE("the switch gives each branch the samples whose mask names it, in order", "[routing]") {
    const RoutingBlocks::Lists lists = RoutingModel().split({3, 5, 8, 9}, {1, 0, 3, std::uint64_t{1} << 63});
    REQUIRE(lists.size() == 64);
    CHECK(lists[0] == std::vector<std::uint32_t>{3, 8});
    CHECK(lists[1] == std::vector<std::uint32_t>{8});
    CHECK(lists[2].empty());
    CHECK(lists[63] == std::vector<std::uint32_t>{9});
}

TEST_CASE("the merge brings each sample once, with all sources that have it", "[routing]") {
    const MergedSamples merged = RoutingModel().merge({{4, 7}, {}, {1, 7, 9}});
    CHECK(merged.ids == std::vector<std::uint32_t>{1, 4, 7, 9});
    CHECK(merged.from[0] == std::vector<bool>{false, true, true, false});
    CHECK(merged.from[1] == std::vector<bool>(4, false));
    CHECK(merged.from[2] == std::vector<bool>{true, false, true, true});
    CHECK(RoutingModel().merge({}).ids.empty());
}

TEST_CASE("flits hold header and payload, zeros behind, and say where a packet begins and ends", "[routing]") {
    RoutingModel blocks({8, 4});
    const std::vector<std::uint8_t> payload{1, 2, 3, 4, 5, 6};
    const PacketFlits flits = blocks.packetise({{9, 9, 9, 9}, payload.size(), payload.data(), true});
    CHECK(flits.bytes == std::vector<std::uint8_t>{9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0});
    REQUIRE(flits.marks.size() == 2);
    CHECK(flits.marks[0] == PacketFlits::Mark{true, false, true});
    CHECK(flits.marks[1] == PacketFlits::Mark{false, true, true});
    const PacketFlits short_one = blocks.packetise({{9, 9, 9, 9}, 4, nullptr, false});
    REQUIRE(short_one.marks.size() == 1);
    CHECK(short_one.marks[0] == PacketFlits::Mark{true, true, false});
    CHECK(short_one.bytes == std::vector<std::uint8_t>{9, 9, 9, 9, 0, 0, 0, 0});
}

TEST_CASE("without RTL there is the model alone", "[routing]") {
    CHECK(!make_routing_blocks("packets", {}, "module")->packetises());
    CHECK_THROWS_WITH(
        make_routing_blocks("lockstep", {}, "module"),
        "network_interface.impl: expected an implementation of hw::make_routing_blocks(), found lockstep, which "
        "is RTL; call rtl::make_routing_blocks() of a build with SWITCHYARD_RTL (Switchyard::rtl)");
}

TEST_CASE("a packet's header can be read back, and one that is none cannot", "[routing]") {
    struct Extensions {
        PacketExtension packet;
        MemoryExtension memory;
        AdynaMessage message;
    } sent, read;
    sent.memory.operation = MemoryOperation::write;
    sent.message.kind = MessageKind::data;
    sent.packet.source = 143;
    sent.packet.destinations = {147, 3};
    sent.packet.has_values = read.packet.has_values = true;
    sent.message.edge = 513;
    sent.message.unit = 17;
    sent.packet.payload_bytes = 70000;
    std::vector<std::uint8_t> header = packet_header({sent.packet, sent.memory, sent.message});
    CHECK(header.size() == kPacketHeaderBytes);
    read.packet.destinations = {0, 3};
    const PacketHeaderFields fields{read.packet, read.memory, read.message};
    REQUIRE(read_packet_header(header.data(), fields));
    CHECK(read.memory.operation == MemoryOperation::write);
    CHECK(read.message.kind == MessageKind::data);
    CHECK(read.packet.source == 143);
    CHECK(read.packet.destinations == sent.packet.destinations);
    CHECK(read.message.edge == 513);
    CHECK(read.message.unit == 17);
    CHECK(read.packet.payload_bytes == 70000);
    read.packet.destinations = {0};
    CHECK(!read_packet_header(header.data(), fields));
    read.packet.destinations = {0, 3};
    read.packet.has_values = false;
    CHECK(!read_packet_header(header.data(), fields));
    read.packet.has_values = true;
    header[1] = 0x80 | 5;
    CHECK(!read_packet_header(header.data(), fields));
    header[1] = 0x80;
    header[0] = 99;
    CHECK(!read_packet_header(header.data(), fields));
}
