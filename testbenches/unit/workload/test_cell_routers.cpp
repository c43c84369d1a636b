// SPDX-License-Identifier: Apache-2.0
// Cells and routers of Brainstorm in model files: what they stand for, capacities in generated routes, what is refused.
#include <algorithm>
#include <map>

#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

/// 4 inputs of 8 tokens with 16 channels, four experts. Line 8 is the switch.
std::string model_with(const std::string& how, const std::string& routing, const std::string& mode = "sum",
                       const std::string& gate = "") {
    return "name: t\nbatch: 4\nsamples_per_input: 8\ninput: {channels: 16}\nlayers:\n"
           "  - {name: a, kind: matmul, from: input, out_channels: 16}\n"
           "  - {name: g, kind: matmul, out_channels: 4" +
           gate +
           "}\n"
           "  - {name: s, kind: switch, from: a, gate: g, " +
           how + "}\n" + four_experts(mode) + "routing: {seed: 3, " + routing + "}\n";
}

std::vector<std::uint32_t> loads_of(const BatchRouting& batch) {
    std::vector<std::uint32_t> loads(4);
    for (const std::uint64_t mask : batch.masks.at(0))
        for (std::size_t b = 0; b < 4; ++b) loads[b] += mask >> b & 1;
    return loads;
}

unsigned branches_of(std::uint64_t mask) {
    return static_cast<unsigned>(__builtin_popcountll(mask));
}

constexpr const char* kToken = "cell: {dims: [0, 1], shape: [1, 1]}, ";

}  // namespace

TEST_CASE("routers that a gate computes are switches of the same kind", "[workload][router]") {
    const std::string zipf = "zipf: 1";
    const DynGraph one = model_of(model_with("branches: 4", zipf, "exclusive")).graph;
    for (const char* kind : {"switch", "top_k", "top_k, k: 1"}) {
        const Model model =
            model_of(model_with(std::string(kToken) + "router: {kind: " + kind + ", branches: 4}", zipf, "exclusive"));
        CHECK(model.graph.switches[0].branches == 4);
        CHECK(model.graph.switches[0].exclusive);
        CHECK(model.graph.switches[0].threshold == one.switches[0].threshold);
        CHECK(declared_routing(model, 3)[2].masks ==
              declared_routing(model_of(model_with("branches: 4", zipf, "exclusive")), 3)[2].masks);
    }
    const Model any = model_of(
        model_with("router: {kind: threshold, branches: 4, threshold: 0.25}", "probability: [0.5, 0.5, 0.5, 0.5]"));
    CHECK_FALSE(any.graph.switches[0].exclusive);
    CHECK(any.graph.switches[0].threshold == 0.25);
    const Model two = model_of(model_with("router: {kind: top_k, branches: 4, k: 2}", "keep: 2, zipf: 1"));
    const BatchRouting batch = declared_routing(two, 1)[0];
    for (const std::uint64_t mask : batch.masks[0]) CHECK(branches_of(mask) == 2);
}

TEST_CASE("generated routes keep a router's capacity", "[workload][router]") {
    // Seven of ten of the 32 tokens want expert 0, and 8 find room.
    const Model unlimited =
        model_of(model_with("router: {kind: top_k, branches: 4}", "probability: [0.7, 0.1, 0.1, 0.1]", "exclusive"));
    const Model drops = model_of(
        model_with("router: {kind: top_k, branches: 4, capacity: 8}", "keep: 1, probability: [0.7, 0.1, 0.1, 0.1]"));
    const Model moves = model_of(model_with("router: {kind: switch, branches: 4, capacity: 8, drop: next_best}",
                                            "probability: [0.7, 0.1, 0.1, 0.1]", "exclusive"));
    std::uint32_t beyond = 0, dropped = 0;
    const auto all_free = declared_routing(unlimited, 20), all_dropping = declared_routing(drops, 20),
               all_moving = declared_routing(moves, 20);
    for (std::size_t b = 0; b < 20; ++b) {
        const BatchRouting &free = all_free[b], &dropping = all_dropping[b], &moving = all_moving[b];
        beyond += loads_of(free)[0] > 8 ? loads_of(free)[0] - 8 : 0;
        for (const std::uint32_t load : loads_of(dropping)) CHECK(load <= 8);
        for (const std::uint64_t mask : dropping.masks[0]) dropped += mask == 0 ? 1 : 0;
        // All 32 places are taken, one by each token.
        CHECK(loads_of(moving) == std::vector<std::uint32_t>{8, 8, 8, 8});
        for (const std::uint64_t mask : moving.masks[0]) CHECK(branches_of(mask) == 1);
    }
    CHECK(beyond > 0);
    CHECK(dropped > 0);
    // Earlier tokens have precedence: until a branch is full nothing is dropped.
    const BatchRouting first = declared_routing(drops, 1)[0];
    std::vector<std::uint32_t> taken(4);
    for (const std::uint64_t mask : first.masks[0]) {
        if (mask == 0) {
            CHECK(*std::max_element(taken.begin(), taken.end()) == 8);
            continue;
        }
        for (std::size_t b = 0; b < 4; ++b) taken[b] += mask >> b & 1;
    }
}

TEST_CASE("two of the best with a capacity: a full branch is replaced or left out", "[workload][router]") {
    const std::string routes = "keep: 2, probability: [0.9, 0.5, 0.4, 0.2]";
    const Model moves =
        model_of(model_with("router: {kind: top_k, branches: 4, k: 2, capacity: 18, drop: next_best}", routes));
    const Model drops = model_of(model_with("router: {kind: top_k, branches: 4, k: 2, capacity: 18}", routes));
    std::size_t moved = 0, dropped = 0;
    for (const BatchRouting& batch : declared_routing(moves, 10)) {
        for (const std::uint32_t load : loads_of(batch)) CHECK(load <= 18);
        for (const std::uint64_t mask : batch.masks[0]) moved += branches_of(mask);
    }
    for (const BatchRouting& batch : declared_routing(drops, 10))
        for (const std::uint64_t mask : batch.masks[0]) dropped += branches_of(mask);
    CHECK(moved > dropped);
    CHECK(moved <= 10 * 32 * 2);
}

TEST_CASE("a capacity of the routes is that of the router, and is kept in images", "[workload][router]") {
    const std::string shares = "keep: 1, probability: [0.7, 0.1, 0.1, 0.1]";
    const Model router = model_of(model_with("router: {kind: top_k, branches: 4, capacity: 8}", shares));
    const Model routes = model_of(model_with("branches: 4, choose: any", shares + ", capacity: 8, drop: drop"));
    CHECK(declared_routing(router, 4)[3].masks == declared_routing(routes, 4)[3].masks);
    const std::vector<SwitchSignature> switches = router.graph.signatures();
    const std::string text = to_yaml(*router.routing.distribution, switches);
    CHECK(text.find("capacity: 8, drop: drop") != std::string::npos);
    const RouteDistribution again = parse_distribution(text, switches, "image");
    CHECK(RouteGenerator(again, switches, 32).batch(3).masks == declared_routing(router, 4)[3].masks);
}

TEST_CASE("a written model keeps its cells and routers", "[workload][router]") {
    const TextFile file(
        "cells.yaml",
        model_with(std::string(kToken) + "router: {kind: top_k, branches: 4, k: 2, capacity: 20, drop: next_best}",
                   "keep: 2, zipf: 1"));
    const ModelLayers read = read_model_layers(file.path());
    const TextFile written("again.yaml", to_yaml(read));
    const LayerSpec layer = read_model_layers(written.path()).layers.at(2);
    REQUIRE(layer.router);
    CHECK(layer.router->k == 2);
    CHECK(layer.router->capacity == 20);
    CHECK(layer.router->drop == CellRouter::Drop::next_best);
    REQUIRE(layer.cell);
    CHECK(layer.cell->dims == std::vector<std::size_t>{0, 1});
    CHECK(layer.cell->shape == std::vector<std::uint64_t>{1, 1});
}

TEST_CASE("cells and routers that cannot be are refused with one line", "[workload][router][bad]") {
    const auto refusal = [](const std::string& how, const std::string& routing = "zipf: 1",
                            const std::string& mode = "exclusive",
                            const std::string& gate = "") { return refusal_of(model_with(how, routing, mode, gate)); };
    CHECK(refusal("router: {kind: best, branches: 4}").find("model.yaml:8: layers.s.router.kind:") !=
          std::string::npos);
    CHECK(refusal("router: {kind: top_k, branches: 1}") ==
          "model.yaml:8: layers.s.router.branches: expected 2 to 64, found 1");
    CHECK(refusal("router: {kind: top_k}").find("layers.s.router.branches") != std::string::npos);
    CHECK(refusal("router: {kind: top_k, branches: 4, capacity: 0}").find("layers.s.router.capacity") !=
          std::string::npos);
    CHECK(refusal("branches: 4, router: {kind: top_k, branches: 4}") ==
          "model.yaml:8: layers.s.branches: expected branches or router, found both; leave one out");
    CHECK(refusal("router: {kind: top_k, branches: 4, k: 2}", "keep: 1, zipf: 1", "sum") ==
          "model.yaml:8: layers.s.router: expected keep: 2 in its routes, as the router takes 2 of the branches, found "
          "keep: 1");
    CHECK(refusal("router: {kind: switch, branches: 4, capacity: 7, drop: next_best}") ==
          "model.yaml:8: layers.s.router: expected room for the 32 samples of a batch, found 4 branches of 7; set "
          "capacity to 8 or more");
    CHECK(refusal("router: {kind: top_k, branches: 4, k: 2}", "keep: 2, zipf: 1", "sum", ", parameters: g") ==
          "model.yaml:8: layers.s.router: expected a gate without values, as no gate chooses several of the best, "
          "found \"g\" with values; leave its `parameters` out");
    CHECK(refusal("router: {kind: top_k, branches: 4, capacity: 8}", "keep: 1, zipf: 1", "sum", ", parameters: g")
              .find("as no gate chooses with a capacity, found \"g\"") != std::string::npos);
    // A sentence, half a token, a dimension that is not there.
    CHECK(refusal("cell: {dims: [0], shape: [1]}, branches: 4") ==
          "model.yaml:8: layers.s.cell: expected 32 cells in a batch, one for each sample that a switch routes, found "
          "4; set samples_per_input to make samples of the parts of an input");
    CHECK(refusal("cell: {dims: [0, 1, 2], shape: [1, 1, 8]}, branches: 4")
              .find("expected 32 cells in a batch, one for each sample that a switch routes, found 64") !=
          std::string::npos);
    CHECK(refusal("cell: {dims: [7], shape: [1]}, branches: 4")
              .find("cell: expected one of the 5 dimensions of the tensor, from 0 on, found 7") != std::string::npos);
    CHECK(refusal("branches: 4", "zipf: 1, capacity: 8")
              .find("capacity: expected a switch that chooses any, as a capacity drops samples, found \"s\"") !=
          std::string::npos);
    CHECK(refusal("branches: 4", "zipf: 1, drop: drop").find("drop: expected capacity with it, found none") !=
          std::string::npos);
}
