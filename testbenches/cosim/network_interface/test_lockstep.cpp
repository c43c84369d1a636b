// SPDX-License-Identifier: Apache-2.0
#include <Vmerge_reorder_takes_one.h>
#include <Vpacketiser_no_carry.h>
#include <Vswitch_splitter_first_branch.h>

#include <cstdio>
#include <filesystem>
#include <numeric>

#include "switchyard/rtl/network_interface/lockstep_routing_blocks.h"
#include "switchyard/rtl/network_interface/verilated_routing_blocks.h"
#include "switchyard/testbenches/cosim/dispatcher/fst_changes.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/network_interface/interface_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::EndsWith;

namespace {

using Mutants =
    rtl::VerilatedRoutingBlocks<Vswitch_splitter_first_branch, Vmerge_reorder_takes_one, Vpacketiser_no_carry, true>;

InterfaceBlocks mutants(const std::string& impl) {
    return {impl,
            [](const std::string& name, const PacketFormat& format,
               const std::string& module) -> std::unique_ptr<hw::RoutingBlocks> {
                if (name == "rtl") return std::make_unique<Mutants>(format, module + ".rtl.fst");
                if (name == "unchecked") return std::make_unique<Mutants>(format, "", false);
                return std::make_unique<rtl::LockstepRoutingBlocks>(
                    format, module, [format](const std::string& waveform) {
                        return std::make_unique<Mutants>(format, waveform, false);
                    });
            }};
}

/// The message with which the network interface ends the simulation.
template <class Run>
std::string ended(Run&& run) {
    try {
        run();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

/// The same out of a process, which SystemC reports.
template <class Run>
std::string process_ended(Run&& run) {
    const ExpectReport uncaught("uncaught exception");
    try {
        run();
    } catch (const sc_core::sc_report& report) {
        return report.get_msg();
    }
    return "";
}

void check_waveform(const std::string& file) {
    CHECK(fst_changes(file).at("clk_i") > 4);
    CHECK(std::remove(file.c_str()) == 0);
}

/// Samples 0 to 3, of which the last two take both branches.
void pass_switch(InterfaceBench& bench) {
    bench.open(0);
    bench.output(0, whole(0, 4));
    bench.arrive(masks(0, {0, 1, 2, 3}, {1, 2, 3, 3}));
    bench.run();
}

/// Operator 2 on tile 0 merges what operators 0 and 1, on tiles 1 and 2, have of a switch in front of both.
TileProgram merging() {
    TileProgram program;
    program.operators = {tile_operator(2, {0, 1}, {})};
    program.placements = {placement(0, {1}), placement(1, {2}), placement(2, {0})};
    program.placements[2].shape.kind = OpKind::merge;
    program.edges = {edge(0, 0, 2), edge(1, 1, 2)};
    program.edges[0].pops = program.edges[1].pops = 1;
    return program;
}

/// A source's samples of unit 0 arrive, 16 bytes each.
void arrive(InterfaceBench& bench, std::uint16_t source, std::vector<std::uint32_t> ids) {
    const auto bytes = 16 * ids.size();
    InterfaceBench::Extensions announced =
        probe(0, std::make_shared<const SampleIndexList>(SampleIndexList{SampleSet(std::move(ids)), whole(0, 4)}));
    InterfaceBench::Extensions values = data(0, bytes);
    announced.message.edge = values.message.edge = source;
    bench.arrive(announced);
    bench.run();
    bench.arrive(values);
    bench.run();
}

void send_profile(InterfaceBench& bench) {
    InterfaceCommand command;
    command.kind = InterfaceCommand::Kind::send_profile;
    command.bytes.resize(300);
    std::iota(command.bytes.begin(), command.bytes.end(), std::uint8_t{1});
    bench.tell(command);
}

}  // namespace

SIM_TEST("network interface lockstep: a sample that the switch loses ends the simulation", "[network_interface]") {
    InterfaceBench bench("lost", switching(), mutants("lockstep"));
    CHECK_THAT(process_ended([&] { pass_switch(bench); }),
               EndsWith("s: lost.interface: lockstep: unit 1 of the switch splitter: sample 1 of branch 1 differs. "
                        "Model: 2. RTL: the end; waveform: lost.interface.lockstep.fst"));
    check_waveform("lost.interface.lockstep.fst");
}

SIM_TEST("network interface lockstep: a sample that the merge brings twice ends the simulation",
         "[network_interface]") {
    InterfaceBench bench("twice", merging(), mutants("lockstep"));
    bench.open(0);
    arrive(bench, 0, {0, 2});
    CHECK_THAT(process_ended([&] {
                   arrive(bench, 1, {1, 2, 3});
               }),
               EndsWith("s: twice.interface: lockstep: unit 1 of the merge: sample 3 differs. Model: 3. RTL: 2; "
                        "waveform: twice.interface.lockstep.fst"));
    check_waveform("twice.interface.lockstep.fst");
}

SIM_TEST("network interface lockstep: a flit with a wrong byte ends the simulation", "[network_interface]") {
    InterfaceBench bench("byte", switching(), mutants("lockstep"));
    // Of 192 bytes the first flit has 16 of header, so the second begins with the end of the first word.
    CHECK_THAT(ended([&] { send_profile(bench); }),
               EndsWith("s: byte.interface: lockstep: packet 1 of the packetiser: byte 0 of flit 1 differs. "
                        "Model: 0xb1. RTL: 0x01; waveform: byte.interface.lockstep.fst"));
    check_waveform("byte.interface.lockstep.fst");
}

TEST_CASE("network interface lockstep: a block that does not end is a difference", "[network_interface]") {
    struct Stuck : hw::RoutingModel {
        MergedSamples merge(const Lists&) override { throw RtlFault("the merge has not ended"); }
    };
    rtl::LockstepRoutingBlocks blocks({}, "stuck", [](const std::string&) { return std::make_unique<Stuck>(); });
    CHECK(blocks.split({3}, {1}).front() == std::vector<std::uint32_t>{3});
    CHECK_THROWS_WITH(blocks.merge({{3}}), "lockstep: unit 1 of the merge: the merge has not ended");
}

SIM_TEST("network interface lockstep: leaves no file when there is no difference", "[network_interface]") {
    {
        InterfaceBench bench("same", switching());
        pass_switch(bench);
        send_profile(bench);
        CHECK(bench.sent(MessageKind::probe).size() == 2);
    }
    CHECK(!std::filesystem::exists("same.interface.lockstep.fst"));
}

SIM_TEST("network interface RTL: samples that cannot be those that went in end the simulation", "[network_interface]") {
    InterfaceBench split("lost", switching(), mutants("rtl"));
    CHECK_THAT(
        process_ended([&] { pass_switch(split); }),
        EndsWith("0 s: lost.interface: the switch splitter in RTL: branch_id is wrong: sample 2 against branch 1; "
                 "waveform: lost.interface.rtl.fst"));
    check_waveform("lost.interface.rtl.fst");
}

SIM_TEST("network interface RTL: a sample that the merge brings twice ends the simulation, without a model",
         "[network_interface]") {
    InterfaceBench bench("twice", merging(), mutants("rtl"));
    bench.open(0);
    arrive(bench, 0, {0, 2});
    CHECK_THAT(
        process_ended([&] {
            arrive(bench, 1, {1, 2, 3});
        }),
        EndsWith("s: twice.interface: the merge in RTL: sample_id is wrong: sample 2 against the order; waveform: "
                 "twice.interface.rtl.fst"));
    check_waveform("twice.interface.rtl.fst");
}

SIM_TEST("network interface RTL: what the blocks make of a unit or packet is what the chip gets",
         "[network_interface]") {
    InterfaceBench bench("used", switching(), mutants("unchecked"));
    pass_switch(bench);
    const auto probes = bench.sent(MessageKind::probe);
    REQUIRE(probes.size() == 2);
    CHECK(probes[0].message.index_list->samples == SampleSet({0, 2, 3}));
    CHECK(probes[1].message.index_list->samples == SampleSet({1}));  // 2 and 3 went to the first branch alone
    send_profile(bench);
    const auto packets = bench.sent(MessageKind::config);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0].packet.values.at(175) == 176);
    CHECK(packets[0].packet.values.at(176) == 1);
}

SIM_TEST("network interface RTL: what it was not built for is refused in a line", "[network_interface]") {
    const InterfaceBlocks blocks{"rtl", &rtl::make_routing_blocks};
    TileProgram wide = switching();
    wide.edges[1].branch = 16;
    CHECK_THAT(ended([&] { InterfaceBench("wide", wide, blocks); }),
               EndsWith("wide.interface: impl: expected at most 16 branches of a switch, for which rtl has been built, "
                        "found 17 in the program"));
    TileProgram large = switching();
    large.placements[0].unit_samples = 40000;
    large.placements[0].units = 2;
    CHECK_THAT(ended([&] { InterfaceBench("large", large, blocks); }),
               EndsWith("at most 65536 samples of a batch, for which rtl has been built, found 80000 in the program"));
    TileProgram many = merging();
    for (std::uint16_t id = 2; id < 17; ++id) {
        many.edges.push_back(edge(id, 0, 2));
        many.operators[0].in_edges.push_back(id);
    }
    CHECK_THAT(ended([&] { InterfaceBench("many", many, blocks); }),
               EndsWith("at most 16 sources of a merge, for which rtl has been built, found 17 in the program"));
    InterfaceBench bench("mask", switching(), {"lockstep", &rtl::make_routing_blocks});
    bench.open(0);
    bench.output(0, whole(0, 4));
    bench.arrive(masks(0, {0, 1, 2, 3}, {1, 2, 3, 1 << 16}));
    CHECK_THAT(
        process_ended([&] { bench.run(); }),
        EndsWith("mask.interface: impl: expected routing masks of at most 16 branches, for which lockstep has been "
                 "built, found 0x10000"));
}
