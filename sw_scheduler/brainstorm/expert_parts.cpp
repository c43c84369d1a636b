// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/expert_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched::brainstorm {

namespace {

[[noreturn]] void fail(const std::string& path, const LayerSpec& layer, const std::string& message) {
    throw InputError(path, layer.line, layer.key(), message);
}

std::vector<std::string> tensors_of(const LayerSpec& layer) {
    std::vector<std::string> tensors = layer.from;
    for (const std::string* other : {&layer.added, &layer.factor, &layer.gate})
        if (!other->empty()) tensors.push_back(*other);
    return tensors;
}

void rename_tensor(LayerSpec& layer, const std::string& from, const std::string& to) {
    for (std::string& tensor : layer.from)
        if (tensor == from) tensor = to;
    if (layer.added == from) layer.added = to;
    if (layer.factor == from) layer.factor = to;
}

const LayerSpec& only_switch(const std::string& path, const std::vector<LayerSpec>& layers) {
    const LayerSpec* found = nullptr;
    for (const LayerSpec& layer : layers) {
        if (layer.kind != LayerKind::switching) continue;
        if (found != nullptr) fail(path, layer, "a second switch: experts on several devices want a network with one");
        found = &layer;
    }
    if (found == nullptr) throw InputError(path, 0, "layers", "no switch, so there are no experts to place");
    if (!found->exclusive)
        fail(path, *found, "sends a sample to several branches: experts on several devices want one");
    if (found->patience > 0) fail(path, *found, "has a patience: its branches are no experts");
    return *found;
}

const LayerSpec& only_merge(const std::string& path, const std::vector<LayerSpec>& layers, const LayerSpec& router) {
    const auto is_merge = [](const LayerSpec& layer) { return layer.kind == LayerKind::merge; };
    const auto found = std::find_if(layers.begin(), layers.end(), is_merge);
    if (found == layers.end()) fail(path, router, "no merge closes the switch");
    const auto second = std::find_if(found + 1, layers.end(), is_merge);
    if (second != layers.end()) fail(path, *second, "a second merge: one has to close the switch");
    return *found;
}

LayerSpec layer_of(std::string name, LayerKind kind, std::string from) {
    LayerSpec layer;
    layer.name = std::move(name);
    layer.kind = kind;
    layer.from = {std::move(from)};
    return layer;
}

}  // namespace

ExpertParts::ExpertParts(const std::string& path, const Model& model) {
    const ModelLayers layers = read_model_layers(path);
    const LayerSpec& router = only_switch(path, layers.layers);
    const LayerSpec& merge = only_merge(path, layers.layers, router);
    name_ = layers.name;
    switch_name_ = router.name;
    switch_line_ = router.line;
    const DynGraph& graph = model.graph;
    cell_ = graph.operators[static_cast<std::size_t>(graph.switches.front().data)].output();
    result_bytes_ = graph.operators[static_cast<std::size_t>(graph.find_operator(merge.name))].output().bytes();
    regions_.resize(router.branches);
    find_regions(path, layers.layers, merge);
    divide_rest(path, layers, router, merge);
    if (!back_) return;
    back_->input = graph.operators[static_cast<std::size_t>(graph.find_operator(merge.name))].output();
}

void ExpertParts::find_regions(const std::string& path, const std::vector<LayerSpec>& layers, const LayerSpec& merge) {
    std::map<std::string, std::size_t> branch_of;  // of a branch's tensor or a layer on it
    for (std::size_t b = 0; b < regions_.size(); ++b) branch_of[fmt::format("{}.{}", switch_name_, b)] = b;
    // The file's order need not be topological: layers join a branch until none does any more.
    std::map<std::size_t, std::set<std::string>> names;
    for (bool grown = true; grown;) {
        grown = false;
        for (const LayerSpec& layer : layers) {
            if (layer.kind == LayerKind::merge || branch_of.count(layer.name) != 0) continue;
            for (const std::string& tensor : tensors_of(layer)) {
                const auto found = branch_of.find(tensor);
                if (found == branch_of.end()) continue;
                if (layer.kind == LayerKind::sink) fail(path, layer, "drops a branch: each branch is to be an expert");
                names[found->second].insert(layer.name);
                branch_of[layer.name] = found->second;
                grown = true;
                break;
            }
        }
    }
    for (const LayerSpec& layer : layers) {
        const auto found = branch_of.find(layer.name);
        if (found != branch_of.end()) regions_[found->second].layers.push_back(layer);
    }
    for (const std::string& tensor : merge.from) {
        const auto found = branch_of.find(tensor);
        if (found == branch_of.end() || names[found->second].count(tensor) == 0)
            fail(path, merge, fmt::format("takes \"{}\", which no layer of an expert computes", tensor));
        Region& region = regions_[found->second];
        if (!region.result.empty()) fail(path, merge, fmt::format("takes two results of branch {}", found->second));
        region.result = tensor;
    }
    for (std::size_t b = 0; b < regions_.size(); ++b)
        if (regions_[b].result.empty()) fail(path, merge, fmt::format("takes no result of branch {}", b));
}

void ExpertParts::divide_rest(const std::string& path, const ModelLayers& model, const LayerSpec& router,
                              const LayerSpec& merge) {
    std::set<std::string> inside{router.name, merge.name}, behind{merge.name};
    for (const Region& region : regions_)
        for (const LayerSpec& layer : region.layers) inside.insert(layer.name);
    for (bool grown = true; grown;) {
        grown = false;
        for (const LayerSpec& layer : model.layers) {
            const std::vector<std::string> tensors = tensors_of(layer);
            const auto is_behind = [&](const std::string& tensor) { return behind.count(tensor) != 0; };
            if (behind.count(layer.name) == 0 && std::any_of(tensors.begin(), tensors.end(), is_behind))
                grown = behind.insert(layer.name).second;
        }
    }
    front_ = model;
    front_.name += ".front";
    front_.layers.clear();
    front_.outputs.clear();
    ModelLayers back = front_;
    back.name = model.name + ".back";
    if (!merge.fused.empty()) {
        back.layers.push_back(layer_of(merge.name, LayerKind::elementwise, "input"));
        back.layers.back().fused = merge.fused;
        back.layers.back().norm_parameters = merge.norm_parameters;
        back.layers.back().position_parameters = merge.position_parameters;
    }
    for (const LayerSpec& layer : model.layers) {
        if (inside.count(layer.name) != 0) continue;
        if (behind.count(layer.name) == 0) {
            front_.layers.push_back(layer);
            continue;
        }
        for (const std::string& tensor : tensors_of(layer))
            if (behind.count(tensor) == 0)
                fail(path, layer, fmt::format("stands behind the experts and takes \"{}\", which is not", tensor));
        back.layers.push_back(layer);
        if (merge.fused.empty()) rename_tensor(back.layers.back(), merge.name, "input");
    }
    const auto add_output = [](ModelLayers& part, const std::string& tensor) {
        if (std::find(part.outputs.begin(), part.outputs.end(), tensor) == part.outputs.end())
            part.outputs.push_back(tensor);
    };
    if (router.from.front() != "input") add_output(front_, router.from.front());
    add_output(front_, router.gate);
    for (const std::string& output : model.outputs) {
        if (output == merge.name && merge.fused.empty()) continue;
        if (behind.count(output) != 0)
            add_output(back, output);
        else if (inside.count(output) != 0)
            fail(path, router, fmt::format("output \"{}\" is within an expert", output));
        else
            add_output(front_, output);
    }
    if (!back.layers.empty()) back_ = std::move(back);
}

ModelLayers ExpertParts::on_device(const std::vector<std::size_t>& local, std::uint32_t capacity) const {
    ModelLayers part;
    part.name = name_ + ".experts";
    part.batch_inputs = capacity;
    part.input = cell_;
    const std::string cells = switch_name_ + ".cells", arrivals = switch_name_ + ".arrivals";
    part.layers.push_back(layer_of(cells, LayerKind::elementwise, "input"));
    const bool map = cell_.rows > 1 || cell_.columns > 1;
    LayerSpec gate = layer_of(arrivals, map ? LayerKind::convolution : LayerKind::matmul, cells);
    gate.out_channels = static_cast<std::uint16_t>(local.size() + 1);
    gate.filter_rows = cell_.rows;
    gate.filter_columns = cell_.columns;
    gate.groups = cell_.channels;
    part.layers.push_back(gate);
    LayerSpec router = layer_of(switch_name_, LayerKind::switching, cells);
    router.gate = arrivals;
    router.branches = static_cast<unsigned>(local.size() + 1);
    part.layers.push_back(router);
    part.layers.push_back(
        layer_of(switch_name_ + ".absent", LayerKind::sink, fmt::format("{}.{}", switch_name_, local.size())));
    for (std::size_t i = 0; i < local.size(); ++i) {
        const Region& region = regions_.at(local[i]);
        for (LayerSpec layer : region.layers) {
            rename_tensor(layer, fmt::format("{}.{}", switch_name_, local[i]), fmt::format("{}.{}", switch_name_, i));
            part.layers.push_back(std::move(layer));
        }
        part.outputs.push_back(region.result);
    }
    return part;
}

}  // namespace switchyard::sched::brainstorm
