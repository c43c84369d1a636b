// SPDX-License-Identifier: Apache-2.0
// Networks whose experts are on several devices: how they are divided, where their cells go, placements from files.
#include <algorithm>
#include <functional>

#include <boost/algorithm/string/replace.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/brainstorm/expert_exchange.h"
#include "switchyard/sw_scheduler/brainstorm/expert_parts.h"
#include "switchyard/sw_scheduler/brainstorm/router_placement.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using namespace switchyard::sched::brainstorm;

namespace {

constexpr const char* kExperts = "testbenches/data/experts.yaml";

DynGraph graph_of(const ModelLayers& layers) {
    const ScratchFolder folder("switchyard-test");
    write_file(to_yaml(layers), folder.file("part.yaml"));
    return read_model(folder.file("part.yaml")).graph;
}

/// The message with which `body` is refused, without the folder of `file`.
std::string refusal(const std::string& file, const std::function<void()>& body) {
    try {
        body();
    } catch (const InputError& error) {
        std::string message = error.what();
        boost::replace_all(message, file, "file.yaml");
        return message;
    }
    return "";
}

std::string division_refusal(const std::string& text) {
    const ScratchFolder folder("switchyard-test");
    const std::string file = folder.file("model.yaml");
    write_file(text, file);
    const Model model = read_model(file);
    return refusal(file, [&] { ExpertParts(file, model); });
}

std::string with_text(const std::string& from, const std::string& to) {
    std::string text = read_file(kExperts, 1 << 20);
    REQUIRE(text.find(from) != std::string::npos);
    boost::replace_first(text, from, to);
    return text;
}

std::string placement_refusal(const std::string& text) {
    const ScratchFolder folder("switchyard-test");
    const std::string file = folder.file("placement.yaml");
    write_file(text, file);
    return refusal(file, [&] { read_placement(file, {{"experts", 4}}, 2); });
}

BatchRouting batch_of(const std::vector<std::size_t>& experts) {
    BatchRouting routes{static_cast<std::uint32_t>(experts.size()), {{}}};
    for (const std::size_t expert : experts) routes.masks[0].push_back(std::uint64_t{1} << expert);
    return routes;
}

}  // namespace

TEST_CASE("a network with experts is divided in front of and behind them", "[brainstorm][experts]") {
    const Model model = read_model(kExperts);
    const ExpertParts parts(kExperts, model);
    REQUIRE(parts.layers().size() == 1);
    const ExpertLayer& layer = parts.layers()[0];
    CHECK(layer.router.name == "experts");
    CHECK(layer.experts() == 8);
    CHECK(layer.cell.bytes() == 2 * 32);
    CHECK(layer.result.bytes() == 2 * 48);

    REQUIRE(parts.between().size() == 2);
    REQUIRE(parts.between()[0]);
    const DynGraph front = graph_of(*parts.between()[0]);
    CHECK(front.switches.empty());
    CHECK(front.batch_inputs == 32);
    CHECK(front.total_macs_per_sample() == 24 * 32 + 32 * 8);
    REQUIRE(parts.between()[1]);
    const DynGraph back = graph_of(*parts.between()[1]);
    CHECK(back.input.channels == 48);
    CHECK(back.find_operator("mixed") >= 0);  // its relu
    CHECK(back.total_macs_per_sample() == 48 * 10);

    const DynGraph some = graph_of(parts.on_device(0, {1, 6}, 48));
    CHECK(some.batch_inputs == 48);
    CHECK(some.input.channels == 32);
    REQUIRE(some.switches.size() == 1);
    CHECK(some.switches[0].branches == 3);
    CHECK(some.switches[0].sinks == std::vector<unsigned>{2});
    REQUIRE(some.outputs.size() == 2);
    const auto path_of = [&](const char* name) {
        return some.operators[static_cast<std::size_t>(some.find_operator(name))].path;
    };
    CHECK(path_of("up1") == BranchPath{{0, 0}});
    CHECK(path_of("down6") == BranchPath{{0, 1}});
    // Two experts, and the gate that stands for the index lists: one channel of the cell, three outputs.
    CHECK(some.total_macs_per_sample() == 2 * (32 * 64 + 64 * 48) + 3);

    // All parts together have the network's weights, but for those gates.
    std::uint64_t weights = front.total_weight_bytes() + back.total_weight_bytes();
    for (const std::vector<std::size_t>& local : {std::vector<std::size_t>{0, 1, 2, 3, 4}, {5, 6, 7}})
        weights += graph_of(parts.on_device(0, local, 16)).total_weight_bytes() - 2 * (local.size() + 1);
    CHECK(weights == model.graph.total_weight_bytes());
}

TEST_CASE("networks whose experts have no device of their own are refused with one line", "[brainstorm][experts]") {
    CHECK(division_refusal("name: skip\nbatch: 4\ninput: {channels: 8}\nlayers:\n"
                           "  - {name: a, kind: matmul, from: input, out_channels: 8}\n"
                           "  - {name: g, kind: matmul, out_channels: 1}\n"
                           "  - {name: s, kind: switch, from: a, gate: g}\n"
                           "  - {name: b, kind: matmul, from: s.1, out_channels: 8}\n"
                           "  - {name: m, kind: merge, from: [s.0, b]}\n") ==
          "file.yaml:9: layers.m: expected inputs that layers of experts compute, found \"s.0\"");
    CHECK(division_refusal(read_file("testbenches/data/static_chain.yaml", 1 << 20)) ==
          "file.yaml: layers: expected a switch with experts to place, found none");
    CHECK(division_refusal(
              with_text("{name: head, kind: matmul, out_channels: 10}",
                        "{name: side, kind: matmul, from: embed, out_channels: 48}\n"
                        "  - {name: head, kind: matmul, from: mixed, out_channels: 48, fused: [{add: side}]}")) ==
          "file.yaml:16: layers.head: expected inputs behind the experts, as this layer is, found \"side\"");
}

namespace {

/// Two layers of four experts each, a layer between them and one behind them; `first` and `second` are keys of the
/// switches, `mode` of both merges.
std::string chain(const std::string& first, const std::string& second, const std::string& mode = "exclusive",
                  const std::string& routing = "zipf: 0.5") {
    return "name: chain\nbatch: 16\ninput: {channels: 24}\ntemplates:\n  expert:\n"
           "    - {name: <s>up<e>, kind: matmul, from: <s>.<e>, out_channels: 64}\n"
           "    - {name: <s>down<e>, kind: matmul, out_channels: 48}\nlayers:\n"
           "  - {name: embed, kind: matmul, from: input, out_channels: 32}\n"
           "  - {name: ga, kind: matmul, from: embed, out_channels: 4}\n"
           "  - {name: a, kind: switch, from: embed, gate: ga, " +
           first +
           "}\n"
           "  - {use: expert, with: {s: a, e: 0..3}}\n"
           "  - {name: ma, kind: merge, mode: " +
           mode +
           ", from: [adown0, adown1, adown2, adown3], fused: [relu]}\n"
           "  - {name: mid, kind: matmul, from: ma, out_channels: 40}\n"
           "  - {name: b, kind: switch, from: mid, " +
           second +
           "}\n"
           "  - {use: expert, with: {s: b, e: 0..3}}\n"
           "  - {name: mb, kind: merge, mode: " +
           mode +
           ", from: [bdown0, bdown1, bdown2, bdown3]}\n"
           "  - {name: head, kind: matmul, from: mb, out_channels: 10}\n"
           "routing: {seed: 4, " +
           routing + "}\n";
}

ExpertParts parts_of(const std::string& text, const std::vector<std::size_t>& results = {}) {
    const ScratchFolder folder("switchyard-test");
    const std::string file = folder.file("model.yaml");
    write_file(text, file);
    return ExpertParts(file, read_model(file), results);
}

}  // namespace

TEST_CASE("a chain of layers of experts is divided at each of them", "[brainstorm][experts]") {
    const ExpertParts parts = parts_of(chain("branches: 4", "router: {kind: hash, branches: 4}"));
    REQUIRE(parts.layers().size() == 2);
    CHECK(parts.layers()[0].router.name == "a");
    CHECK(parts.layers()[1].router.name == "b");
    CHECK(parts.layers()[1].cell.bytes() == 2 * 40);
    CHECK(parts.layers()[1].result.bytes() == 2 * 48);
    REQUIRE(parts.between().size() == 3);
    CHECK(graph_of(*parts.between()[0]).total_macs_per_sample() == 24 * 32 + 32 * 4);
    const DynGraph middle = graph_of(*parts.between()[1]);
    CHECK(middle.name == "chain.middle1");
    CHECK(middle.input.channels == 48);
    CHECK(middle.find_operator("ma") >= 0);  // its relu
    CHECK(middle.total_macs_per_sample() == 48 * 40);
    // The router of the second layer reads numbers of two bytes, which the host writes, and gives masks.
    CHECK(middle.find_operator("b.numbers") >= 0);
    CHECK(batch_input_bytes(middle) == middle.batch_samples() * (2 * 48 + 2));
    CHECK(batch_output_bytes(middle) == middle.batch_samples() * (2 * 40 + 2));
    const DynGraph front = graph_of(*parts.between()[0]);
    CHECK(batch_input_bytes(front) == front.batch_samples() * 2 * 24);
    CHECK(graph_of(*parts.between()[2]).total_macs_per_sample() == 48 * 10);
    const DynGraph experts = graph_of(parts.on_device(1, {1, 3}, 32));
    CHECK(experts.input.channels == 40);
    CHECK(experts.find_operator("bup3") >= 0);
    CHECK(experts.find_operator("aup3") < 0);

    // A router that chooses by number on what the experts before give: its numbers alone are in front of it.
    std::string bare = chain("branches: 4", "router: {kind: task, branches: 4}");
    boost::replace_first(bare, "from: mid, router", "from: ma, router");
    boost::replace_first(bare, "fused: [relu]}\n  - {name: mid, kind: matmul, from: ma, out_channels: 40}\n", "}\n");
    boost::replace_first(bare, "adown3], }", "adown3]}");
    const ExpertParts without = parts_of(bare);
    REQUIRE(without.between()[1]);
    CHECK(without.between()[1]->layers.size() == 1);
    const DynGraph numbers = graph_of(*without.between()[1]);
    CHECK(batch_output_bytes(numbers) == numbers.batch_samples() * 2);
}

TEST_CASE("results of several experts are added up in the part behind them", "[brainstorm][experts]") {
    const std::string top2 = "router: {kind: top_k, branches: 4, k: 2}";
    std::string text = chain(top2, "gate: gb, " + top2, "sum", "keep: 2, zipf: 0.5");
    boost::replace_first(text, "  - {name: b, kind",
                         "  - {name: gb, kind: matmul, out_channels: 4}\n  - {name: b, kind");
    const ExpertParts parts = parts_of(text, {2, 2});
    REQUIRE(parts.between()[1]);
    const DynGraph middle = graph_of(*parts.between()[1]);
    CHECK(middle.input.channels == 2 * 48);
    CHECK(middle.find_operator("ma.result0") >= 0);
    const Operator& sum = middle.operators[static_cast<std::size_t>(middle.find_operator("ma"))];
    CHECK(sum.output().channels == 48);
    CHECK(sum.fused == std::vector<FusedStep>{FusedStep::add, FusedStep::relu});
    REQUIRE(sum.inputs.size() == 2);
    CHECK(sum.inputs[0].group == 1);
    const DynGraph back = graph_of(*parts.between()[2]);
    CHECK(back.input.channels == 2 * 48);
    CHECK(back.find_operator("mb") >= 0);
}

TEST_CASE("a sample that goes to several experts is a cell for each, one that is dropped none",
          "[brainstorm][experts]") {
    BatchRouting own{3, {{0b1, 0b1, 0b1}, {0b0101, 0, 0b1010}}};
    CHECK(experts_of(own, 1) == std::vector<std::size_t>{0, 2, 1, 3});
    const DeviceRoutes batch{own, own};
    const Placement placement{0, 0, 1, 1};
    CHECK(cells_between(batch, placement, 1) == CellCounts{{2, 2}, {2, 2}});
    CHECK(max_experts({batch}, 1) == 2);
    CHECK(max_experts({batch}, 0) == 1);
    CHECK(routes_on_device(batch, placement, 1, 6, 1).masks[0] == std::vector<std::uint64_t>{1, 2, 1, 2, 4, 4});
}

TEST_CASE("cells go to the devices of their experts and are numbered by them", "[brainstorm][experts]") {
    // Experts 0 and 3 on device 1, 1 and 2 on device 0.
    const Placement placement{1, 0, 0, 1};
    const DeviceRoutes batch{batch_of({0, 1, 2, 3, 3}), batch_of({3, 3, 1, 0, 0})};
    CHECK(cells_between(batch, placement) == CellCounts{{2, 3}, {1, 4}});
    CHECK(arriving_cells(cells_between(batch, placement), 1) == 7);
    CHECK(experts_on(placement, 1) == std::vector<std::size_t>{0, 3});
    CHECK(cells_by_expert({batch, batch}, 4) == std::vector<std::vector<std::uint64_t>>{{2, 2, 2, 4}, {4, 2, 0, 4}});
    // Bit 0: expert 0, bit 1: expert 3, bit 2: not there.
    CHECK(routes_on_device(batch, placement, 1, 8).masks[0] == std::vector<std::uint64_t>{1, 2, 2, 2, 2, 1, 1, 4});
    CHECK_THROWS_AS(routes_on_device(batch, placement, 1, 6), std::invalid_argument);
    // The most cells of a device for an expert are 2, and a device has two experts.
    CHECK(padded_pair_cells(batch, 4) == 4);
    CHECK(deal_batches({batch_of({0}), batch_of({1}), batch_of({2})}, 2).size() == 1);
}

TEST_CASE("placements of a router: by load, and from where its cells are", "[brainstorm][experts]") {
    CHECK(block_placement(5, 2) == Placement{0, 0, 0, 1, 1});
    CHECK(placement_by_load({9, 1, 5, 6}, 2, true) == Placement{0, 0, 1, 1});
    CHECK(placement_by_load({9, 1, 5, 6}, 2, false) == Placement{0, 1, 1, 0});
    // Device 0 has cells for experts 1 and 3, device 1 for 0 and 2: nothing needs to cross.
    CHECK(annealed_router_placement({{0, 5, 0, 5}, {5, 0, 5, 0}}) == Placement{1, 0, 1, 0});
}

TEST_CASE("a placement from a file", "[brainstorm][experts][bad]") {
    const ScratchFolder folder("switchyard-test");
    const std::string file = folder.file("placement.yaml");
    write_file("devices: 2\nrouters:\n  b: [1, 0]\n  a: [0, 1, 1]\n", file);
    CHECK(read_placement(file, {{"a", 3}, {"b", 2}}, 2) == std::vector<Placement>{{0, 1, 1}, {1, 0}});

    CHECK(placement_refusal("devices: 4\nrouters: {experts: [0, 0, 1, 1]}\n") ==
          "file.yaml:1: devices: expected the 2 devices of the platform, found 4");
    CHECK(placement_refusal("devices: 2\nrouters:\n  experts: [0, 0, 0, 1]\n") ==
          "file.yaml:3: routers.experts: branch 2: expected at most 2 of 4 branches on device 0, found more");
    CHECK(placement_refusal("devices: 2\nrouters:\n  experts:\n    - 0\n    - 2\n    - 1\n    - 1\n") ==
          "file.yaml:5: routers.experts: branch 1: expected a device from 0 to 1, found \"2\"");
    CHECK(placement_refusal("devices: 2\nrouters:\n  experts: [0, 1, 1]\n") ==
          "file.yaml:3: routers.experts: expected the devices of 4 branches, found 3");
    CHECK(placement_refusal("devices: 2\nrouters:\n  experts: [0, 1, 1, 0, 0]\n") ==
          "file.yaml:3: routers.experts: expected at most 4 branches, found more");
    CHECK(placement_refusal("devices: 2\nrouters:\n  experts: 1\n") ==
          "file.yaml:3: routers.experts: expected a list of the device of each branch, found none");
    CHECK(placement_refusal("devices: 2\nrouters:\n  expert: [0, 1, 1, 0]\n") ==
          "file.yaml:3: routers.experts: expected a value, found nothing");
    CHECK(placement_refusal("devices: 2\nrouters:\n  experts: [0, 1, 1, 0]\n  more: [0]\n") ==
          "file.yaml:4: routers.more: expected a router of the network, found more");
}
