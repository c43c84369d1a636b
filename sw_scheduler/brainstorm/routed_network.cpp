// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/routed_network.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/brainstorm/network_generators.h"
#include "switchyard/sw_scheduler/workload/cell_dataflow.h"

namespace switchyard::sched::brainstorm {

namespace {

using Generator = void (*)(MappingReader&, RoutedNetwork&);

const std::vector<std::pair<std::string, Generator>>& generators() {
    static const std::vector<std::pair<std::string, Generator>> kGenerators{
        {"switch_transformer", read_switch_transformer},
        {"task_moe", read_task_moe},
        {"swin_moe", read_swin_moe},
        {"live_sr", read_live_sr},
        {"msdnet", read_msdnet},
        {"dynamic_routing", read_dynamic_routing_cells},
        {"exchange", read_exchange},
        {"parallel_convolutions", read_parallel_convolutions},
        {"matrix_branches", read_matrix_branches},
    };
    return kGenerators;
}

std::uint64_t weight_bytes(const std::vector<Wave>& waves) {
    std::uint64_t bytes = 0;
    for (const Wave& wave : waves)
        for (const CellOperator& op : wave)
            if (op.weights) bytes += op.one.weight_bytes();
    return bytes;
}

/// "network.routes.skew" -> file["routes"]["skew"].
void apply_overrides(YAML::Node file, std::map<std::string, std::string>& overrides) {
    for (auto it = overrides.begin(); it != overrides.end();) {
        const std::string prefix = "network.";
        if (it->first.compare(0, prefix.size(), prefix) != 0) {
            ++it;
            continue;
        }
        const std::string key = it->first.substr(prefix.size());
        const std::size_t dot = key.find('.');
        const YAML::Node value = parse_yaml(it->second, "--set " + it->first);
        if (dot == std::string::npos)
            file[key] = value;
        else
            file[key.substr(0, dot)][key.substr(dot + 1)] = value;
        it = overrides.erase(it);
    }
}

/// `cell: {dims, shape}` of the tensor that routers route, [inputs, cells of an input, elements]: cells must tile it,
/// and the operators between two routers, self-attention, tell whether a cell keeps apart from others.
void read_cells(MappingReader& file, RoutedNetwork& network) {
    if (!file.has("cell")) return;
    const MappingReader cell = file.mapping("cell");
    const CellAnnotation annotation = read_cell(cell);
    std::uint64_t elements = 0;
    for (const Stage& stage : network.stages)
        if (stage.routed && elements == 0) elements = stage.cell_elements;
    try {
        const bool whole_input = annotation.dims.size() == 1;
        const Shape tensor{network.cells / network.cells_per_input,
                           whole_input ? std::uint64_t{1} : network.cells_per_input, elements};
        if (annotation.cells_of(tensor) != network.cells)
            file.fail("cell", fmt::format("expected the {} cells of the generator, found {} of a batch", network.cells,
                                          annotation.cells_of(tensor)));
        // The relation does not depend on sizes: two inputs of two cells with a few elements tell it.
        const Shape small{2, whole_input ? std::uint64_t{1} : 2, 2};
        CellAnnotation one;
        one.dims = annotation.dims;
        one.shape = {1, 1, 2};
        network.cells_stay = trace_cells(self_attention_map(), small, one, one).relation == CellRelation::keeps;
    } catch (const InputError& error) {
        file.fail("cell", error.what());
    }
}

}  // namespace

std::uint64_t Branch::weight_bytes() const {
    return brainstorm::weight_bytes(waves);
}

std::uint64_t Stage::fixed_weight_bytes() const {
    return brainstorm::weight_bytes(fixed) + brainstorm::weight_bytes({gate}) + brainstorm::weight_bytes(common);
}

std::vector<std::size_t> RoutedNetwork::routed_stages() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < stages.size(); ++i)
        if (stages[i].routed) result.push_back(i);
    return result;
}

std::vector<std::size_t> RoutedNetwork::branches() const {
    std::vector<std::size_t> result;
    for (const std::size_t i : routed_stages()) result.push_back(stages[i].router.branches);
    return result;
}

std::uint64_t RoutedNetwork::fixed_weight_bytes() const {
    std::uint64_t bytes = 0;
    for (const Stage& stage : stages) bytes += stage.fixed_weight_bytes();
    return bytes;
}

std::uint64_t RoutedNetwork::branch_weight_bytes() const {
    std::uint64_t bytes = 0;
    for (const Stage& stage : stages)
        for (std::size_t b = 0; stage.routed && b < stage.router.branches; ++b) bytes += stage.branch(b).weight_bytes();
    return bytes;
}

std::uint64_t RoutedNetwork::decisions() const {
    std::uint64_t count = 0;
    for (const Stage& stage : stages)
        if (stage.routed) count += stage.read_backs;
    return count;
}

RoutedNetwork read_routed_network(const std::string& path, std::map<std::string, std::string>& overrides) {
    const YAML::Node root = load_yaml(path);
    if (root.IsMap()) apply_overrides(root, overrides);
    MappingReader file(root, path, "");
    RoutedNetwork network;
    network.file = path;
    network.name = file.text("name");
    std::vector<std::string> names;
    for (const auto& [name, generator] : generators()) names.push_back(name);
    file.text("generator");  // must be there
    const std::string wanted = file.choice_or("generator", names);
    for (const auto& [name, generator] : generators())
        if (name == wanted) generator(file, network);
    network.routes = network.profile_routes = read_routes(file.mapping("routes"));
    if (file.has("profile_routes")) network.profile_routes = read_routes(file.mapping("profile_routes"));
    read_cells(file, network);
    file.finish();
    return network;
}

CellRouter read_network_router(MappingReader& file, CellRouter::Kind kind, std::size_t branches) {
    const CellRouter router = read_cell_router(file.mapping("router"));
    if (router.kind != kind)
        file.fail("router", fmt::format("expected {}, the router of this network, found {}", to_string(kind),
                                        to_string(router.kind)));
    if (branches > 0 && router.branches != branches)
        file.fail("router",
                  fmt::format("expected the {} branches of the network, found {}", branches, router.branches));
    return router;
}

CellOperator linear_layer(std::uint64_t rows, std::uint64_t inputs, std::uint64_t outputs, unsigned elementwise,
                          std::uint64_t cells) {
    CellOperator op;
    op.one = linear_operator(rows, inputs, outputs);
    op.elementwise = elementwise;
    op.cells = cells;
    return op;
}

CellOperator convolution_layer(std::uint64_t in, std::uint64_t out, std::uint64_t height, std::uint64_t width,
                               std::uint64_t kernel, std::uint64_t stride, unsigned elementwise) {
    CellOperator op;
    op.one.name = "convolution";
    op.one.kind = GpuOperator::Kind::convolution;
    op.one.in_channels = in;
    op.one.in_height = height;
    op.one.in_width = width;
    op.one.out_channels = out;
    op.one.out_height = (height + stride - 1) / stride;
    op.one.out_width = (width + stride - 1) / stride;
    op.one.kernel = kernel;
    op.one.stride = stride;
    op.elementwise = elementwise;
    return op;
}

CellOperator depthwise_layer(std::uint64_t channels, std::uint64_t height, std::uint64_t width, std::uint64_t kernel,
                             std::uint64_t stride, unsigned elementwise) {
    CellOperator op = convolution_layer(channels, channels, height, width, kernel, stride, elementwise);
    op.one.groups = channels;
    return op;
}

CellOperator elementwise_layer(std::uint64_t elements, std::uint64_t cells) {
    CellOperator op;
    op.one.name = "elementwise";
    op.one.kind = GpuOperator::Kind::pooling;
    op.one.in_channels = op.one.out_channels = op.one.groups = elements;
    op.cells = cells;
    op.weights = false;
    return op;
}

}  // namespace switchyard::sched::brainstorm
