// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/profile.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

struct Totals {
    double macs = 0, weights = 0, gated_macs = 0;
};

/// Of the backbone: what makes the gates' masks is left out, as in the published figures.
Totals backbone_totals(const DynGraph& graph) {
    Totals totals;
    for (const Operator& op : graph.operators) {
        const std::string part = op.name.substr(op.name.rfind('.') + 1);
        if (part == "project" || part == "lstm" || part == "gate") continue;
        totals.macs += static_cast<double>(op.macs_per_sample);
        totals.weights += static_cast<double>(op.weight_bytes) / kElementBytes;
        if (op.dynamic()) totals.gated_macs += static_cast<double>(op.macs_per_sample);
    }
    return totals;
}

struct Published {
    const char* file;
    double macs, weights, saved;
    std::size_t gates;
};

const Published kPublished[] = {{"configs/workloads/skipnet_resnet34.yaml", 3.66e9, 21.8e6, 0.20, 15},
                                {"configs/workloads/skipnet_resnet101.yaml", 7.80e9, 44.4e6, 0.2994, 32}};

}  // namespace

TEST_CASE("SkipNet at full size has the published MACs, weights and savings", "[workloads]") {
    for (const Published& published : kPublished) {
        INFO(published.file);
        const Model model = read_model(published.file);
        const Totals totals = backbone_totals(model.graph);
        CHECK(totals.macs == Approx(published.macs).epsilon(0.01));
        CHECK(totals.weights == Approx(published.weights).epsilon(0.01));
        REQUIRE(model.graph.switches.size() == published.gates);  // the first block always runs
        CHECK(model.graph.batch_samples() == 128);

        REQUIRE(model.routing.distribution);
        const std::vector<SwitchRoutes>& routes = model.routing.distribution->switches;
        const double skip = routes[0].probability[0];
        for (const SwitchRoutes& one : routes) CHECK(one.probability[0] == skip);
        CHECK(skip * totals.gated_macs / totals.macs == Approx(published.saved).margin(1e-6));
    }
}

TEST_CASE("SkipNet: what the generator saves is what is published", "[workloads]") {
    for (const Published& published : kPublished) {
        INFO(published.file);
        const Model model = read_model(published.file);
        const std::size_t batches = 10 * model.routing.distribution->drift_period_batches;
        const auto routing = declared_routing(model, batches);
        const auto fractions = expected_fractions(profile_of(model.graph, routing, 128));
        double run = 0;
        for (std::size_t id = 0; id < fractions.size(); ++id)
            run += fractions[id] * static_cast<double>(model.graph.operators[id].macs_per_sample);
        // A sample's saving has at most the variance of one that skips all or nothing.
        const double samples = static_cast<double>(batches) * 128;
        const double deviation = std::sqrt(published.saved * (1 - published.saved) / samples);
        CHECK(1 - run / static_cast<double>(model.graph.total_macs_per_sample()) ==
              Approx(published.saved).margin(4 * deviation));
    }
}

TEST_CASE("SkipNet: a skipped downsampling block still runs its shortcut", "[workloads]") {
    const DynGraph graph = read_model("configs/workloads/skipnet_resnet34.yaml").graph;
    const int shortcut = graph.find_operator("block4.shortcut"), merge = graph.find_operator("block4.out");
    REQUIRE(shortcut >= 0);
    REQUIRE(merge >= 0);
    CHECK_FALSE(graph.operators[static_cast<std::size_t>(shortcut)].dynamic());
    const Operator& out = graph.operators[static_cast<std::size_t>(merge)];
    CHECK(out.merge_mode == MergeMode::sum);
    CHECK(out.output() == TensorShape{128, 28, 28});
    CHECK(out.inputs[0].producer == shortcut);
    CHECK(out.inputs[0].pops == 0);
    CHECK(out.inputs[1].pops == 1);
    const int id = graph.find_switch("block4");
    REQUIRE(id >= 0);
    CHECK(graph.switches[static_cast<std::size_t>(id)].sinks == std::vector<unsigned>{0});
}

TEST_CASE("the digits' network fits its recorded trace", "[workloads]") {
    const Model model = read_model("configs/workloads/digits_skipnet.yaml");
    const DynGraph& graph = model.graph;
    CHECK(graph.operators.size() == 1 + 8 * 4 + 1);
    // stem 1->16 on 8x8, eight gates of 16, sixteen convolutions 16->16, head 16->10
    CHECK(graph.total_macs_per_sample() == 9 * 16 * 64 + 8 * 16 + 16ull * 9 * 16 * 16 * 64 + 160);
    const auto signatures = graph.signatures();
    REQUIRE(signatures.size() == 8);
    for (std::size_t id = 0; id < signatures.size(); ++id) {
        CHECK(signatures[id].name == "block" + std::to_string(id));
        CHECK(signatures[id].branches == 2);
        CHECK(signatures[id].parent == -1);
        CHECK(signatures[id].exclusive);
    }
    const auto batches = read_trace(model.routing.trace, signatures, graph.batch_samples());
    REQUIRE(batches.size() == 200);
    for (const BatchRouting& batch : batches) CHECK(batch.samples == 128);
    // block0 of the first batch skips sample 34 only.
    CHECK(batches[0].masks[0][33] == 2);
    CHECK(batches[0].masks[0][34] == 1);
}
