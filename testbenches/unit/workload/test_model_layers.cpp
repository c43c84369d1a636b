// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/workload/model_text.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

void check_equal(const Source& a, const Source& b) {
    CHECK(a.producer == b.producer);
    CHECK(a.switch_id == b.switch_id);
    CHECK(a.branch == b.branch);
    CHECK(a.pops == b.pops);
    CHECK(a.role == b.role);
    CHECK(a.reduce == b.reduce);
    CHECK(a.shape == b.shape);
    CHECK(a.group == b.group);
    CHECK(a.groups == b.groups);
}

void check_equal(const Operator& a, const Operator& b) {
    INFO(a.name);
    CHECK(a.name == b.name);
    CHECK(a.shape.kind == b.shape.kind);
    CHECK(a.shape.joined == b.shape.joined);
    CHECK(a.shape.heads == b.shape.heads);
    CHECK(a.output() == b.output());
    CHECK(a.fused == b.fused);
    CHECK(a.merge_mode == b.merge_mode);
    CHECK(a.path == b.path);
    CHECK(a.gate_switch == b.gate_switch);
    CHECK(a.macs_per_sample == b.macs_per_sample);
    CHECK(a.weight_bytes == b.weight_bytes);
    CHECK(a.pool == b.pool);
    CHECK(a.parameters == b.parameters);
    CHECK(a.weight_scale == b.weight_scale);
    CHECK(a.norm_parameters == b.norm_parameters);
    CHECK(a.position_parameters == b.position_parameters);
    CHECK(a.expert == b.expert);
    CHECK(a.parameter_heads == b.parameter_heads);
    REQUIRE(a.inputs.size() == b.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) check_equal(a.inputs[i], b.inputs[i]);
}

void check_equal(const DynGraph& a, const DynGraph& b) {
    CHECK(a.name == b.name);
    CHECK(a.batch_inputs == b.batch_inputs);
    CHECK(a.samples_per_input == b.samples_per_input);
    CHECK(a.input == b.input);
    CHECK(a.outputs == b.outputs);
    REQUIRE(a.operators.size() == b.operators.size());
    for (std::size_t i = 0; i < a.operators.size(); ++i) check_equal(a.operators[i], b.operators[i]);
    REQUIRE(a.switches.size() == b.switches.size());
    for (std::size_t i = 0; i < a.switches.size(); ++i) {
        CHECK(a.switches[i].name == b.switches[i].name);
        CHECK(a.switches[i].branches == b.switches[i].branches);
        CHECK(a.switches[i].exclusive == b.switches[i].exclusive);
        CHECK(a.switches[i].sinks == b.switches[i].sinks);
        CHECK(a.switches[i].threshold == b.switches[i].threshold);
        CHECK(a.switches[i].patience == b.switches[i].patience);
    }
}

}  // namespace

TEST_CASE("a model that is written reads the same", "[workload]") {
    std::size_t models = 0;
    for (const char* folder : {"configs/workloads", "testbenches/data"})
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".yaml") continue;
            std::optional<DynGraph> graph;
            try {
                graph = read_model(entry.path().string()).graph;
            } catch (const InputError&) {
                continue;  // files of other formats, and bad ones
            }
            ++models;
            INFO(entry.path());
            const std::string text = to_yaml(read_model_layers(entry.path().string()));
            check_equal(*graph, model_of(text).graph);
        }
    CHECK(models > 12);
}

TEST_CASE("what models say of values, groups and thresholds is written", "[workload]") {
    const std::string text = with_layers(
        "  - {name: a, kind: convolution, from: input, out_channels: 4, filter: [8, 8], group: 1, groups: 2,\n"
        "     fused: [{layer_norm: n}, relu], parameters: \"p 1\", weight_scale: 0.5}\n"
        "  - {name: g, kind: matmul, out_channels: 1}\n"
        "  - {name: s, kind: switch, from: a, gate: g, threshold: 0.25}\n"
        "  - {name: drop, kind: sink, from: s.0}\n"
        "  - {name: b, kind: matmul, from: s.1, out_channels: 2, fused: [{position: q}]}\n");
    const TextFile file("layers.yaml", text);
    check_equal(model_of(text).graph, model_of(to_yaml(read_model_layers(file.path()))).graph);
}
