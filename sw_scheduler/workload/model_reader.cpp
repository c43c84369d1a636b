// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/model_reader.h"

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/workload/graph_builder.h"

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

}  // namespace

Model read_model(const std::string& path) {
    MappingReader file(load_yaml(path), path, "");
    file.allow({"name", "batch", "samples_per_input", "input", "templates", "layers", "outputs", "routing"});
    DynGraph graph;
    graph.file = path;
    graph.name = file.text("name");
    graph.batch_inputs = static_cast<std::uint32_t>(file.integer("batch", 1, kLargestBatch));
    graph.samples_per_input = static_cast<std::uint32_t>(file.integer_or("samples_per_input", 1, 1u << 11, 1));
    graph.input = read_input(file.mapping("input"));

    const std::vector<LayerSpec> layers = read_layers(file);
    const std::vector<std::string> outputs =
        file.has("outputs") ? file.texts("outputs") : std::vector<std::string>{layers.back().name};
    const int output_line = file.has("outputs") ? file.line_of_key("outputs") : layers.back().line;
    Model model;
    model.graph = GraphBuilder(std::move(graph), layers).build(outputs, output_line);
    if (file.has("routing"))
        model.routing = read_routing(file.mapping("routing"), model.graph.signatures(), model.graph.samples_per_input);
    file.finish();
    return model;
}

}  // namespace switchyard::sched
