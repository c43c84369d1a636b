// SPDX-License-Identifier: Apache-2.0
// Dynamism: the operators of the domain `switchyard`, and ONNX's If.
//
// switchyard.Switch(data, gate) -> branches: attributes choose ("one", "any"), threshold, patience as in the model
// format. switchyard.Merge(branch, ...) -> data: attribute mode ("exclusive", "sum"). switchyard.Sink(branch).
#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

const std::map<std::string, OnnxImporter::Handler>& OnnxImporter::own_handlers() {
    static const std::map<std::string, Handler> kHandlers = {{"Switch", &OnnxImporter::switch_branch},
                                                             {"Merge", &OnnxImporter::merge}};
    return kHandlers;
}

/// The layer of a gate makes its mask, and has one row and column.
std::vector<std::pair<std::string, std::string>> OnnxImporter::gate_keys(const OnnxNode& node, const Tensor& gate) {
    const auto found = layer_of_.find(gate.name);
    if (found == layer_of_.end() || (found->second->kind != "matmul" && found->second->kind != "convolution"))
        throw NotImportable("its gate is no result of a linear layer or a convolution");
    if (gate.rows != 1 || gate.columns != 1) throw NotImportable("its gate has more than one row or column");
    if (gate.scale != 1) throw NotImportable("its gate is multiplied with a constant");
    std::vector<std::pair<std::string, std::string>> keys = {{"gate", gate.name}};
    if (node.attributes.count("choose") > 0) keys.emplace_back("choose", node.text_or("choose", "one"));
    if (node.attributes.count("threshold") > 0)
        keys.emplace_back("threshold", fmt::format("{}", node.number_or("threshold", 0)));
    if (node.attributes.count("patience") > 0)
        keys.emplace_back("patience", std::to_string(node.integer_or("patience", 1)));
    return keys;
}

OnnxImporter::Tensor OnnxImporter::switch_branch(const OnnxNode& node, Scope& scope) {
    const std::string output = asked_;
    std::vector<Tensor>& branches = results_[&node];
    if (branches.empty()) {
        Tensor data = tensor(node.input(0), scope);
        const Tensor gate = tensor(node.input(1), scope);
        if (!data.known || !gate.known) return data.known ? gate : data;
        const auto keys = gate_keys(node, gate);
        if (data.scale != 1) throw NotImportable("its data is multiplied with a constant");
        ImportedLayer& layer = add_layer(layer_name(node, nullptr), "switch", data);
        layer.keys = keys;
        layer.keys.emplace_back("branches", std::to_string(node.outputs.size()));
        for (std::size_t b = 0; b < node.outputs.size(); ++b) {
            Tensor branch = result_of(layer, data);
            branch.name = fmt::format("{}.{}", layer.name, b);
            branches.push_back(branch);
        }
    }
    const auto at = std::find(node.outputs.begin(), node.outputs.end(), output) - node.outputs.begin();
    return branches.at(static_cast<std::size_t>(at));
}

OnnxImporter::Tensor OnnxImporter::merge(const OnnxNode& node, Scope& scope) {
    std::vector<Tensor> sources;
    for (const std::string& input : node.inputs) {
        sources.push_back(tensor(input, scope));
        if (!sources.back().known) return sources.back();
        if (!sources.back().same_shape(sources.front())) throw NotImportable("its inputs differ in shape");
        if (sources.back().scale != 1) throw NotImportable("an input is multiplied with a constant");
    }
    if (sources.size() < 2) throw NotImportable("has fewer than two inputs");
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "merge", sources.front());
    layer.from.clear();
    for (const Tensor& source : sources) layer.from.push_back(source.name);
    if (node.attributes.count("mode") > 0) layer.keys.emplace_back("mode", node.text_or("mode", "exclusive"));
    return result_of(layer, sources.front());
}

void OnnxImporter::sink(const OnnxNode& node, Scope& scope) {
    try {
        const Tensor branch = tensor(node.input(0), scope);
        if (branch.known) add_layer(layer_name(node, nullptr), "sink", branch);
    } catch (const NotImportable& reason) {
        complain(node, reason.what());
    }
}

/// Tensors from outside of the subgraph that depend on the network's input.
void OnnxImporter::collect_taken(const OnnxGraph& graph, Scope& outer, std::set<std::string>& taken) {
    std::set<std::string> made;
    for (const OnnxNode& node : graph.nodes) made.insert(node.outputs.begin(), node.outputs.end());
    const auto look_at = [&](const std::string& name) {
        if (!name.empty() && made.count(name) == 0 && graph.constants.count(name) == 0 && !constant(name, outer))
            taken.insert(name);
    };
    for (const OnnxNode& node : graph.nodes)
        for (const std::string& input : node.inputs) look_at(input);
    for (const std::string& output : graph.outputs) look_at(output);
}

/// If(gate > threshold): a switch on the tensor that the two branches take, then_branch as branch 1, and a merge. In
/// ONNX the decision is one for all samples of a batch; here each sample has its own.
OnnxImporter::Tensor OnnxImporter::conditional(const OnnxNode& node, Scope& scope) {
    if (node.outputs.size() != 1) throw NotImportable("has several results");
    const OnnxNode* condition = producer(node.input(0), scope);
    const std::set<std::string> views = {"Squeeze", "Unsqueeze", "Reshape", "Identity", "Cast"};
    while (condition != nullptr && views.count(condition->op) > 0) condition = producer(condition->input(0), scope);
    const std::optional<double> threshold =
        condition != nullptr && condition->op == "Greater" ? scalar(condition->input(1), scope) : std::nullopt;
    if (!threshold) throw NotImportable("its condition is not GATE > constant");
    std::string gate_name = condition->input(0);
    for (const OnnxNode* view = producer(gate_name, scope); view != nullptr && views.count(view->op) > 0;
         view = producer(gate_name, scope))
        gate_name = view->input(0);
    const Tensor gate = tensor(gate_name, scope);
    if (gate.known && gate.channels != 1) throw NotImportable("its condition has more than one value a sample");

    const char* const names[] = {"else_branch", "then_branch"};
    std::set<std::string> taken;
    for (const char* const name : names) collect_taken(*node.attributes.at(name).graph, scope, taken);
    if (taken.size() != 1)
        throw NotImportable(
            fmt::format("its branches take {} results, not one: {}", taken.size(), fmt::join(taken, ", ")));
    const Tensor data = tensor(*taken.begin(), scope);
    if (!data.known || !gate.known) return data.known ? gate : data;
    if (data.scale != 1) throw NotImportable("its data is multiplied with a constant");
    const auto keys = gate_keys(node, gate);
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "switch", data);
    layer.keys = keys;
    layer.keys.emplace_back("branches", "2");
    layer.keys.emplace_back("threshold", fmt::format("{}", *threshold));
    std::vector<Tensor> results;
    for (int b = 0; b < 2; ++b) {
        const OnnxGraph& graph = *node.attributes.at(names[b]).graph;
        Scope& inner = branches_.emplace_back();
        prepare(inner, graph);
        inner.outer = &scope;
        inner.taken = *taken.begin();
        inner.branch = result_of(layer, data);
        inner.branch.name = fmt::format("{}.{}", layer.name, b);
        results.push_back(tensor(graph.outputs.front(), inner));
        if (!results.back().known) return results.back();
    }
    if (!results[0].same_shape(results[1])) throw NotImportable("the results of its branches differ in shape");
    ImportedLayer& merged = add_layer(unique(layer.name + ".merge"), "merge", results[0]);
    merged.from = {results[0].name, results[1].name};
    return result_of(merged, results[0]);
}

}  // namespace switchyard::sched
