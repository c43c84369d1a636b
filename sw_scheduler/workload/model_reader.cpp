// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/model_reader.h"

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/workload/graph_builder.h"
#include "switchyard/sw_scheduler/workload/model_layers.h"

namespace switchyard::sched {

namespace {

TensorShape read_input(MappingReader input) {
    const auto side = [&](const char* key) { return static_cast<std::uint16_t>(input.integer_or(key, 1, 0xFFFF, 1)); };
    input.allow({"channels", "rows", "columns"});
    TensorShape shape;
    shape.channels = static_cast<std::uint16_t>(input.integer("channels", 1, 0xFFFF));
    shape.rows = side("rows");
    shape.columns = side("columns");
    input.finish();
    return shape;
}

ModelLayers layers_of(MappingReader& file) {
    file.allow({"name", "batch", "samples_per_input", "input", "templates", "layers", "outputs", "routing"});
    ModelLayers model;
    model.name = file.text("name");
    model.batch_inputs = static_cast<std::uint32_t>(file.integer("batch", 1, kLargestBatch));
    model.samples_per_input = static_cast<std::uint32_t>(file.integer_or("samples_per_input", 1, 1u << 11, 1));
    model.input = read_input(file.mapping("input"));
    model.layers = read_layers(file);
    model.outputs = file.has("outputs") ? file.texts("outputs") : std::vector<std::string>{model.layers.back().name};
    return model;
}

}  // namespace

ModelLayers read_model_layers(const std::string& path) {
    MappingReader file(load_yaml(path), path, "");
    ModelLayers model = layers_of(file);
    file.has("routing");
    file.finish();
    return model;
}

Model read_model(const std::string& path) {
    MappingReader file(load_yaml(path), path, "");
    ModelLayers read = layers_of(file);
    DynGraph graph;
    graph.file = path;
    graph.name = std::move(read.name);
    graph.batch_inputs = read.batch_inputs;
    graph.samples_per_input = read.samples_per_input;
    graph.input = read.input;
    const int output_line = file.has("outputs") ? file.line_of_key("outputs") : read.layers.back().line;
    Model model;
    model.graph = GraphBuilder(std::move(graph), read.layers).build(read.outputs, output_line);
    if (file.has("routing"))
        model.routing = read_routing(file.mapping("routing"), model.graph.signatures(), model.graph.samples_per_input);
    file.finish();
    return model;
}

}  // namespace switchyard::sched
