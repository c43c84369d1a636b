// SPDX-License-Identifier: Apache-2.0
// Dynamism: the operators of the domain `switchyard`, and ONNX's If.
//
// switchyard.Switch(data, gate) -> branches: attributes choose ("one", "any"), threshold, patience as in the model
// format. switchyard.Merge(branch, ...) -> data: attribute mode ("exclusive", "sum"). switchyard.Sink(branch).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

/// The layer of a gate makes its mask, and has one row and column.
std::vector<std::pair<std::string, std::string>> OnnxImporter::gate_keys(NodeReader& node, const Tensor& gate) {
    const auto found = layer_of_.find(gate.name);
    if (found == layer_of_.end() || (found->second->kind != "matmul" && found->second->kind != "convolution"))
        throw NotImportable(
            fmt::format("its gate: expected a result of a linear layer or a convolution, found {}",
                        found == layer_of_.end() ? gate.name : gate.name + ", a " + found->second->kind));
    if (gate.rows != 1 || gate.columns != 1)
        throw NotImportable(fmt::format("its gate: expected one row and one column, found {}", gate.dims()));
    check_factor("its gate", gate);
    std::vector<std::pair<std::string, std::string>> keys = {{"gate", gate.name}};
    if (const OnnxAttribute* const choose = node.find("choose")) {
        if (choose->text != "one" && choose->text != "any")
            throw NotImportable("its choose: " + not_one_of(shown(choose->text), {"one", "any"}));
        keys.emplace_back("choose", choose->text);
    }
    if (const OnnxAttribute* const threshold = node.find("threshold")) {
        if (!std::isfinite(threshold->number))
            throw NotImportable(fmt::format("its threshold: expected a finite number, found {}", threshold->number));
        keys.emplace_back("threshold", fmt::format("{}", threshold->number));
    }
    if (const OnnxAttribute* const patience = node.find("patience"))
        keys.emplace_back("patience", std::to_string(patience->integer));
    return keys;
}

OnnxImporter::Tensor OnnxImporter::switch_branch(NodeReader& node, Scope& scope) {
    const std::string output = asked_;
    std::vector<Tensor>& branches = results_[node.operator->()];
    const std::vector<std::string>& outputs = node->outputs;
    node.find("choose"), node.find("threshold"), node.find("patience");
    const std::string data_name = node.input(0), gate_name = node.input(1);
    if (branches.empty()) {
        Tensor data = tensor(data_name, scope);
        const Tensor gate = tensor(gate_name, scope);
        if (!data.known || !gate.known) return data.known ? gate : data;
        const auto keys = gate_keys(node, gate);
        check_factor("its data", data);
        ImportedLayer& layer = add_layer(layer_name(node, nullptr), "switch", data);
        layer.keys = keys;
        layer.keys.emplace_back("branches", std::to_string(outputs.size()));
        for (std::size_t b = 0; b < outputs.size(); ++b) {
            Tensor branch = result_of(layer, data);
            branch.name = fmt::format("{}.{}", layer.name, b);
            branches.push_back(branch);
        }
    }
    const auto at = std::find(outputs.begin(), outputs.end(), output) - outputs.begin();
    return branches.at(static_cast<std::size_t>(at));
}

OnnxImporter::Tensor OnnxImporter::merge(NodeReader& node, Scope& scope) {
    std::vector<Tensor> sources;
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
        sources.push_back(tensor(node.input(i), scope));
        if (!sources.back().known) return sources.back();
        if (!sources.back().same_shape(sources.front()) || sources.back().layout != sources.front().layout)
            throw NotImportable(fmt::format("its inputs: expected results of one shape, found {} and {}",
                                            sources.front().dims(), sources.back().dims()));
        check_factor(fmt::format("its input {}", i), sources.back());
    }
    if (sources.size() < 2) throw NotImportable(fmt::format("expected two inputs or more, found {}", sources.size()));
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "merge", sources.front());
    layer.from.clear();
    for (const Tensor& source : sources) layer.from.push_back(taken_name(source));
    if (const OnnxAttribute* const mode = node.find("mode")) {
        if (mode->text != "exclusive" && mode->text != "sum")
            throw NotImportable("its mode: " + not_one_of(shown(mode->text), {"exclusive", "sum"}));
        layer.keys.emplace_back("mode", mode->text);
    }
    return result_of(layer, sources.front());
}

void OnnxImporter::sink(const OnnxNode& node, Scope& scope) {
    try {
        if (!node.fault.empty()) throw NotImportable(node.fault);
        const Tensor branch = resolve(node.input(0), scope);
        if (branch.known) check_factor("its input", branch);
        if (branch.known) add_layer(layer_name(node, nullptr), "sink", branch);
    } catch (const NotImportable& reason) {
        complain(node.described() + ": " + reason.what());
    }
}

/// Tensors from outside of the subgraph, and of those in it, that depend on the network's input. `made`: names of the
/// subgraph around it.
void OnnxImporter::collect_taken(const OnnxGraph& graph, const Scope& outer, const OnnxNames* made,
                                 std::set<std::string>& taken) const {
    OnnxNames names{made, {}};
    for (const auto& [name, tensor] : graph.constants) names.own.insert(name);
    for (const OnnxNode& node : graph.nodes) names.own.insert(node.outputs.begin(), node.outputs.end());
    const auto look_at = [&](const std::string& name) {
        if (!name.empty() && !names.contain(name) && !is_constant(name, outer)) taken.insert(name);
    };
    for (const OnnxNode& node : graph.nodes) {
        if (node.domain == "switchyard" && node.op == "Sink")
            throw NotImportable(fmt::format(
                "its branches: expected no Sink in them, found {}; give the network a Switch in place of the If",
                node.described()));
        for (const std::string& input : node.inputs) look_at(input);
        for (const auto& [key, attribute] : node.attributes)
            if (attribute.graph) collect_taken(*attribute.graph, outer, &names, taken);
    }
    for (const std::string& output : graph.outputs) look_at(output);
}

/// If(gate > threshold): a switch on the tensor that the two branches take, then_branch as branch 1, and a merge. In
/// ONNX the decision is one for all samples of a batch; here each sample has its own.
OnnxImporter::Tensor OnnxImporter::conditional(NodeReader& node, Scope& scope) {
    if (node->outputs.size() != 1)
        throw NotImportable(fmt::format("expected one result, found {}; take an If for each", node->outputs.size()));
    const std::string condition_name = node.input(0);
    const OnnxNode* condition = producer(condition_name, scope);
    const std::set<std::string> views = {"Squeeze", "Unsqueeze", "Reshape", "Identity"};
    // A Cast of truth values, and back, keeps them.
    while (condition != nullptr && (views.count(condition->op) > 0 || condition->op == "Cast"))
        condition = producer(condition->input(0), scope);
    const std::optional<double> threshold =
        condition != nullptr && condition->op == "Greater" ? scalar(condition->input(1), scope) : std::nullopt;
    if (!threshold || !std::isfinite(*threshold))
        throw NotImportable(fmt::format("its condition: expected Greater of a gate and a constant number, found {}{}",
                                        condition == nullptr ? origin(condition_name, scope) : condition->described(),
                                        threshold ? fmt::format(" with {}", *threshold) : ""));
    std::string gate_name = condition->input(0);
    for (const OnnxNode* view = producer(gate_name, scope); view != nullptr && views.count(view->op) > 0;
         view = producer(gate_name, scope))
        gate_name = view->input(0);
    const Tensor gate = tensor(gate_name, scope);
    if (gate.known && gate.channels != 1)
        throw NotImportable(fmt::format("its condition: expected one value a sample, found {}", gate.dims()));

    const OnnxGraph* graphs[2];
    std::set<std::string> taken;
    for (int b = 0; b < 2; ++b) {
        const char* const key = b == 0 ? "else_branch" : "then_branch";
        const OnnxAttribute* const branch = node.find(key);
        if (branch == nullptr || !branch->graph)
            throw NotImportable(fmt::format("its {}: expected a graph, found none", key));
        graphs[b] = branch->graph.get();
        if (graphs[b]->outputs.size() != 1 || !graphs[b]->inputs.empty())
            throw NotImportable(fmt::format("its {}: expected no inputs and one result, found {} and {}", key,
                                            graphs[b]->inputs.size(), graphs[b]->outputs.size()));
        collect_taken(*graphs[b], scope, nullptr, taken);
    }
    if (taken.size() != 1) {
        std::string names;
        for (const std::string& one : taken)
            if (names.size() < 200) names += (names.empty() ? "" : ", ") + shown(one);
        throw NotImportable(fmt::format("its branches: expected one result that they take from outside, found {}: {}",
                                        taken.size(), names));
    }
    const Tensor data = tensor(*taken.begin(), scope);
    if (!data.known || !gate.known) return data.known ? gate : data;
    check_factor("its data", data);
    const auto keys = gate_keys(node, gate);
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "switch", data);
    layer.keys = keys;
    layer.keys.emplace_back("branches", "2");
    layer.keys.emplace_back("threshold", fmt::format("{}", *threshold));
    std::vector<Tensor> results;
    for (int b = 0; b < 2; ++b) {
        Scope& inner = branches_.emplace_back();
        prepare(inner, *graphs[b], &scope);
        inner.taken = *taken.begin();
        inner.branch = result_of(layer, data);
        inner.branch.name = fmt::format("{}.{}", layer.name, b);
        results.push_back(resolve(graphs[b]->outputs.front(), inner));
        if (!results.back().known) return results.back();
    }
    for (const Tensor& result : results) check_factor("the result of a branch", result);
    if (!results[0].same_shape(results[1]) || results[0].layout != results[1].layout)
        throw NotImportable(fmt::format("the results of its branches: expected one shape, found {} and {}",
                                        results[0].dims(), results[1].dims()));
    ImportedLayer& merged = add_layer(unique(layer.name + ".merge"), "merge", results[0]);
    merged.from = {results[0].name, results[1].name};
    return result_of(merged, results[0]);
}

}  // namespace switchyard::sched
