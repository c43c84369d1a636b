// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::sched;

// Adyna section IV. with_switch() puts a stem, a gate and a switch `s` into lines 5 to 8.

TEST_CASE("at most one dyn_dim an operator", "[rules]") {
    CHECK(
        refusal_of(with_switch("  - {name: a, kind: elementwise, from: s.1, fused: [{add: stem}]}\n")) ==
        "model.yaml:9: layers.a.fused: operator \"a\" would have two dyn_dims: \"s.1\" is s.1 and \"stem\" is static");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: a, kind: elementwise, from: stem, fused: [{add: b}]}\n")) ==
          "model.yaml:10: layers.a.fused: operator \"a\" would have two dyn_dims: \"stem\" is static and \"b\" is s.1");
}

TEST_CASE("no operator on several branches of a switch, unless it is a merge", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.0}\n"
                                 "  - {name: a, kind: elementwise, from: s.1, fused: [{add: b}]}\n")) ==
          "model.yaml:10: layers.a.fused: operator \"a\" stands on branches 1 (through \"s.1\") and 0 (through \"b\") "
          "of switch \"s\": only a merge may");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [s.0, s.1]}\n")).empty());
}

TEST_CASE("a merge has a matched dyn_dim", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: b, kind: pool, filter: 2, stride: 2, from: s.0}\n"
                                 "  - {name: a, kind: merge, from: [b, s.1]}\n")) ==
          "model.yaml:10: layers.a.from: \"b\" is 16x4x4 and \"s.1\" is 16x8x8");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [stem, stem]}\n")) ==
          "model.yaml:9: layers.a.from: merge \"a\" closes no switch: its sources all stand on static; add them "
          "instead");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [stem, s.1]}\n")) ==
          "model.yaml:9: layers.a: exclusive merge \"a\": a sample would come from two sources");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1, b]}\n")) ==
          "model.yaml:10: layers.a: exclusive merge \"a\": a sample would come from two sources");
    CHECK(refusal_of(with_switch("  - {name: drop, kind: sink, from: s.2}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n",
                                 "branches: 3")) ==
          "model.yaml:10: layers.a: exclusive merge \"a\": branch 2 of switch \"s\" does not reach it");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [s.0, s.1]}\n", "choose: any")) ==
          "model.yaml:9: layers.a: exclusive merge \"a\": switch \"s\" lets a sample take several branches");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, mode: sum, from: [s.0, s.1]}\n", "choose: any")).empty());
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [s.0, s.1], fused: [{add: stem}]}\n")) ==
          "model.yaml:9: layers.a.fused: a merge takes no add: give it one more source");
}

TEST_CASE("a sum merge joins what always runs with a branch", "[rules]") {
    const DynGraph graph = model_of(with_switch("  - {name: drop, kind: sink, from: s.0}\n"
                                                "  - {name: b, kind: elementwise, from: s.1}\n"
                                                "  - {name: a, kind: merge, mode: sum, from: [stem, b]}\n"))
                               .graph;
    const Operator& merge = graph.operators.back();
    CHECK(merge.merge_mode == MergeMode::sum);
    CHECK(merge.inputs[0].pops == 0);
    CHECK(merge.inputs[1].pops == 1);
    CHECK_FALSE(merge.dynamic());
}

TEST_CASE("no common successor of two switches, unless one follows the other", "[rules]") {
    const std::string second_gate = "  - {name: g2, kind: matmul, from: mean, out_channels: 1}\n";
    const std::string parallel = second_gate +
                                 "  - {name: t, kind: switch, from: stem, gate: g2}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n"
                                 "  - {name: b, kind: merge, from: [t.0, t.1]}\n"
                                 "  - {name: c, kind: elementwise, from: a, fused: [{add: b}]}\n";
    CHECK(refusal_of(with_switch(parallel)) ==
          "model.yaml:13: layers.c: operator \"c\" is a common successor of switches \"s\" and \"t\", neither of which "
          "is a successor of the other");
    const std::string sequential = second_gate +
                                   "  - {name: a, kind: merge, from: [s.0, s.1]}\n"
                                   "  - {name: t, kind: switch, from: a, gate: g2}\n"
                                   "  - {name: b, kind: merge, from: [t.0, t.1]}\n"
                                   "  - {name: c, kind: elementwise, from: a, fused: [{add: b}]}\n";
    CHECK(refusal_of(with_switch(sequential)).empty());
}

TEST_CASE("gates", "[rules]") {
    const std::string rest = "  - {name: out, kind: merge, from: [t.0, t.1]}\n";
    CHECK(refusal_of(with_layers("  - {name: stem, kind: elementwise}\n"
                                 "  - {name: g, kind: elementwise}\n"
                                 "  - {name: t, kind: switch, from: stem, gate: g}\n" +
                                 rest)) == "model.yaml:7: layers.t.gate: gate \"g\" must be a matmul or a convolution");
    CHECK(refusal_of(with_layers("  - {name: stem, kind: elementwise}\n"
                                 "  - {name: g, kind: convolution, filter: 1, out_channels: 1}\n"
                                 "  - {name: t, kind: switch, from: stem, gate: g}\n" +
                                 rest)) ==
          "model.yaml:7: layers.t.gate: gate \"g\" gives 1x8x8 a sample, not one decision");
    CHECK(refusal_of(with_switch("  - {name: t, kind: switch, from: stem, gate: gate}\n")) ==
          "model.yaml:9: layers.t.gate: \"gate\" is the gate of switch \"s\" already");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: g2, kind: matmul, from: mean, out_channels: 1}\n"
                                 "  - {name: t, kind: switch, from: b, gate: g2}\n")) ==
          "model.yaml:11: layers.t.gate: gate \"g2\" (static) and the data of switch \"t\" (s.1) differ in dyn_dim");
}

TEST_CASE("everything is used, and nothing waits for itself", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: a, kind: elementwise, from: s.1}\n")) ==
          "model.yaml:8: layers.s: branch 0 of switch \"s\" is not used: connect it or give it a sink");
    CHECK(refusal_of(with_switch("  - {name: drop, kind: sink, from: s.0}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n")) ==
          "model.yaml:8: layers.s: branch 0 of switch \"s\" has a sink and is used as well");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n")) ==
          "model.yaml:9: layers.b: result of operator \"b\" is never used");
    CHECK(refusal_of(with_layers("  - {name: a, kind: sink, from: input}\n")) ==
          "model.yaml:5: layers.a.from: expected a branch of a switch for a sink, found \"input\"");
    CHECK(refusal_of(with_layers("  - {name: x, kind: elementwise, from: input}\n"
                                 "  - {name: a, kind: elementwise, from: c}\n"
                                 "  - {name: b, kind: elementwise, from: a}\n"
                                 "  - {name: c, kind: elementwise, from: x, fused: [{add: b}]}\n")) ==
          "model.yaml:6: layers.a.from: cycle: \"a\" <- \"c\" <- \"b\" <- \"a\"");
    // A gate that needs what its own switch lets through.
    CHECK(refusal_of(with_layers("  - {name: stem, kind: elementwise}\n"
                                 "  - {name: mean, kind: global_pool, from: s.1}\n"
                                 "  - {name: g, kind: matmul, out_channels: 1}\n"
                                 "  - {name: s, kind: switch, from: stem, gate: g}\n")) ==
          "model.yaml:6: layers.mean.from: cycle: \"mean\" <- \"s\" <- \"g\" <- \"mean\"");
}
