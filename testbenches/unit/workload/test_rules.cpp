// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::sched;

// Adyna section IV. with_switch() puts a stem, a gate and a switch `s` into lines 5 to 8.

TEST_CASE("at most one dyn_dim an operator", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: a, kind: elementwise, from: s.1, fused: [{add: stem}]}\n")) ==
          "model.yaml:9: layers.a.fused: expected inputs with one dyn_dim, found \"s.1\" on branch s.1 and \"stem\" on "
          "no branch");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: a, kind: elementwise, from: stem, fused: [{add: b}]}\n")) ==
          "model.yaml:10: layers.a.fused: expected inputs with one dyn_dim, found \"stem\" on no branch and \"b\" on "
          "branch s.1");
}

TEST_CASE("no operator on several branches of a switch, unless it is a merge", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.0}\n"
                                 "  - {name: a, kind: elementwise, from: s.1, fused: [{add: b}]}\n")) ==
          "model.yaml:10: layers.a.fused: expected inputs on one branch of switch \"s\", as only a merge joins "
          "branches, found \"s.1\" on branch 1 and \"b\" on branch 0");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [s.0, s.1]}\n")).empty());
}

TEST_CASE("a merge has a matched dyn_dim", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: b, kind: pool, filter: 2, stride: 2, from: s.0}\n"
                                 "  - {name: a, kind: merge, from: [b, s.1]}\n")) ==
          "model.yaml:10: layers.a.from: expected inputs of one shape, found \"b\" of 16x4x4 and \"s.1\" of 16x8x8");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [stem, stem]}\n")) ==
          "model.yaml:9: layers.a.from: expected sources on branches of a switch that merge \"a\" closes, found all on "
          "no branch; add them instead");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [stem, s.1]}\n")) ==
          "model.yaml:9: layers.a: exclusive merge \"a\": expected each sample from one source, a branch of one "
          "switch, found a source on no branch");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1, b]}\n")) ==
          "model.yaml:10: layers.a: exclusive merge \"a\": expected one source on branch 1 of switch \"s\", found 2");
    CHECK(refusal_of(with_switch("  - {name: drop, kind: sink, from: s.2}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n",
                                 "branches: 3")) ==
          "model.yaml:10: layers.a: exclusive merge \"a\": expected a source on each branch of switch \"s\", found "
          "none on branch 2");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [s.0, s.1]}\n", "choose: any")) ==
          "model.yaml:9: layers.a: exclusive merge \"a\": expected a switch that chooses one branch, found \"s\", "
          "which chooses any; set mode: sum");
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, mode: sum, from: [s.0, s.1]}\n", "choose: any")).empty());
    CHECK(refusal_of(with_switch("  - {name: a, kind: merge, from: [s.0, s.1], fused: [{add: stem}]}\n")) ==
          "model.yaml:9: layers.a.fused: expected no add at a merge, found one; give the merge one more source");
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
          "model.yaml:13: layers.c: expected no common successor of switches that do not follow one another, found "
          "operator \"c\" after \"s\" and \"t\"");
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
                                 rest)) ==
          "model.yaml:7: layers.t.gate: expected a matmul or a convolution, found \"g\" of kind elementwise");
    CHECK(refusal_of(with_layers("  - {name: stem, kind: elementwise}\n"
                                 "  - {name: g, kind: convolution, filter: 1, out_channels: 1}\n"
                                 "  - {name: t, kind: switch, from: stem, gate: g}\n" +
                                 rest)) ==
          "model.yaml:7: layers.t.gate: expected a result of channels x 1 x 1, one decision a sample, found \"g\" of "
          "1x8x8");
    CHECK(refusal_of(with_switch("  - {name: t, kind: switch, from: stem, gate: gate}\n")) ==
          "model.yaml:9: layers.t.gate: expected a gate of no other switch, found \"gate\", the gate of switch \"s\"");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: g2, kind: matmul, from: mean, out_channels: 1}\n"
                                 "  - {name: t, kind: switch, from: b, gate: g2}\n")) ==
          "model.yaml:11: layers.t.gate: expected the dyn_dim of the data of switch \"t\", on branch s.1, found gate "
          "\"g2\" on no branch");
}

TEST_CASE("everything is used, and nothing waits for itself", "[rules]") {
    CHECK(refusal_of(with_switch("  - {name: a, kind: elementwise, from: s.1}\n")) ==
          "model.yaml:8: layers.s: expected a layer that takes branch 0 of switch \"s\", or a sink, found neither; "
          "connect it or give it a sink");
    CHECK(refusal_of(with_switch("  - {name: drop, kind: sink, from: s.0}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n")) ==
          "model.yaml:8: layers.s: expected a layer that takes branch 0 of switch \"s\", or a sink, found both; leave "
          "one out");
    CHECK(refusal_of(with_switch("  - {name: b, kind: elementwise, from: s.1}\n"
                                 "  - {name: a, kind: merge, from: [s.0, s.1]}\n")) ==
          "model.yaml:9: layers.b: expected a layer or an output that takes the result of operator \"b\", found none");
    CHECK(refusal_of(with_layers("  - {name: a, kind: sink, from: input}\n")) ==
          "model.yaml:5: layers.a.from: expected a branch of a switch for a sink, found \"input\"");
    CHECK(refusal_of(with_layers("  - {name: x, kind: elementwise, from: input}\n"
                                 "  - {name: a, kind: elementwise, from: c}\n"
                                 "  - {name: b, kind: elementwise, from: a}\n"
                                 "  - {name: c, kind: elementwise, from: x, fused: [{add: b}]}\n")) ==
          "model.yaml:6: layers.a.from: expected layers without a cycle, found \"a\" <- \"c\" <- \"b\" <- \"a\"");
    // A gate that needs what its own switch lets through.
    CHECK(refusal_of(with_layers("  - {name: stem, kind: elementwise}\n"
                                 "  - {name: mean, kind: global_pool, from: s.1}\n"
                                 "  - {name: g, kind: matmul, out_channels: 1}\n"
                                 "  - {name: s, kind: switch, from: stem, gate: g}\n")) ==
          "model.yaml:6: layers.mean.from: expected layers without a cycle, found \"mean\" <- \"s\" <- \"g\" <- "
          "\"mean\"");
}
