// SPDX-License-Identifier: Apache-2.0
// Layers that work on tokens: attention and pools over the samples of an input, steps across channels, positions,
// factors, and exits with patience.

#include "model_text.h"
#include "switchyard/sw_scheduler/workload/gate_decision.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

/// Four samples an input of 48 channels in lines 1 to 4, `layers:` in line 5.
std::string folded(const std::string& layers) {
    return "name: t\nbatch: 8\nsamples_per_input: 4\ninput: {channels: 48}\nlayers:\n" + layers;
}

/// A router of four experts (lines 6 to 8) in front of `layers`.
std::string routed(const std::string& layers, const std::string& router = "bias, softmax") {
    return folded(
        "  - {name: data, kind: elementwise, from: input}\n"
        "  - {name: router, kind: matmul, from: data, out_channels: 4, fused: [" +
        router + "]}\n  - {name: s, kind: switch, from: data, gate: router, branches: 4}\n" + layers);
}

const std::string kExperts =
    "  - {name: a, kind: matmul, from: s.0, out_channels: 48}\n"
    "  - {name: b, kind: matmul, from: s.1, out_channels: 48}\n"
    "  - {name: c, kind: matmul, from: s.2, out_channels: 48}\n"
    "  - {name: d, kind: matmul, from: s.3, out_channels: 48}\n"
    "  - {name: out, kind: merge, from: [a, b, c, d]}\n";

}  // namespace

TEST_CASE("layers over the samples of an input", "[tokens]") {
    const DynGraph graph =
        model_of(folded("  - {name: a, kind: attention, heads: 2, over: input}\n"
                        "  - {name: m, kind: pool, pooling: mean, over: input}\n"
                        "  - {name: h, kind: matmul, out_channels: 3}\n"
                        "  - {name: p, kind: matmul, from: a, out_channels: 3, fused: [position]}\n") +
                 "outputs: [h, p]\n")
            .graph;
    const Operator& attention = named(graph, "a");
    CHECK(attention.shape.joined == 4);
    CHECK(attention.output() == TensorShape{16, 1, 1});
    CHECK(attention.macs_per_sample == 2 * 4 * 16);
    const Operator& pool = named(graph, "m");
    CHECK(pool.shape.joined == 4);
    CHECK(pool.pool == PoolKind::mean);
    CHECK(pool.output() == TensorShape{16, 1, 1});
    CHECK(named(graph, "p").position_tokens == 4);
    CHECK(named(graph, "p").weight_bytes == 2 * (16 * 3 + 4 * 3));
    CHECK(graph.same_for_input() == std::vector<bool>{false, true, true, false});

    CHECK(refusal_of(with_layers("  - {name: m, kind: pool, over: input}\n")) ==
          "model.yaml:5: layers.m.over: expected samples_per_input of 2 or more for a layer that joins the samples of "
          "an input, found 1");
    CHECK(refusal_of(folded("  - {name: m, kind: pool, over: input, filter: 2}\n")) ==
          "model.yaml:6: layers.m.filter: expected one of from, fused, groups, kind, name, over, parameters, pooling, "
          "weight_scale, found filter");
    CHECK(refusal_of(folded("  - {name: a, kind: attention, over: rows}\n"))
              .find("model.yaml:6: layers.a.over: expected one of sample, input") == 0);
    CHECK(refusal_of("name: t\nbatch: 8\nsamples_per_input: 4\ninput: {channels: 48, rows: 2}\nlayers:\n"
                     "  - {name: a, kind: attention, over: input}\n") ==
          "model.yaml:6: layers.a.over: expected samples of one token for an attention over the samples of an input, "
          "found 48x2x1");
    CHECK(refusal_of(routed("  - {name: a, kind: attention, from: s.0, over: input}\n")) ==
          "model.yaml:9: layers.a.over: expected operator \"a\" on no branch, as it joins all samples of an input, "
          "found it on branch s.0");
}

TEST_CASE("steps across channels, positions and factors", "[tokens]") {
    const std::string tokens = "name: t\nbatch: 8\ninput: {channels: 16, rows: 5}\nlayers:\n";
    const DynGraph graph =
        model_of(tokens +
                 "  - {name: a, kind: matmul, out_channels: 16, fused: [bias, {add: input}, {layer_norm: enc.n}]}\n"
                 "  - {name: b, kind: layer_norm, parameters: n, fused: [relu]}\n"
                 "  - {name: c, kind: elementwise, fused: [{position: pos}, softmax]}\n")
            .graph;
    const Operator& a = named(graph, "a");
    CHECK(a.across_channels());
    CHECK(a.norm_parameters == "enc.n");
    CHECK(a.weight_bytes == 2 * (16 * 16 + 3 * 16));
    const Operator& b = named(graph, "b");
    CHECK(b.shape.kind == OpKind::elementwise);
    CHECK(b.fused == std::vector<FusedStep>{FusedStep::layer_norm, FusedStep::relu});
    CHECK(b.norm_parameters == "n");
    const Operator& c = named(graph, "c");
    CHECK(c.position_parameters == "pos");
    CHECK(c.position_tokens == 5);
    CHECK(c.weight_bytes == 2 * 5 * 16);
    CHECK(c.across_channels());

    const DynGraph mixture =
        model_of(routed(kExperts + "  - {name: w, kind: elementwise, fused: [{scale: router}]}\n")).graph;
    const Operator& w = named(mixture, "w");
    REQUIRE(w.inputs.size() == 2);
    CHECK(w.inputs[1].role == OperandRole::factor);
    CHECK(w.inputs[1].producer == mixture.find_operator("router"));

    const auto refused = [&](const std::string& fused) {
        return refusal_of(tokens + "  - {name: a, kind: elementwise, fused: [" + fused + "]}\n");
    };
    CHECK(refused("layer_norm, softmax") ==
          "model.yaml:5: layers.a.fused: expected at most one layer_norm or softmax, found 2");
    CHECK(refused("position, position") == "model.yaml:5: layers.a.fused: expected at most one position, found 2");
    CHECK(refused("{add: input}, {scale: input}") ==
          "model.yaml:5: layers.a.fused: expected at most one add or scale, found 2");
    CHECK(refused("{layer_norm: ''}") == "model.yaml:5: layers.a.fused: expected a value, found nothing");
    CHECK(refused("{scale: input}") ==
          "model.yaml:5: layers.a.fused: expected a scale of channels x 1 x 1 that an operator computes, found "
          "\"input\" of 16x5x1");
    CHECK(refusal_of(with_layers("  - {name: a, kind: elementwise, fused: [position]}\n")) ==
          "model.yaml:5: layers.a.fused: expected channels x tokens x 1 for a position, found 16x8x8");
    CHECK(refusal_of(routed("  - {name: a, kind: merge, from: [s.0, s.1], fused: [{scale: router}]}\n")) ==
          "model.yaml:9: layers.a.fused: expected no scale at a merge, found one; scale its result in a layer of its "
          "own");
    CHECK(refusal_of(routed("  - {name: a, kind: elementwise, from: s.0, fused: [{scale: router}]}\n"))
              .find("model.yaml:9: layers.a.fused: expected inputs with one dyn_dim, found ") == 0);
    CHECK(refusal_of(tokens + "  - {name: a, kind: matmul, out_channels: 16, heads: 4}\n") ==
          "model.yaml:5: layers.a.heads: expected a multiple of 12 channels, queries, keys and values of 4 heads, "
          "found 16");
}

TEST_CASE("a router behind a softmax decides by its logits", "[tokens][gates]") {
    const DynGraph graph = model_of(routed(kExperts)).graph;
    const Operator& router = named(graph, "router");
    const GateDecision decision = gate_decision(router, graph.switches[0]);
    CHECK(decision.rule == GateRule::largest);
    CHECK(decision.step == 1);  // behind the bias
}

TEST_CASE("exits with patience follow one another", "[tokens][gates]") {
    const std::string chain =
        "  - {name: h0, kind: elementwise, from: input}\n"
        "  - {name: g0, kind: matmul, out_channels: 10, fused: [bias]}\n"
        "  - {name: e0, kind: switch, from: h0, gate: g0, patience: 2}\n"
        "  - {name: left0, kind: sink, from: e0.1}\n"
        "  - {name: h1, kind: elementwise, from: e0.0}\n"
        "  - {name: g1, kind: matmul, out_channels: 10}\n"
        "  - {name: e1, kind: switch, from: h1, gate: g1, patience: 2}\n"
        "  - {name: left1, kind: sink, from: e1.1}\n"
        "  - {name: h2, kind: elementwise, from: e1.0}\n";
    const std::string head = "name: t\nbatch: 8\ninput: {channels: 16}\nlayers:\n";
    const DynGraph graph = model_of(head + chain + "outputs: [h2]\n").graph;
    REQUIRE(graph.switches.size() == 2);
    CHECK(graph.switches[0].patience == 2);
    CHECK(graph.switches[0].previous == kNoSwitch);
    CHECK(graph.switches[1].previous == 0);
    const GateDecision decision = gate_decision(named(graph, "g0"), graph.switches[0]);
    CHECK(decision.rule == GateRule::patience);
    CHECK(decision.step == 1);

    const auto refused = [&](const std::string& keys) {
        return refusal_of(head +
                          "  - {name: g, kind: matmul, out_channels: 1}\n"
                          "  - {name: e, kind: switch, from: input, gate: g, " +
                          keys + "}\n  - {name: left, kind: sink, from: e.0}\n");
    };
    CHECK(refused("patience: 2") ==
          "model.yaml:6: layers.e.patience: expected a gate of two outputs or more, one a label, found \"g\", which "
          "has one");
    CHECK(refused("patience: 2, branches: 3") ==
          "model.yaml:6: layers.e.patience: expected a switch that chooses one of two branches, go on or leave, found "
          "one of 3");
    CHECK(refused("patience: 2, choose: any") ==
          "model.yaml:6: layers.e.patience: expected a switch that chooses one of two branches, go on or leave, found "
          "any of 2");
    CHECK(refused("patience: 2, threshold: 1") ==
          "model.yaml:6: layers.e.threshold: expected threshold or patience, found both; leave one out");
    CHECK(refused("patience: 0") == "model.yaml:6: layers.e.patience: expected 1 to 1000, found 0");
}
