// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/expert_regions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/brainstorm/layer_edits.h"

namespace switchyard::sched::brainstorm {

namespace {

const LayerSpec& layer_named(const std::vector<LayerSpec>& layers, const std::string& name) {
    return *std::find_if(layers.begin(), layers.end(), [&](const LayerSpec& layer) { return layer.name == name; });
}

TensorShape result_of(const DynGraph& graph, int op) {
    return graph.operators[static_cast<std::size_t>(op)].output();
}

/// Returns the merge that closes the switch.
const LayerSpec& find_regions(const std::string& path, const std::vector<LayerSpec>& layers, ExpertLayer& experts) {
    std::vector<ExpertLayer::Region>& regions = experts.regions;
    std::map<std::string, std::size_t> branch_of;  // of a branch's tensor or a layer on it
    for (std::size_t b = 0; b < regions.size(); ++b) branch_of[fmt::format("{}.{}", experts.router.name, b)] = b;
    const LayerSpec* merge = nullptr;
    // The file's order need not be topological: layers join a branch until none does any more.
    std::map<std::size_t, std::set<std::string>> names;
    for (bool grown = true; grown;) {
        grown = false;
        for (const LayerSpec& layer : layers) {
            if (branch_of.count(layer.name) != 0 || layer.kind == LayerKind::switching) continue;
            for (const std::string& tensor : tensors_of(layer)) {
                const auto found = branch_of.find(tensor);
                if (found == branch_of.end()) continue;
                if (layer.kind == LayerKind::merge) {
                    merge = merge == nullptr ? &layer : merge;
                    break;
                }
                if (layer.kind == LayerKind::sink)
                    fail_at(path, layer, "expected an expert as each branch, found a branch that is dropped");
                names[found->second].insert(layer.name);
                branch_of[layer.name] = found->second;
                grown = true;
                break;
            }
        }
    }
    if (merge == nullptr)
        fail_at(path, layer_named(layers, experts.router.name), "expected a merge that closes the switch, found none");
    for (const LayerSpec& layer : layers) {
        const auto found = branch_of.find(layer.name);
        if (found != branch_of.end()) regions[found->second].layers.push_back(layer);
    }
    for (const std::string& tensor : merge->from) {
        const auto found = branch_of.find(tensor);
        if (found == branch_of.end() || names[found->second].count(tensor) == 0)
            fail_at(path, *merge, fmt::format("expected inputs that layers of experts compute, found \"{}\"", tensor));
        ExpertLayer::Region& region = regions[found->second];
        if (!region.result.empty())
            fail_at(path, *merge, fmt::format("expected one result of branch {}, found two", found->second));
        region.result = tensor;
    }
    for (std::size_t b = 0; b < regions.size(); ++b)
        if (regions[b].result.empty())
            fail_at(path, *merge, fmt::format("expected one result of branch {}, found none", b));
    return *merge;
}

}  // namespace

std::vector<ExpertLayer> find_experts(const std::string& path, const ModelLayers& file, const Model& model,
                                      const std::vector<std::size_t>& results) {
    const DynGraph& graph = model.graph;
    if (graph.switches.empty())
        throw InputError(path, 0, "layers", "expected a switch with experts to place, found none");
    std::vector<ExpertLayer> all;
    std::set<std::string> merges;
    for (std::size_t id = 0; id < graph.switches.size(); ++id) {
        const Switch& item = graph.switches[id];
        ExpertLayer experts;
        experts.router = layer_named(file.layers, item.name);
        if (!item.path.empty())
            fail_at(path, experts.router,
                    "expected experts without a switch on several devices, found one on a branch");
        if (experts.router.patience > 0)
            fail_at(path, experts.router,
                    "expected a switch without patience, whose branches are experts, found one with it");
        experts.switch_id = id;
        experts.cell = result_of(graph, item.data);
        experts.results = id < results.size() ? std::max<std::size_t>(1, results[id]) : 1;
        experts.regions.resize(experts.router.branches);
        experts.merge = find_regions(path, file.layers, experts);
        experts.result = result_of(graph, graph.find_operator(experts.merge.name));
        if (experts.result.channels * experts.results > 0xFFFF)
            fail_at(path, experts.merge,
                    fmt::format("expected one result a sample, found {} of {} channels", experts.results,
                                experts.result.channels));
        merges.insert(experts.merge.name);
        all.push_back(std::move(experts));
    }
    for (const LayerSpec& layer : file.layers)
        if (layer.kind == LayerKind::merge && merges.count(layer.name) == 0)
            fail_at(path, layer, "expected one merge that closes the switch, found a second");
    return all;
}

ModelLayers experts_on_device(const std::string& name, const ExpertLayer& experts,
                              const std::vector<std::size_t>& local, std::uint32_t capacity) {
    const TensorShape& cell = experts.cell;
    ModelLayers part;
    part.name = name;
    part.batch_inputs = capacity;
    part.input = cell;
    const std::string switch_name = experts.router.name;
    const std::string cells = switch_name + ".cells", arrivals = switch_name + ".arrivals";
    part.layers.push_back(layer_of(cells, LayerKind::elementwise, "input"));
    const bool map = cell.rows > 1 || cell.columns > 1;
    LayerSpec gate = layer_of(arrivals, map ? LayerKind::convolution : LayerKind::matmul, cells);
    gate.out_channels = static_cast<std::uint16_t>(local.size() + 1);
    gate.filter_rows = cell.rows;
    gate.filter_columns = cell.columns;
    gate.groups = cell.channels;
    part.layers.push_back(gate);
    LayerSpec router = layer_of(switch_name, LayerKind::switching, cells);
    router.gate = arrivals;
    router.branches = static_cast<unsigned>(local.size() + 1);
    part.layers.push_back(router);
    part.layers.push_back(
        layer_of(switch_name + ".absent", LayerKind::sink, fmt::format("{}.{}", switch_name, local.size())));
    for (std::size_t i = 0; i < local.size(); ++i) {
        const ExpertLayer::Region& region = experts.regions.at(local[i]);
        for (LayerSpec layer : region.layers) {
            rename_tensor(layer, fmt::format("{}.{}", switch_name, local[i]), fmt::format("{}.{}", switch_name, i));
            part.layers.push_back(std::move(layer));
        }
        part.outputs.push_back(region.result);
    }
    return part;
}

}  // namespace switchyard::sched::brainstorm
