// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/model_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/not_both.h"
#include "switchyard/sw_scheduler/workload/graph_builder.h"
#include "switchyard/sw_scheduler/workload/model_layers.h"
#include "switchyard/sw_scheduler/workload/route_messages.h"

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

/// Declared routes keep what the switch's router says.
void limit_routes(const std::string& path, const LayerSpec& layer, Model& model) {
    if (!model.routing.distribution) return;
    const auto id = static_cast<std::size_t>(model.graph.find_switch(layer.name));
    SwitchRoutes& routes = model.routing.distribution->switches.at(id);
    const CellRouter& router = *layer.router;
    const auto fail = [&](const std::string& message) {
        throw InputError(path, layer.line, layer.key("router"), message);
    };
    if (!layer.exclusive && router.kind != CellRouter::Kind::threshold && !routes_by_number(router)) {
        const double kept = std::accumulate(routes.probability.begin(), routes.probability.end(), 0.0);
        constexpr double kRounding = 1e-6;
        if (!routes.fixed_count || std::abs(kept - static_cast<double>(router.k)) > kRounding)
            fail(fmt::format("expected keep: {0} in its routes, as the router takes {0} of the branches, found {1}",
                             router.k, routes.fixed_count ? fmt::format("keep: {:g}", kept) : "no keep"));
    }
    if (router.capacity == 0) return;
    if (routes.capacity > 0) fail(not_both("a capacity", "a capacity of its routes"));
    routes.capacity = static_cast<std::uint32_t>(std::min<std::uint64_t>(router.capacity, 1u << 30));
    routes.next_best = router.drop == CellRouter::Drop::next_best;
    if (layer.exclusive && std::uint64_t{routes.capacity} * layer.branches < model.graph.batch_samples())
        fail(no_room(layer.branches, routes.capacity, model.graph.batch_samples()));
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
    for (const LayerSpec& layer : read.layers)
        if (layer.router) limit_routes(path, layer, model);
    file.finish();
    return model;
}

}  // namespace switchyard::sched
