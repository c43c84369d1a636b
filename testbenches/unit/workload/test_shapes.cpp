// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

TEST_CASE("shapes, MACs and weights against values by hand", "[shapes]") {
    const DynGraph graph = read_model("testbenches/data/static_chain.yaml").graph;
    CHECK(graph.switches.empty());

    const Operator& conv = named(graph, "conv");  // 3x17x15, filter 3x5, stride 2, pad 1
    CHECK(conv.output() == TensorShape{8, 9, 7});
    CHECK(conv.macs_per_sample == 8 * 9 * 7 * 3 * 3 * 5);
    CHECK(conv.weight_bytes == 2 * (8 * 3 * 3 * 5 + 8));
    CHECK(conv.out_bytes_per_sample == 2 * 8 * 9 * 7);
    const Operator& deep = named(graph, "deep");
    CHECK(deep.output() == TensorShape{8, 9, 7});
    CHECK(deep.macs_per_sample == 8 * 9 * 7 * 9);
    CHECK(deep.weight_bytes == 2 * 8 * 9);
    CHECK(named(graph, "pool").output() == TensorShape{8, 4, 3});
    CHECK(named(graph, "pool").macs_per_sample == 0);
    CHECK(named(graph, "normed").weight_bytes == 2 * 2 * 8);
    const Operator& head = named(graph, "head");
    CHECK(head.inputs[0].reduce == EdgeReduce::global_pool);
    CHECK(head.inputs[0].shape == TensorShape{8, 4, 3});
    CHECK(head.shape.in_rows == 1);
    CHECK(head.macs_per_sample == 80);
}

TEST_CASE("attention and matmul on tokens", "[shapes]") {
    const DynGraph graph = read_model("testbenches/data/early_exit.yaml").graph;
    const Operator& qkv = named(graph, "qkv0");
    CHECK(qkv.output() == TensorShape{96, 8, 1});
    CHECK(qkv.macs_per_sample == 8 * 32 * 96);
    const Operator& attention = named(graph, "attention0");
    CHECK(attention.output() == TensorShape{32, 8, 1});
    CHECK(attention.macs_per_sample == 2 * 8 * 8 * 32);
    CHECK(attention.weight_bytes == 0);
    CHECK(named(graph, "project0").weight_bytes == 2 * (32 * 32 + 32 + 2 * 32));  // bias, norm's gain and offset
}

TEST_CASE("an operator on a group of the channels", "[shapes]") {
    const DynGraph graph = model_of(with_switch("  - {name: a, kind: convolution, from: s.0, group: 0, groups: 4, "
                                                "out_channels: 8, filter: 3, pad: 1}\n"
                                                "  - {name: b, kind: convolution, from: s.1, group: 3, groups: 4, "
                                                "out_channels: 8, filter: 3, pad: 1}\n"
                                                "  - {name: out, kind: merge, mode: sum, from: [a, b]}\n",
                                                "branches: 2, choose: any"))
                               .graph;
    const Operator& b = named(graph, "b");
    CHECK(b.shape.in_channels == 4);
    CHECK(b.macs_per_sample == 8 * 8 * 8 * 4 * 9);
    CHECK(b.weight_bytes == 2 * 8 * 4 * 9);
    const Source& source = b.inputs[0];
    CHECK(source.shape == TensorShape{16, 8, 8});
    CHECK(source.taken_channels() == 4);
    CHECK(source.first_channel() == 12);
    CHECK(source.taken_elements() == 4 * 8 * 8);
    CHECK(named(graph, "a").inputs[0].first_channel() == 0);

    const auto refused = [](const std::string& layer) { return refusal_of(with_layers("  - {" + layer + "}\n")); };
    CHECK(refused("name: a, kind: elementwise, group: 0, groups: 3") ==
          "model.yaml:5: layers.a.groups: expected a divisor of 16 channels, found 3 groups");
    CHECK(refused("name: a, kind: elementwise, group: 4, groups: 4") ==
          "model.yaml:5: layers.a.group: expected 0 to 3, found 4");
    CHECK(refused("name: a, kind: elementwise, groups: 4") ==
          "model.yaml:5: layers.a.group: expected a value, found nothing");
}

TEST_CASE("heads of an attention", "[shapes]") {
    const std::string tokens = "name: t\nbatch: 8\ninput: {channels: 48, rows: 5}\nlayers:\n";
    const DynGraph graph = model_of(tokens + "  - {name: a, kind: attention, heads: 4}\n").graph;
    const Operator& attention = named(graph, "a");
    CHECK(attention.shape.heads == 4);
    CHECK(attention.output() == TensorShape{16, 5, 1});
    CHECK(attention.macs_per_sample == 2 * 5 * 5 * 16);
    CHECK(refusal_of(tokens + "  - {name: a, kind: attention, heads: 3}\n") ==
          "model.yaml:5: layers.a.heads: expected a divisor of 16 channels, found 3 heads");
}

TEST_CASE("dynamic sizes go from switch to merge, also nested", "[shapes]") {
    const DynGraph graph = read_model("testbenches/data/early_exit.yaml").graph;
    const auto path = [&](const std::string& name) { return to_string(named(graph, name).path, graph.switches); };
    CHECK(path("down0") == "static");
    CHECK(path("head0") == "exit0.1");
    CHECK(path("down1") == "exit0.0");
    CHECK(path("gate1") == "exit0.0");
    CHECK(path("head1") == "exit0.0 / exit1.1");
    CHECK(path("head2") == "exit0.0 / exit1.0");
    CHECK(path("logits") == "static");
    CHECK(named(graph, "logits").inputs[0].pops == 1);
    CHECK(named(graph, "logits").inputs[1].pops == 2);
    CHECK(named(graph, "logits").inputs[2].pops == 2);
    CHECK(graph.switches[1].enclosed.size() == 7);  // head1, encoder 2 without its pool, head2
    CHECK(graph.switches[0].enclosed.size() == 7 + 7);

    BatchRouting routing;  // 0 leaves at once, 1 after the second, 2 and 3 go to the end
    routing.samples = 4;
    routing.masks = {{2, 1, 1, 1}, {0, 2, 1, 1}};
    CHECK(samples_on(named(graph, "down0").path, routing) == 4);
    CHECK(samples_on(named(graph, "head0").path, routing) == 1);
    CHECK(samples_on(named(graph, "down1").path, routing) == 3);
    CHECK(samples_on(named(graph, "head1").path, routing) == 1);
    CHECK(samples_on(named(graph, "head2").path, routing) == 2);
}

TEST_CASE("folding puts patches or tokens into the batch", "[shapes]") {
    const DynGraph graph = read_model("testbenches/data/moe.yaml").graph;
    CHECK(graph.batch_inputs == 32);
    CHECK(graph.batch_samples() == 64);
}

TEST_CASE("shapes that do not fit are refused", "[shapes]") {
    const auto refused = [](const std::string& layer) { return refusal_of(with_layers("  - {" + layer + "}\n")); };
    CHECK(refused("name: a, kind: pool, filter: 9") ==
          "model.yaml:5: layers.a.filter: expected a filter of at most 8 for an input of 8 with a pad of 0, found 9");
    CHECK(refused("name: a, kind: pool, filter: 2, pad: 2") ==
          "model.yaml:5: layers.a.pad: expected a pad below the filter of 2, found 2");
    CHECK(refused("name: a, kind: matmul, out_channels: 4") ==
          "model.yaml:5: layers.a.from: expected for a matmul an input of channels x tokens x 1, found 16x8x8; pool "
          "it, or use a convolution");
    CHECK(refusal_of(with_layers("  - {name: m, kind: global_pool}\n  - {name: a, kind: attention}\n")) ==
          "model.yaml:6: layers.a.from: expected queries, keys and values side by side, a multiple of 3 channels, "
          "found 16");
    CHECK(refusal_of(with_layers("  - {name: p, kind: pool, filter: 2}\n"
                                 "  - {name: a, kind: elementwise, fused: [{add: input}]}\n")) ==
          "model.yaml:6: layers.a.fused: expected an addend of 16x7x7, the shape of the result, found \"input\" of "
          "16x8x8");
}
