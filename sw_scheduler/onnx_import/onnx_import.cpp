// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

OnnxImporter::OnnxImporter(const OnnxGraph& graph, std::string path, const OnnxImportOptions& options)
    : graph_(graph), path_(std::move(path)), options_(options) {
    names_.insert("input");
    prepare(top_, graph_);
}

void OnnxImporter::prepare(Scope& scope, const OnnxGraph& graph) {
    scope.graph = &graph;
    for (const OnnxNode& node : graph.nodes) {
        for (const std::string& output : node.outputs) scope.producers[output] = &node;
        for (const std::string& input : node.inputs) ++scope.uses[input];
        for (const auto& [key, attribute] : node.attributes) {
            if (!attribute.graph) continue;
            for (const OnnxNode& inner : attribute.graph->nodes)
                for (const std::string& input : inner.inputs) ++scope.uses[input];
            for (const std::string& output : attribute.graph->outputs) ++scope.uses[output];
        }
    }
    // The host or the merge reads them.
    for (const std::string& output : graph.outputs) scope.uses[output] += 2;
}

const OnnxNode* OnnxImporter::producer(const std::string& name, const Scope& scope) const {
    const auto found = scope.producers.find(name);
    if (found != scope.producers.end()) return found->second;
    return scope.outer == nullptr ? nullptr : producer(name, *scope.outer);
}

const std::vector<std::int64_t>* OnnxImporter::dims_of(const std::string& name, const Scope& scope) const {
    const auto found = scope.graph->shapes.find(name);
    if (found != scope.graph->shapes.end()) return &found->second;
    return scope.outer == nullptr ? nullptr : dims_of(name, *scope.outer);
}

void OnnxImporter::complain(const OnnxNode& node, const std::string& why) {
    const std::string text = node.described() + (why.empty() ? "" : ": " + why);
    if (std::find(problems_.begin(), problems_.end(), text) == problems_.end()) problems_.push_back(text);
}

/// As the model's input: the first float tensor of the graph, or what the host has looked up for its tokens.
OnnxImporter::Tensor OnnxImporter::graph_input(const std::string& name, const std::vector<std::int64_t>* dims) {
    if (input_ && input_name_ == name) return *input_;
    if (input_) throw NotImportable("the network has a second input, " + name);
    if (dims == nullptr) throw NotImportable("the dimensions of the input " + name + " are not known");
    for (std::size_t d = 1; d < dims->size(); ++d)
        if ((*dims)[d] <= 0)
            throw NotImportable(
                fmt::format("dimension {} of the input {} is not known: export it with fixed sizes", d, name));
    const auto at = [&](std::size_t d) { return static_cast<std::uint32_t>((*dims)[d]); };
    Tensor input;
    input.name = "input";
    input.shared = true;
    if (dims->size() == 4) {
        input.channels = at(1), input.rows = at(2), input.columns = at(3);
    } else if (dims->size() == 3) {
        input.channels = at(2), input.rows = at(1), input.layout = Layout::tokens;
    } else if (dims->size() == 2) {
        input.channels = at(1), input.layout = Layout::vector;
    } else {
        throw NotImportable(fmt::format("the input {} has {} dimensions, not 2 to 4", name, dims->size()));
    }
    if (options_.batch == 0) options_.batch = static_cast<std::uint32_t>(std::max<std::int64_t>(1, dims->front()));
    input_ = input;
    input_name_ = name;
    return input;
}

OnnxImporter::Tensor OnnxImporter::tensor(const std::string& name, Scope& scope) {
    const auto known = scope.tensors.find(name);
    if (known != scope.tensors.end()) return known->second;
    if (scope.producers.count(name) == 0 && scope.outer != nullptr)
        return name == scope.taken ? scope.branch : tensor(name, *scope.outer);
    Tensor result = convert(name, scope);
    const auto uses = scope.uses.find(name);
    result.shared = result.shared || (uses != scope.uses.end() && uses->second > 1);
    scope.tensors[name] = result;
    return result;
}

OnnxImporter::Tensor OnnxImporter::convert(const std::string& name, Scope& scope) {
    const auto found = scope.producers.find(name);
    if (found == scope.producers.end()) return graph_input(name, dims_of(name, scope));
    const OnnxNode& node = *found->second;
    const auto& known = node.domain.empty() ? handlers() : own_handlers();
    const auto handler = node.domain.empty() || node.domain == "switchyard" ? known.find(node.op) : known.end();
    Tensor unknown;
    unknown.known = false;
    const auto ask_for_inputs = [&] {
        bool all_known = true;
        for (const std::string& input : node.inputs) {
            const bool condition = node.op == "If" && input == node.input(0);
            if (input.empty() || condition || constant(input, scope)) continue;
            try {
                all_known = tensor(input, scope).known && all_known;
            } catch (const NotImportable&) {
                all_known = false;
            }
        }
        return all_known;
    };
    if (handler == known.end()) {
        complain(node, "");
        ask_for_inputs();
        return unknown;
    }
    try {
        asked_ = name;
        Tensor result = (this->*handler->second)(node, scope);
        if (result.known) check_shape(name, result, scope);
        return result;
    } catch (const NotImportable& reason) {
        // What is behind an operator that cannot be imported has no fault of its own.
        if (ask_for_inputs()) complain(node, reason.what());
        return unknown;
    }
}

/// Against what ONNX has inferred.
void OnnxImporter::check_shape(const std::string& name, const Tensor& result, const Scope& scope) const {
    const std::vector<std::int64_t>* const dims = dims_of(name, scope);
    if (dims == nullptr || dims->size() < 2) return;
    std::uint64_t elements = 1;
    for (std::size_t d = 1; d < dims->size(); ++d) {
        if ((*dims)[d] <= 0) return;
        elements *= static_cast<std::uint64_t>((*dims)[d]);
    }
    if (elements != result.elements())
        throw NotImportable(fmt::format("a sample of its result is {}x{}x{} here, and has {} elements for ONNX",
                                        result.channels, result.rows, result.columns, elements));
}

ImportedModel OnnxImporter::run() {
    for (const std::string& output : graph_.outputs) {
        const Tensor result = tensor(output, top_);
        if (result.known) outputs_.push_back(result.name);
    }
    for (const OnnxNode& node : graph_.nodes)
        if (node.domain == "switchyard" && node.op == "Sink") sink(node, top_);
    if (!problems_.empty())
        throw InputError(
            path_, 0, "",
            fmt::format("{} cannot be imported: {}",
                        problems_.size() == 1 ? "one operator" : std::to_string(problems_.size()) + " operators",
                        fmt::join(problems_, "; ")));
    if (!input_) throw InputError(path_, 0, "", "no output depends on an input");
    if (options_.values && !model_.sizes_only.empty())
        throw InputError(path_, 0, "",
                         fmt::format("the model format has no values of {}", fmt::join(model_.sizes_only, "; ")));
    model_.layers = layers_.size();
    model_.text = text();
    if (options_.values) add_weights(model_);
    return std::move(model_);
}

ImportedModel import_onnx(const std::string& path, const OnnxImportOptions& options) {
    const OnnxGraph graph = read_onnx(path);
    try {
        return OnnxImporter(graph, path, options).run();
    } catch (const NotImportable& reason) {
        throw InputError(path, 0, "", reason.what());
    }
}

}  // namespace switchyard::sched
