// SPDX-License-Identifier: Apache-2.0
// Routers of model files that choose by the number of a sample or of its task, without a gate.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "switchyard/sw_scheduler/workload/dataflow.h"
#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

/// 4 inputs of 8 tokens with 16 channels, four experts. Line 7 is the switch.
std::string numbered_model(const std::string& router, const std::string& routing,
                           const std::string& mode = "exclusive") {
    return "name: t\nbatch: 4\nsamples_per_input: 8\ninput: {channels: 16}\nlayers:\n"
           "  - {name: a, kind: matmul, from: input, out_channels: 16}\n"
           "  - {name: s, kind: switch, from: a, " +
           router + "}\n" + four_experts(mode) + "routing: {seed: 3" + routing + "}\n";
}

std::array<double, 4> shares_of(const Model& model, std::size_t batches) {
    std::array<double, 4> shares{};
    for (const BatchRouting& batch : declared_routing(model, batches))
        for (const std::uint64_t mask : batch.masks.at(0))
            for (std::size_t b = 0; b < 4; ++b)
                shares[b] += static_cast<double>(mask >> b & 1) / static_cast<double>(batch.samples * batches);
    return shares;
}

}  // namespace

TEST_CASE("a router by number has an inserted operator in place of its gate", "[workload][router]") {
    for (const char* kind : {"hash", "task"}) {
        const DynGraph graph =
            model_of(numbered_model(std::string("router: {kind: ") + kind + ", branches: 4}", "")).graph;
        const Switch& gateway = graph.switches.at(0);
        CHECK(gateway.exclusive);
        CHECK(gateway.branches == 4);
        const Operator& gate = graph.operators.at(static_cast<std::size_t>(gateway.gate));
        CHECK(gate.name == "s.numbers");
        CHECK(gate.gate_switch == 0);
        CHECK(gate.macs_per_sample == 0);
        CHECK(gate.weight_bytes == 0);
        REQUIRE(gate.inputs.size() == 1);
        CHECK(gate.inputs[0].from_host());
        CHECK(gate.inputs[0].producer != kModelInput);
        // 16 channels and a number of two bytes each, of 32 samples.
        CHECK(batch_input_bytes(graph) == 32 * (16 * 2 + 2));
        CHECK_FALSE(is_renaming(gate));
    }
}

TEST_CASE("hashed routes follow the sample's number alone", "[workload][router]") {
    // Every sample of the run has a number of its own.
    const Model all = model_of(numbered_model("router: {kind: hash, branches: 4, seed: 5}", ""));
    for (std::uint64_t t = 0; t < 3; ++t) {
        const BatchRouting batch = declared_routing(all, 3)[t];
        for (std::uint64_t i = 0; i < 32; ++i)
            CHECK(batch.masks[0][i] == std::uint64_t{1} << hashed_branch(32 * t + i, 5, 4));
    }
    for (const double share : shares_of(all, 200)) CHECK(std::abs(share - 0.25) < 0.02);

    // Of few numbers, as words of a vocabulary, each goes its own way; another seed sends it elsewhere.
    const Model words = model_of(numbered_model("router: {kind: hash, branches: 4}", ", numbers: {count: 3, zipf: 0}"));
    std::set<std::uint64_t> taken;
    for (const BatchRouting& batch : declared_routing(words, 5))
        taken.insert(batch.masks[0].begin(), batch.masks[0].end());
    std::set<std::uint64_t> wanted;
    for (std::uint64_t word = 0; word < 3; ++word) wanted.insert(std::uint64_t{1} << hashed_branch(word, 1, 4));
    CHECK(taken == wanted);

    // Frequent words make a skew that an even hash of all numbers has not.
    const Model skewed =
        model_of(numbered_model("router: {kind: hash, branches: 4}", ", numbers: {count: 100, zipf: 2}"));
    const std::array<double, 4> shares = shares_of(skewed, 100);
    CHECK(shares.at(hashed_branch(0, 1, 4)) > 0.6);
}

TEST_CASE("all samples of an input go the way of its task, at every router by task", "[workload][router]") {
    const Model model =
        model_of(numbered_model("router: {kind: task, branches: 4}", ", tasks: {probability: [0.5, 0.25, 0.25, 0]}"));
    for (const BatchRouting& batch : declared_routing(model, 20))
        for (std::size_t i = 0; i < 32; ++i) CHECK(batch.masks[0][i] == batch.masks[0][i / 8 * 8]);
    const std::array<double, 4> shares = shares_of(model, 400);
    CHECK(std::abs(shares[0] - 0.5) < 0.05);
    CHECK(std::abs(shares[1] - 0.25) < 0.05);
    CHECK(shares[3] == 0);

    std::string two = numbered_model("router: {kind: task, branches: 4}", "");
    const std::string second =
        "  - {name: s2, kind: switch, from: m, router: {kind: task, branches: 4}}\n"
        "  - {name: f0, kind: matmul, from: s2.0, out_channels: 8}\n"
        "  - {name: f1, kind: matmul, from: s2.1, out_channels: 8}\n"
        "  - {name: f2, kind: matmul, from: s2.2, out_channels: 8}\n"
        "  - {name: f3, kind: matmul, from: s2.3, out_channels: 8}\n"
        "  - {name: m2, kind: merge, from: [f0, f1, f2, f3]}\n";
    two.insert(two.find("routing:"), second);
    for (const BatchRouting& batch : declared_routing(model_of(two), 5)) CHECK(batch.masks[0] == batch.masks[1]);
}

TEST_CASE("routers by number keep a capacity", "[workload][router]") {
    const std::string skew = ", numbers: {count: 2, zipf: 0}";
    const Model moves =
        model_of(numbered_model("router: {kind: hash, branches: 4, capacity: 8, drop: next_best}", skew));
    for (const BatchRouting& batch : declared_routing(moves, 5)) {
        std::map<std::uint64_t, unsigned> loads;
        for (const std::uint64_t mask : batch.masks[0]) ++loads[mask];
        CHECK(loads == std::map<std::uint64_t, unsigned>{{1, 8}, {2, 8}, {4, 8}, {8, 8}});
    }
    const Model drops = model_of(numbered_model("router: {kind: hash, branches: 4, capacity: 8}", skew, "sum"));
    for (const BatchRouting& batch : declared_routing(drops, 5)) {
        CHECK(std::count(batch.masks[0].begin(), batch.masks[0].end(), 0u) >= 16);
        CHECK(std::count(batch.masks[0].begin(), batch.masks[0].end(), 1u) <= 8);
    }
}

TEST_CASE("images and written models keep routers by number", "[workload][router]") {
    for (const char* router : {"router: {kind: hash, branches: 4, seed: 9, capacity: 20, drop: next_best}",
                               "router: {kind: task, branches: 4}"}) {
        const std::string numbers = std::string(router).find("task") == std::string::npos
                                        ? ", numbers: {count: 50, zipf: 1}"
                                        : ", tasks: {zipf: 1}";
        const Model model = model_of(numbered_model(router, numbers));
        // An image does not say how its switches choose.
        std::vector<SwitchSignature> switches = model.graph.signatures();
        const std::string text = to_yaml(*model.routing.distribution, switches);
        switches[0].by = RoutedBy::gate;
        const RouteDistribution again = parse_distribution(text, switches, "image");
        CHECK(RouteGenerator(again, switches, 32).batch(3).masks == declared_routing(model, 4)[3].masks);

        const TextFile file("numbers.yaml", numbered_model(router, numbers));
        const TextFile written("again.yaml", to_yaml(read_model_layers(file.path())));
        const LayerSpec layer = read_model_layers(written.path()).layers.at(1);
        REQUIRE(layer.router);
        CHECK(layer.gate.empty());
        CHECK(layer.router->hash_seed == (numbers.find("task") == std::string::npos ? 9 : 1));
    }
}

TEST_CASE("routers by number that cannot be are refused with one line", "[workload][router][bad]") {
    const auto refusal = [](const std::string& how, const std::string& routing = "") {
        return refusal_of(numbered_model(how, routing));
    };
    const std::string hash = "router: {kind: hash, branches: 4}", task = "router: {kind: task, branches: 4}";
    CHECK(refusal("gate: a, " + hash) ==
          "model.yaml:7: layers.s.gate: expected gate or a router that chooses by the number of a sample or task, "
          "found both; leave one out");
    CHECK(refusal("router: {kind: top_k, branches: 4}") ==
          "model.yaml:7: layers.s.gate: expected the gate of switch \"s\", found none; name a matmul or a convolution");
    CHECK(refusal(hash, ", switches: {s: [0.25, 0.25, 0.25, 0.25]}") ==
          "model.yaml:13: routing.switches.s: expected `numbers` or `tasks` for \"s\", which chooses by number, found "
          "probabilities");
    CHECK(refusal(hash, ", switches: {s: {zipf: 1}}")
              .find("routing.switches.s.zipf: expected `numbers` or `tasks` for \"s\", which chooses by number, found "
                    "zipf") != std::string::npos);
    CHECK(refusal(hash, ", switches: {s: {by: task}}").find("expected hash, as the router of \"s\" says, found task") !=
          std::string::npos);
    CHECK(
        refusal(hash, ", tasks: {zipf: 1}").find("routing.tasks: expected a switch that chooses by task, found none") !=
        std::string::npos);
    CHECK(refusal(hash, ", numbers: {count: 65537}").find("routing.numbers.count:") != std::string::npos);
    CHECK(refusal(task, ", tasks: {probability: [1, 0]}")
              .find("expected 4 probabilities, one a branch of switch \"s\", found 2") != std::string::npos);
    CHECK(refusal(task, ", tasks: {count: 4}").find("routing.tasks.count:") != std::string::npos);

    std::string nested = numbered_model(hash, "");
    nested.insert(nested.find("  - {name: e0"),
                  "  - {name: t, kind: switch, from: s.0, router: {kind: hash, branches: 2}}\n");
    CHECK(refusal_of(nested) ==
          "model.yaml:8: layers.t.router: expected a switch on no branch, as it chooses by the numbers of all samples "
          "of a batch, found it on branch s.0");
}
