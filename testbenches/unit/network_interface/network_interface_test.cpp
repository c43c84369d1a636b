// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/network_interface/interface_bench.h"

using namespace switchyard;
using namespace switchyard::hw;
using namespace switchyard::testing;

SIM_TEST("a probe is acknowledged when a slot is free, and not before", "[network_interface]") {
    InterfaceBench fixture("fixture", consumer());
    fixture.open(0);
    fixture.arrive(probe(0, whole(0, 4)));
    fixture.arrive(probe(1, whole(4, 8)));
    fixture.run();
    REQUIRE(fixture.sent(MessageKind::acknowledge).size() == 1);
    CHECK(fixture.sent(MessageKind::acknowledge)[0].message.unit == 0);
    fixture.arrive(data(0, 64));
    fixture.run();
    CHECK(fixture.events(InterfaceEvent::Kind::unit_ready) == 1);
    fixture.release(0, 0);
    fixture.run();
    REQUIRE(fixture.sent(MessageKind::acknowledge).size() == 2);
    CHECK(fixture.sent(MessageKind::acknowledge)[1].message.unit == 1);
}

SIM_TEST("a probe for a segment that has not begun here waits for it", "[network_interface]") {
    InterfaceBench fixture("fixture", consumer());
    fixture.arrive(probe(0, whole(0, 4)));
    fixture.run();
    CHECK(fixture.packets.empty());
    fixture.open(0);
    fixture.run();
    CHECK(fixture.sent(MessageKind::acknowledge).size() == 1);
}

SIM_TEST("a probe of another batch waits for that batch", "[network_interface]") {
    InterfaceBench fixture("fixture", consumer());
    fixture.open(0, 6);
    InterfaceBench::Extensions early = probe(0, whole(0, 4));
    early.message.batch = 7;
    fixture.arrive(early);
    fixture.run();
    CHECK(fixture.packets.empty());
    fixture.open(0, 7);
    fixture.run();
    CHECK(fixture.sent(MessageKind::acknowledge).size() == 1);
}

SIM_TEST("bytes beyond the plan stop the simulation", "[network_interface]") {
    InterfaceBench fixture("fixture", consumer());
    fixture.open(0);
    fixture.arrive(probe(0, whole(0, 4)));
    fixture.run();
    CHECK_THROWS_WITH(fixture.arrive(data(0, 66)), Catch::Matchers::ContainsSubstring("expected 64 bytes, found 66"));
}

SIM_TEST("a unit without samples is ready as soon as it is announced", "[network_interface]") {
    InterfaceBench fixture("fixture", consumer());
    fixture.open(0);
    InterfaceBench::Extensions announcement =
        probe(0, std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet(), nullptr}));
    fixture.arrive(announcement);
    fixture.run();
    CHECK(fixture.events(InterfaceEvent::Kind::unit_ready) == 1);
    CHECK(fixture.packets.empty());
}

SIM_TEST("nothing passes a switch before its mask is complete", "[network_interface]") {
    InterfaceBench fixture("fixture", switching());
    fixture.open(0);
    fixture.output(0, whole(0, 4));
    fixture.arrive(masks(0, {0, 1}, {1, 2}));
    fixture.run();
    CHECK(fixture.packets.empty());
    CHECK_THAT(fixture.registry.waits().at(0), Catch::Matchers::ContainsSubstring("routing mask of switch 0"));
    fixture.arrive(masks(0, {2, 3}, {2, 2}));
    fixture.run();
    const auto probes = fixture.sent(MessageKind::probe);
    REQUIRE(probes.size() == 2);
    CHECK(probes[0].packet.destinations == std::vector<Endpoint>{1});
    CHECK(probes[0].message.dyn_dim == 1);
    CHECK(probes[1].packet.destinations == std::vector<Endpoint>{2, 3});
    CHECK(probes[1].message.dyn_dim == 3);
    CHECK(probes[1].message.index_list->samples.ids() == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(fixture.registry.sum("", "switch_0_branch_0_samples") == 1);
    CHECK(fixture.registry.sum("", "switch_0_branch_1_samples") == 3);
}

SIM_TEST("each destination gets its samples once it has acknowledged", "[network_interface]") {
    InterfaceBench fixture("fixture", switching());
    fixture.open(0);
    fixture.output(0, whole(0, 4));
    fixture.arrive(masks(0, {0, 1, 2, 3}, {1, 2, 2, 2}));
    fixture.run();
    CHECK(fixture.sent(MessageKind::data).empty());
    const auto acknowledge = [&fixture](Endpoint source, std::uint16_t of) {
        InterfaceBench::Extensions packet;
        packet.message.kind = MessageKind::acknowledge;
        packet.packet.source = source;
        packet.message.edge = of;
        fixture.arrive(packet);
        fixture.run();
    };
    acknowledge(3, 1);
    REQUIRE(fixture.sent(MessageKind::data).size() == 1);
    CHECK(fixture.sent(MessageKind::data)[0].packet.payload_bytes == 16);  // sample 3: blocks of two samples a tile
    acknowledge(2, 1);
    CHECK(fixture.sent(MessageKind::data)[1].packet.payload_bytes == 32);
    CHECK(fixture.events(InterfaceEvent::Kind::output_sent) == 0);
    acknowledge(1, 0);
    CHECK(fixture.sent(MessageKind::data)[2].packet.payload_bytes == 16);
    CHECK(fixture.events(InterfaceEvent::Kind::output_sent) == 1);
}

SIM_TEST("an empty branch is announced and needs no acknowledge", "[network_interface]") {
    InterfaceBench fixture("fixture", switching());
    fixture.open(0);
    fixture.output(0, std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet(), nullptr}));
    fixture.run();
    const auto probes = fixture.sent(MessageKind::probe);
    REQUIRE(probes.size() == 2);
    CHECK(probes[0].message.dyn_dim == 0);
    CHECK(fixture.events(InterfaceEvent::Kind::output_sent) == 1);
}

SIM_TEST("a sample that takes every branch is sent to every branch", "[network_interface]") {
    InterfaceBench fixture("fixture", switching());
    fixture.open(0);
    fixture.output(0, whole(0, 4));
    fixture.arrive(masks(0, {0, 1, 2, 3}, {3, 3, 3, 3}));
    fixture.run();
    for (const auto& sent : fixture.sent(MessageKind::probe)) CHECK(sent.message.dyn_dim == 4);
    CHECK(fixture.registry.sum("", "switch_0_branch_0_samples") == 4);
    CHECK(fixture.registry.sum("", "switch_0_branch_1_samples") == 4);
}

SIM_TEST("one acknowledge tells all tiles that will send of the free slot", "[network_interface]") {
    TileProgram program = consumer();
    program.placements[0] = placement(0, {1, 2, 3});
    program.placements[0].k_factor = 3;
    program.placements[0].partitions = {{4, 1, 1}};
    InterfaceBench fixture("fixture", std::move(program));
    fixture.open(0);
    fixture.arrive(probe(0, whole(0, 4)));
    fixture.run();
    REQUIRE(fixture.packets.size() == 1);
    CHECK(fixture.packets[0].message.kind == MessageKind::acknowledge);
    CHECK(fixture.packets[0].packet.destinations == std::vector<Endpoint>{1, 2, 3});
}

SIM_TEST("an acknowledge that comes before the output is kept for it", "[network_interface]") {
    InterfaceBench fixture("fixture", switching());
    fixture.open(0);
    for (const Endpoint source : {2, 3}) {
        InterfaceBench::Extensions packet;
        packet.message.kind = MessageKind::acknowledge;
        packet.packet.source = source;
        packet.message.edge = 1;
        fixture.arrive(packet);
    }
    fixture.run();
    fixture.output(0, whole(0, 4));
    fixture.arrive(masks(0, {0, 1, 2, 3}, {2, 2, 2, 2}));
    fixture.run();
    CHECK(fixture.sent(MessageKind::data).size() == 2);
    CHECK(fixture.events(InterfaceEvent::Kind::output_sent) == 1);
}

/// Tile 0 runs operator 1 with three others, two k factors with two tiles each.
TileProgram weighted(std::vector<std::uint16_t> tiles) {
    TileProgram program;
    program.operators = {tile_operator(1, {0}, {})};
    program.placements = {placement(1, std::move(tiles))};
    program.placements[0].k_factor = 2;
    program.edges = {edge(0, kNone, 1)};
    program.edges[0].path = EdgePath::weights;
    program.edges[0].weight_bytes = 512;
    program.edges[0].slice_addresses = {4096, 1 << 20};
    return program;
}

SIM_TEST("weights are asked for once, for all tiles that share a slice", "[network_interface]") {
    InterfaceBench fixture("fixture", weighted({0, 1, 2, 3}));
    InterfaceCommand open;
    open.kind = InterfaceCommand::Kind::open_weights;
    fixture.tell(open);
    fixture.run();
    CHECK(fixture.packets.empty());  // tile 2 has to say that it is ready
    InterfaceBench::Extensions acknowledge;
    acknowledge.message.kind = MessageKind::acknowledge;
    acknowledge.packet.source = 2;
    fixture.arrive(acknowledge);
    fixture.run();
    const auto requests = fixture.sent(MemoryOperation::read);
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].packet.destinations == std::vector<Endpoint>{kFirstMemory});
    CHECK(requests[0].memory.reply_to == std::vector<Endpoint>{0, 2});
    CHECK(requests[0].memory.requested_bytes == 512);
    CHECK(requests[0].address == 4096);
    fixture.arrive(data(0, 512));
    fixture.run();
    CHECK(fixture.events(InterfaceEvent::Kind::weights_ready) == 1);
}

SIM_TEST("without multicast reads each tile asks for its slice", "[network_interface]") {
    TileProgram program = weighted({1, 2, 3, 0});
    program.operators[0].rank = 3;  // of the second slice, not the first to have it
    InterfaceBench fixture("fixture", std::move(program), {}, "unicast");
    InterfaceCommand open;
    open.kind = InterfaceCommand::Kind::open_weights;
    fixture.tell(open);
    fixture.run();
    REQUIRE(fixture.packets.size() == 1);
    CHECK(fixture.packets[0].memory.operation == MemoryOperation::read);
    CHECK(fixture.packets[0].memory.reply_to == std::vector<Endpoint>{0});
    CHECK(fixture.packets[0].address == 1 << 20);
}

/// Tile 0 runs operator 1, which reads a tensor of 16 samples in pieces of two on two interfaces.
TileProgram reader(std::vector<std::uint16_t> tiles) {
    TileProgram program;
    program.operators = {tile_operator(1, {0}, {})};
    program.operators[0].segment = 1;
    program.placements = {placement(1, std::move(tiles), 1), placement(7, {}, kNone)};
    OperatorPlacement& tensor = program.placements[1];
    tensor.units = 1;
    tensor.unit_samples = 16;
    tensor.partitions = {{16, 8, 1}};
    tensor.store = {1000, 64, 10000, 0, 2, 0, 0, 0};
    program.edges = {edge(0, 7, 1)};
    program.edges[0].path = EdgePath::memory;
    return program;
}

SIM_TEST("a tensor in memory is read piece by piece, from the right bank", "[network_interface]") {
    InterfaceBench fixture("fixture", reader({0}));
    fixture.open(1, 3);
    fixture.run();
    const auto requests = fixture.sent(MemoryOperation::read);
    REQUIRE(requests.size() == 2);  // one slot: the first unit only
    CHECK(requests[0].address == 11000);
    CHECK(requests[0].memory.requested_bytes == 32);
    CHECK(requests[1].address == (1 << 20) + 11000);
    CHECK(requests[1].packet.destinations == std::vector<Endpoint>{kFirstMemory + 1});
    fixture.arrive(data(0, 32));
    fixture.arrive(data(0, 32));
    fixture.run();
    CHECK(fixture.events(InterfaceEvent::Kind::unit_ready) == 1);
    fixture.release(0, 0);
    fixture.run();
    REQUIRE(fixture.sent(MemoryOperation::read).size() == 4);
    CHECK(fixture.sent(MemoryOperation::read)[2].address == 11064);
}

TEST_CASE("tiles that need the same bytes of memory wait for each other", "[network_interface]") {
    TileProgram program = reader({0, 5});
    program.placements[0].shape.kind = OpKind::matmul;
    program.placements[0].k_factor = 2;
    program.placements[0].partitions = {{4, 1, 1}};
    InterfaceBench::Extensions acknowledge;
    acknowledge.message.kind = MessageKind::acknowledge;
    acknowledge.packet.source = 5;
    acknowledge.message.batch = 3;
    SECTION("the first one asks once the other has a slot, however early it says so") {
        const bool early = GENERATE(false, true);
        in_child([&] {
            InterfaceBench fixture("fixture", program);
            if (early) fixture.arrive(acknowledge);
            fixture.open(1, 3);
            fixture.run();
            if (!early) {
                CHECK(fixture.packets.empty());
                fixture.arrive(acknowledge);
                fixture.run();
            }
            REQUIRE(fixture.sent(MemoryOperation::read).size() == 2);
            CHECK(fixture.sent(MemoryOperation::read)[0].memory.reply_to == std::vector<Endpoint>{0, 5});
        });
    }
    SECTION("the other one tells the first") {
        program.operators[0].rank = 1;
        program.placements[0].tiles = {5, 0};
        in_child([&] {
            InterfaceBench fixture("fixture", program);
            fixture.open(1, 3);
            fixture.run();
            REQUIRE(fixture.packets.size() == 1);
            CHECK(fixture.packets[0].message.kind == MessageKind::acknowledge);
            CHECK(fixture.packets[0].packet.destinations == std::vector<Endpoint>{5});
        });
    }
    SECTION("without multicast reads each asks for itself") {
        program.operators[0].rank = static_cast<std::uint16_t>(GENERATE(0, 1));
        if (program.operators[0].rank == 1) program.placements[0].tiles = {5, 0};
        in_child([&] {
            InterfaceBench fixture("fixture", program, {}, "unicast");
            fixture.open(1, 3);
            fixture.run();
            REQUIRE(fixture.packets.size() == 2);
            for (const InterfaceBench::Packet& packet : fixture.packets) {
                CHECK(packet.memory.operation == MemoryOperation::read);
                CHECK(packet.memory.reply_to == std::vector<Endpoint>{0});
            }
        });
    }
}
