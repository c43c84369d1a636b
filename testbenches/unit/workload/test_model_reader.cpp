// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {
const std::string kHead = "name: t\nbatch: 8\ninput: {channels: 16, rows: 8, columns: 8}\n";
}

TEST_CASE("a small model is read", "[model]") {
    const Model model = model_of(with_switch(
        "  - {name: a, kind: convolution, from: s.1, out_channels: 16, filter: 3, pad: 1, fused: [bias, {add: s.1}]}\n"
        "  - {name: out, kind: merge, from: [s.0, a]}\n"));
    const DynGraph& graph = model.graph;
    CHECK(graph.name == "t");
    CHECK(graph.batch_samples() == 8);
    REQUIRE(graph.operators.size() == 4);
    CHECK(graph.find_operator("a") == 2);
    CHECK(graph.find_operator("mean") == -1);  // folded into the edge
    CHECK(graph.operators[1].inputs[0].reduce == EdgeReduce::global_pool);
    CHECK(graph.operators[1].gate_switch == 0);
    CHECK(graph.outputs == std::vector<int>{3});
    REQUIRE(graph.switches.size() == 1);
    CHECK(graph.switches[0].data == 0);
    CHECK(graph.switches[0].gate == 1);
    CHECK(graph.switches[0].enclosed == std::vector<int>{2});

    const Operator& a = graph.operators[2];
    REQUIRE(a.inputs.size() == 2);
    CHECK(a.inputs[0].role == OperandRole::input);
    CHECK(a.inputs[1].role == OperandRole::second_operand);
    CHECK(a.inputs[1].producer == 0);
    CHECK(a.inputs[1].switch_id == 0);
    CHECK(a.inputs[1].branch == 1);
    CHECK(a.dynamic());
    CHECK(to_string(a.path, graph.switches) == "s.1");

    const Operator& out = graph.operators[3];
    CHECK(out.shape.kind == OpKind::merge);
    CHECK_FALSE(out.dynamic());
    CHECK(out.inputs[0].pops == 1);
    CHECK(out.inputs[0].switch_id == 0);
    CHECK(out.inputs[1].pops == 1);
    CHECK(out.inputs[1].switch_id == kNoSwitch);
    CHECK(graph.consumers()[0] == std::vector<int>{1, 2, 2, 3});
}

TEST_CASE("layers may stand in any order", "[model]") {
    const Model model = model_of(with_layers("  - {name: last, kind: elementwise, from: first}\n"
                                             "  - {name: first, kind: elementwise, from: input}\n") +
                                 "outputs: [last]\n");
    CHECK(model.graph.operators[0].name == "first");
    CHECK(model.graph.operators[1].name == "last");
}

TEST_CASE("a switch, an output or a pool without an operator to be fused into gets an identity", "[model]") {
    SECTION("a switch on the model's input") {
        const DynGraph graph = model_of(with_layers("  - {name: mean, kind: global_pool, from: input}\n"
                                                    "  - {name: gate, kind: matmul, out_channels: 1}\n"
                                                    "  - {name: s, kind: switch, from: input, gate: gate}\n"
                                                    "  - {name: drop, kind: sink, from: s.0}\n"
                                                    "  - {name: a, kind: elementwise, from: s.1}\n"))
                                   .graph;
        const int pooled = graph.find_operator("mean.data"), data = graph.find_operator("s.data");
        REQUIRE(pooled >= 0);
        REQUIRE(data >= 0);
        CHECK(graph.operators[static_cast<std::size_t>(data)].inserted);
        CHECK(graph.switches[0].data == data);
        CHECK(graph.switches[0].sinks == std::vector<unsigned>{0});
    }
    SECTION("a switch on a switch's branch") {
        const DynGraph graph = model_of(with_switch("  - {name: m2, kind: global_pool, from: s.1}\n"
                                                    "  - {name: g2, kind: matmul, out_channels: 1}\n"
                                                    "  - {name: t, kind: switch, from: s.1, gate: g2}\n"
                                                    "  - {name: out, kind: merge, from: [s.0, t.0, t.1]}\n"))
                                   .graph;
        const int data = graph.find_operator("t.data");
        REQUIRE(data >= 0);
        CHECK(graph.switches[1].data == data);
        CHECK(to_string(graph.switches[1].path, graph.switches) == "s.1");
        const Operator& out = graph.operators.back();
        CHECK(out.inputs[0].pops == 1);
        CHECK(out.inputs[1].pops == 2);
        CHECK(out.inputs[2].pops == 2);
        const auto signatures = graph.signatures();
        CHECK(signatures[0].parent == -1);
        CHECK(signatures[1].parent == 0);
        CHECK(signatures[1].parent_branch == 1);
    }
    SECTION("an output straight from a branch") {
        const DynGraph graph =
            model_of(with_switch("  - {name: drop, kind: sink, from: s.0}\n") + "outputs: [s.1]\n").graph;
        CHECK(graph.operators[static_cast<std::size_t>(graph.outputs[0])].name == "s.1.output");
    }
}

TEST_CASE("templates", "[model]") {
    const std::string text = kHead +
                             "templates:\n"
                             "  pair:\n"
                             "    - {name: a<i>, kind: convolution, from: <from>, out_channels: <c>, filter: 1}\n"
                             "    - {name: b<i+1>, kind: elementwise, from: a<i>}\n"
                             "layers:\n";
    const DynGraph graph = model_of(text +
                                    "  - {use: pair, with: {i: 0, c: 8, from: input}}\n"
                                    "  - {use: pair, with: {i: 1..3, c: 4, from: b<i>}}\n")
                               .graph;
    REQUIRE(graph.operators.size() == 8);
    CHECK(graph.operators[6].name == "a3");
    CHECK(graph.operators[6].inputs[0].producer == graph.find_operator("b3"));
    CHECK(graph.operators[7].output() == TensorShape{4, 8, 8});

    CHECK(refusal_of(text + "  - {use: pear, with: {i: 0}}\n") ==
          "model.yaml:9: layers.use: expected a template of the model, found \"pear\"");
    CHECK(refusal_of(text + "  - {use: pair, with: {i: 0, from: input}}\n") ==
          "model.yaml:6: layers.a0.out_channels: expected <from> or <i>, found \"<c>\"");
    CHECK(refusal_of(text + "  - {use: pair, with: {i: 0..1, c: 0..2}}\n") ==
          "model.yaml:9: layers.with: expected at most one range, found a second, i");
    CHECK(refusal_of(text + "  - {use: pair, with: {i: 0, c: 8, from: input}, times: 3}\n") ==
          "model.yaml:9: layers.times: expected one of use, with, found times");
}

TEST_CASE("what a model file gets wrong is named by file, line and key", "[model]") {
    const auto refused = [](const std::string& layer) { return refusal_of(with_layers("  - {" + layer + "}\n")); };
    SECTION("top level") {
        CHECK(refusal_of("batch: 8\n") == "model.yaml:1: name: expected a value, found nothing");
        CHECK(refusal_of("[1, 2]\n") == "model.yaml:1: expected a mapping of keys, found a list");
        CHECK(refusal_of("a: [\n").find("model.yaml:2: expected YAML, found ") == 0);
        CHECK(refusal_of("name: t\nbatch: 8 images\n") ==
              "model.yaml:2: batch: expected a plain integer, found \"8 images\"");
        CHECK(refusal_of("name: t\nbatch: 0\n") == "model.yaml:2: batch: expected 1 to 1048576, found 0");
        CHECK(refusal_of("name: t\nbatch: 8\nbatch: 9\n") ==
              "model.yaml:3: batch: expected the key once, found it twice");
        CHECK(refusal_of("name: ''\nbatch: 8\n") == "model.yaml:1: name: expected a value, found nothing");
        CHECK(refusal_of("name: t\nbatch: 8\ninput: {channels: 3, hight: 8}\n") ==
              "model.yaml:3: input.hight: expected one of channels, columns, rows, found hight");
        CHECK(refusal_of("name: \"two\\nlines\"\nbatch: 8\n") ==
              "model.yaml:1: name: expected one line of text, found \"two?lines\"");
        CHECK(refusal_of("\"na\\nme\": t\n") == "model.yaml:1: expected one line of text as a key, found \"na?me\"");
        CHECK(refusal_of(kHead + "layers: []\n") == "model.yaml:4: layers: expected a value, found nothing");
        CHECK(refusal_of(kHead + "layers: 3\n") == "model.yaml:4: layers: expected a list, found \"3\"");
        CHECK(refusal_of(with_layers("  - {name: a, kind: elementwise, from: input}\n") + "output: a\n") ==
              "model.yaml:6: output: expected one of batch, input, layers, name, outputs, routing, samples_per_input, "
              "templates, found output; did you mean outputs?");
    }
    SECTION("layers") {
        CHECK(refused("kind: elementwise") == "model.yaml:5: layers.name: expected a value, found nothing");
        CHECK(refused("name: '', kind: elementwise") == "model.yaml:5: layers.name: expected a value, found nothing");
        CHECK(refused("name: a b, kind: elementwise") ==
              "model.yaml:5: layers.name: expected letters, digits, '_', '-' and '.', found \"a b\"");
        CHECK(refused("name: a.3, kind: elementwise") ==
              "model.yaml:5: layers.name: expected a name without a number after its last dot, as branches of switches "
              "have it, found \"a.3\"");
        CHECK(refused("name: input, kind: elementwise") ==
              "model.yaml:5: layers.name: expected another name than the model's input, found \"input\"");
        CHECK(refused("name: a") == "model.yaml:5: layers.a.kind: expected a value, found nothing");
        CHECK(refused("name: a, kind: conv").find("model.yaml:5: layers.a.kind: expected one of convolution, ") == 0);
        CHECK(refused("name: a, kind: convolution, filter: 3") ==
              "model.yaml:5: layers.a.out_channels: expected a value, found nothing");
        CHECK(refused("name: a, kind: pool, filter: 2, stride: 2px") ==
              "model.yaml:5: layers.a.stride: expected a plain integer, found \"2px\"");
        CHECK(refused("name: a, kind: pool, filter: 0") ==
              "model.yaml:5: layers.a.filter: expected a positive integer, found \"0\"");
        CHECK(refused("name: a, kind: pool, filter: [1, 2, 3]") ==
              "model.yaml:5: layers.a.filter: expected a size, or rows and columns, found 3 numbers");
        CHECK(refused("name: a, kind: elementwise, stride: 2") ==
              "model.yaml:5: layers.a.stride: expected one of from, fused, group, groups, kind, name, parameters, "
              "weight_scale, found stride");
        CHECK(refused("name: a, kind: elementwise, fused: [gelu]") ==
              "model.yaml:5: layers.a.fused: expected bias, norm, relu, sigmoid, softmax, layer_norm, position, {add: "
              "TENSOR}, {scale: TENSOR}, {layer_norm: PARAMETERS} or {position: PARAMETERS}, found \"gelu\"");
        CHECK(refused("name: a, kind: elementwise, fused: [{add: input}, {add: input}]") ==
              "model.yaml:5: layers.a.fused: expected at most one add or scale, found 2");
        CHECK(refused("name: a, kind: elementwise, from: b") ==
              "model.yaml:5: layers.a.from: expected a layer of the model, found \"b\"");
        CHECK(refused("name: a, kind: elementwise, from: [input, input]") ==
              "model.yaml:5: layers.a.from: expected one tensor, found 2");
        CHECK(refused("name: a, kind: merge, from: input") ==
              "model.yaml:5: layers.a.from: expected two tensors or more, found 1");
        CHECK(
            refusal_of(with_layers("  - {name: a, kind: elementwise}\n  - {name: a, kind: elementwise}\n")) ==
            "model.yaml:6: layers.a.name: expected a name of no other layer, found \"a\", that of the layer in line 5");
    }
    SECTION("switches and outputs") {
        CHECK(refused("name: s, kind: switch, from: input") ==
              "model.yaml:5: layers.s.gate: expected the gate of switch \"s\", found none; name a matmul or a "
              "convolution");
        CHECK(refused("name: s, kind: switch, from: input, gate: g") ==
              "model.yaml:5: layers.s.gate: expected a layer of the model, found \"g\"");
        CHECK(refused("name: s, kind: switch, from: input, gate: g, branches: 65") ==
              "model.yaml:5: layers.s.branches: expected 2 to 64, found 65");
        CHECK(refusal_of(with_switch("  - {name: a, kind: elementwise, from: s.2}\n")) ==
              "model.yaml:9: layers.a.from: expected a branch of 0 to 1 of switch \"s\", found \"2\"");
        CHECK(refusal_of(with_switch("  - {name: a, kind: elementwise}\n")) ==
              "model.yaml:9: layers.a.from: expected a result, found the switch \"s\"; take one of its branches, s.0 "
              "to s.1");
        CHECK(refusal_of(with_layers("  - {name: a, kind: elementwise}\n") + "outputs: [a, a]\n") ==
              "model.yaml:6: outputs: expected each output once, found \"a\" twice");
        CHECK(refusal_of(with_switch("  - {name: drop, kind: sink, from: s.0}\n") + "outputs: [s.1, s.1]\n") ==
              "model.yaml:10: outputs: expected each output once, found \"s.1\" twice");
        CHECK(refusal_of(with_layers("  - {name: a, kind: elementwise}\n") + "outputs: input\n") ==
              "model.yaml:6: outputs: expected results of layers, found \"input\", which the host writes");
        CHECK(refusal_of(with_switch("  - {name: drop, kind: sink, from: s.0}\n")) ==
              "model.yaml:9: outputs: expected a result, found the sink \"drop\", which has none");
    }
    SECTION("a file that is not there") {
        CHECK_THROWS_WITH(read_model("no/such/model.yaml"),
                          "no/such/model.yaml: cannot be read: No such file or directory");
    }
}
