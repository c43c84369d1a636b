// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/expert_parts.h"

#include <algorithm>
#include <utility>

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

LayerSpec layer_of(std::string name, LayerKind kind, std::string from) {
    LayerSpec layer;
    layer.name = std::move(name);
    layer.kind = kind;
    layer.from = {std::move(from)};
    return layer;
}

const LayerSpec& layer_named(const std::vector<LayerSpec>& layers, const std::string& name) {
    return *std::find_if(layers.begin(), layers.end(), [&](const LayerSpec& layer) { return layer.name == name; });
}

TensorShape result_of(const DynGraph& graph, int op) {
    return graph.operators[static_cast<std::size_t>(op)].output();
}

/// What stands for a merge in the part behind it: the results of a sample lie side by side and are added up, then comes
/// what the merge fuses. Nothing if there is nothing to do.
std::vector<LayerSpec> joined_results(const LayerSpec& merge, std::size_t results) {
    std::vector<LayerSpec> layers;
    if (results == 1 && merge.fused.empty()) return layers;
    for (std::size_t i = 0; i < results; ++i) {
        const bool last = i + 1 == results;
        LayerSpec layer =
            layer_of(last ? merge.name : fmt::format("{}.result{}", merge.name, i), LayerKind::elementwise, "input");
        layer.groups = static_cast<std::uint16_t>(results);
        layer.group = static_cast<std::uint16_t>(i);
        if (i > 0) {
            layer.fused.push_back(FusedStep::add);
            layer.added = layers.back().name;
        }
        if (last) {
            layer.fused.insert(layer.fused.end(), merge.fused.begin(), merge.fused.end());
            layer.norm_parameters = merge.norm_parameters;
            layer.position_parameters = merge.position_parameters;
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

void add_output(ModelLayers& part, const std::string& tensor) {
    if (std::find(part.outputs.begin(), part.outputs.end(), tensor) == part.outputs.end())
        part.outputs.push_back(tensor);
}

}  // namespace

ExpertParts::ExpertParts(const std::string& path, const Model& model, const std::vector<std::size_t>& results) {
    const ModelLayers file = read_model_layers(path);
    name_ = file.name;
    find_experts(path, file, model, results);
    divide_rest(path, file);
}

void ExpertParts::find_experts(const std::string& path, const ModelLayers& file, const Model& model,
                               const std::vector<std::size_t>& results) {
    const DynGraph& graph = model.graph;
    if (graph.switches.empty()) throw InputError(path, 0, "layers", "no switch, so there are no experts to place");
    for (std::size_t id = 0; id < graph.switches.size(); ++id) {
        const Switch& item = graph.switches[id];
        const LayerSpec& router = layer_named(file.layers, item.name);
        if (!item.path.empty()) fail(path, router, "stands on a branch: experts on several devices hold no switch");
        if (router.patience > 0) fail(path, router, "has a patience: its branches are no experts");
        ExpertLayer experts;
        experts.router = router.name;
        experts.switch_id = id;
        experts.line = router.line;
        experts.cell = result_of(graph, item.data);
        experts.results = id < results.size() ? std::max<std::size_t>(1, results[id]) : 1;
        experts.regions.resize(router.branches);
        const LayerSpec& merge = find_regions(path, file.layers, experts);
        experts.result = result_of(graph, graph.find_operator(merge.name));
        if (experts.result.channels * experts.results > 0xFFFF)
            fail(path, merge,
                 fmt::format("{} results of {} channels a sample", experts.results, experts.result.channels));
        inside_.insert({router.name, merge.name});
        for (const ExpertLayer::Region& region : experts.regions)
            for (const LayerSpec& layer : region.layers) inside_.insert(layer.name);
        switches_.push_back(router);
        merges_.push_back(merge);
        experts_.push_back(std::move(experts));
    }
    for (const LayerSpec& layer : file.layers)
        if (layer.kind == LayerKind::merge && inside_.count(layer.name) == 0)
            fail(path, layer, "a second merge: one has to close the switch");
}

/// Returns the merge that closes the switch.
const LayerSpec& ExpertParts::find_regions(const std::string& path, const std::vector<LayerSpec>& layers,
                                           ExpertLayer& experts) {
    std::vector<ExpertLayer::Region>& regions = experts.regions;
    std::map<std::string, std::size_t> branch_of;  // of a branch's tensor or a layer on it
    for (std::size_t b = 0; b < regions.size(); ++b) branch_of[fmt::format("{}.{}", experts.router, b)] = b;
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
                if (layer.kind == LayerKind::sink) fail(path, layer, "drops a branch: each branch is to be an expert");
                names[found->second].insert(layer.name);
                branch_of[layer.name] = found->second;
                grown = true;
                break;
            }
        }
    }
    if (merge == nullptr) fail(path, layer_named(layers, experts.router), "no merge closes the switch");
    for (const LayerSpec& layer : layers) {
        const auto found = branch_of.find(layer.name);
        if (found != branch_of.end()) regions[found->second].layers.push_back(layer);
    }
    for (const std::string& tensor : merge->from) {
        const auto found = branch_of.find(tensor);
        if (found == branch_of.end() || names[found->second].count(tensor) == 0)
            fail(path, *merge, fmt::format("takes \"{}\", which no layer of an expert computes", tensor));
        ExpertLayer::Region& region = regions[found->second];
        if (!region.result.empty()) fail(path, *merge, fmt::format("takes two results of branch {}", found->second));
        region.result = tensor;
    }
    for (std::size_t b = 0; b < regions.size(); ++b)
        if (regions[b].result.empty()) fail(path, *merge, fmt::format("takes no result of branch {}", b));
    return *merge;
}

std::map<std::string, std::size_t> ExpertParts::sections(const std::vector<LayerSpec>& layers) const {
    std::map<std::string, std::size_t> section_of;
    std::map<std::string, std::size_t> merge_number;
    for (std::size_t i = 0; i < merges_.size(); ++i) merge_number[merges_[i].name] = i;
    for (const LayerSpec& layer : layers) section_of[layer.name] = 0;
    // What a merge gives comes behind its switch, whatever the order in the file.
    for (bool grown = true; grown;) {
        grown = false;
        const auto raise = [&](const std::string& name, std::size_t to) {
            if (section_of[name] >= to) return;
            section_of[name] = to;
            grown = true;
        };
        for (const LayerSpec& layer : layers) {
            if (const auto merge = merge_number.find(layer.name); merge != merge_number.end()) {
                raise(layer.name, section_of[switches_[merge->second].name] + 1);
            } else if (inside_.count(layer.name) == 0 || layer.kind == LayerKind::switching) {
                for (const std::string& tensor : tensors_of(layer))
                    if (const auto found = section_of.find(tensor); found != section_of.end())
                        raise(layer.name, found->second);
            }
        }
    }
    return section_of;
}

void ExpertParts::divide_rest(const std::string& path, const ModelLayers& file) {
    const std::map<std::string, std::size_t> section_of = sections(file.layers);
    for (std::size_t i = 0; i < switches_.size(); ++i)
        if (section_of.at(switches_[i].name) != i)
            fail(path, switches_[i],
                 fmt::format("does not follow the merge of \"{}\": layers of experts on several devices follow one "
                             "another",
                             switches_[i == 0 ? 0 : i - 1].name));
    for (std::size_t i = 0; i <= switches_.size(); ++i) {
        ModelLayers part = section(path, file, i, section_of);
        if (part.layers.empty())
            between_.emplace_back();
        else
            between_.emplace_back(std::move(part));
    }
}

ModelLayers ExpertParts::section(const std::string& path, const ModelLayers& file, std::size_t number,
                                 const std::map<std::string, std::size_t>& section_of) const {
    const bool last = number == switches_.size();
    ModelLayers part = file;
    part.name += number == 0 ? ".front" : last ? ".back" : fmt::format(".middle{}", number);
    part.layers.clear();
    part.outputs.clear();
    std::string begin = "input";  // the tensor with which the part begins, as the file calls it
    bool plain = true;            // and which is the part's input
    if (number > 0) {
        const ExpertLayer& before = experts_[number - 1];
        const LayerSpec& merge = merges_[number - 1];
        begin = merge.name;
        part.input = before.result;
        part.input.channels = static_cast<std::uint16_t>(before.result.channels * before.results);
        part.layers = joined_results(merge, before.results);
        plain = part.layers.empty();
    }
    const auto in_section = [&](const std::string& tensor) {
        const auto found = section_of.find(tensor);
        return found != section_of.end() ? found->second == number : number == 0;
    };
    const auto check = [&](const LayerSpec& layer) {
        for (const std::string& tensor : tensors_of(layer))
            if (!in_section(tensor))
                fail(path, layer, fmt::format("stands behind the experts and takes \"{}\", which is not", tensor));
    };
    for (const LayerSpec& layer : file.layers) {
        if (inside_.count(layer.name) != 0 || section_of.at(layer.name) != number) continue;
        check(layer);
        part.layers.push_back(layer);
        if (plain) rename_tensor(part.layers.back(), begin, "input");
    }
    if (!last) {
        const LayerSpec& router = switches_[number];
        check(router);
        if (router.from.front() != begin || !plain) add_output(part, router.from.front());
        if (!router.gate.empty()) add_output(part, router.gate);
    }
    for (const std::string& output : file.outputs) {
        const auto merge =
            std::find_if(merges_.begin(), merges_.end(), [&](const LayerSpec& layer) { return layer.name == output; });
        if (merge == merges_.end() && inside_.count(output) != 0)
            fail(path, switches_.front(), fmt::format("output \"{}\" is within an expert", output));
        if (in_section(output) && (output != begin || !plain)) add_output(part, output);
    }
    return part;
}

ModelLayers ExpertParts::on_device(std::size_t number, const std::vector<std::size_t>& local,
                                   std::uint32_t capacity) const {
    const ExpertLayer& experts = experts_.at(number);
    const TensorShape& cell = experts.cell;
    ModelLayers part;
    part.name = name_ + (experts_.size() == 1 ? ".experts" : "." + experts.router);
    part.batch_inputs = capacity;
    part.input = cell;
    const std::string cells = experts.router + ".cells", arrivals = experts.router + ".arrivals";
    part.layers.push_back(layer_of(cells, LayerKind::elementwise, "input"));
    const bool map = cell.rows > 1 || cell.columns > 1;
    LayerSpec gate = layer_of(arrivals, map ? LayerKind::convolution : LayerKind::matmul, cells);
    gate.out_channels = static_cast<std::uint16_t>(local.size() + 1);
    gate.filter_rows = cell.rows;
    gate.filter_columns = cell.columns;
    gate.groups = cell.channels;
    part.layers.push_back(gate);
    LayerSpec router = layer_of(experts.router, LayerKind::switching, cells);
    router.gate = arrivals;
    router.branches = static_cast<unsigned>(local.size() + 1);
    part.layers.push_back(router);
    part.layers.push_back(
        layer_of(experts.router + ".absent", LayerKind::sink, fmt::format("{}.{}", experts.router, local.size())));
    for (std::size_t i = 0; i < local.size(); ++i) {
        const ExpertLayer::Region& region = experts.regions.at(local[i]);
        for (LayerSpec layer : region.layers) {
            rename_tensor(layer, fmt::format("{}.{}", experts.router, local[i]),
                          fmt::format("{}.{}", experts.router, i));
            part.layers.push_back(std::move(layer));
        }
        part.outputs.push_back(region.result);
    }
    return part;
}

}  // namespace switchyard::sched::brainstorm
