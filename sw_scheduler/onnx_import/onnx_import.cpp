// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

/// Takers of each tensor, those in subgraphs included.
void count_uses(const OnnxGraph& graph, std::map<std::string, unsigned>& uses) {
    for (const OnnxNode& node : graph.nodes) {
        for (const std::string& input : node.inputs) ++uses[input];
        for (const auto& [key, attribute] : node.attributes) {
            if (!attribute.graph) continue;
            count_uses(*attribute.graph, uses);
            for (const std::string& output : attribute.graph->outputs) ++uses[output];
        }
    }
}

/// As many of the list as make a message of one line that can be read, and the number of the others.
std::string cut_list(const std::vector<std::string>& list) {
    constexpr std::size_t kMost = 400;
    std::string text;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0 && text.size() + list[i].size() > kMost) return text + fmt::format("; and {} more", list.size() - i);
        text += (i == 0 ? "" : "; ") + list[i];
    }
    return text;
}

/// Why no conversion takes the node.
std::string unknown_operator(const OnnxNode& node) {
    const bool own = node.domain.empty() || node.domain == "switchyard";
    return fmt::format("expected an operator that docs/onnx.md lists, found {}{}", shown(node.op),
                       own ? "" : " of the domain " + shown(node.domain));
}

std::string gathers_of(const std::set<const OnnxNode*>& gathers) {
    std::vector<std::string> names;
    names.reserve(gathers.size());
    for (const OnnxNode* const one : gathers) names.push_back(one->described());
    std::sort(names.begin(), names.end());
    return names.size() > 2 ? fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2)
                            : fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace

std::vector<std::int64_t> ImportedTensor::sample_dims() const {
    switch (layout) {
        case Layout::map:
            return {channels, rows, columns};
        case Layout::tokens:
            return {rows, channels};
        case Layout::heads:
            return {heads, rows, channels / heads};
        case Layout::split:
            return {rows, heads, channels / heads};
        default:
            return {static_cast<std::int64_t>(elements())};
    }
}

std::string ImportedTensor::dims() const {
    const bool flattened = layout == Layout::vector && !one_pixel();
    return fmt::format("[N, {}]{}", fmt::join(sample_dims(), ", "),
                       flattened ? fmt::format(" of {} x {} x {}", channels, rows, columns) : "");
}

OnnxImporter::OnnxImporter(const OnnxGraph& graph, std::string path, const OnnxImportOptions& options)
    : graph_(graph), path_(std::move(path)), options_(options) {
    names_.insert("input");
    prepare(top_, graph_, nullptr);
}

void OnnxImporter::prepare(Scope& scope, const OnnxGraph& graph, Scope* outer) {
    scope.graph = &graph;
    scope.outer = outer;
    for (const OnnxNode& node : graph.nodes)
        for (const std::string& output : node.outputs) scope.producers[output] = &node;
    count_uses(graph, scope.uses);
    // The host or the merge reads them.
    for (const std::string& output : graph.outputs) scope.uses[output] += 2;
    evaluate_constants(scope);
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

void OnnxImporter::complain(const std::string& problem) {
    if (named_problems_.insert(problem).second) problems_.push_back(problem);
}

bool OnnxImporter::is_integer_input(const std::string& name, const Scope& scope) const {
    if (producer(name, scope) != nullptr) return false;
    const auto type = graph_.types.find(name);
    return type != graph_.types.end() && type->second > OnnxTensor::Type::bfloat16 &&
           type->second != OnnxTensor::Type::other;
}

/// As the model's input: the first float tensor of the graph, or what the host has looked up for its tokens.
OnnxImporter::Tensor OnnxImporter::graph_input(const std::string& name, const std::vector<std::int64_t>* dims) {
    const std::string text = shown(name);
    if (input_ && input_name_ == name) return *input_;
    if (input_)
        throw NotImportable(fmt::format(
            "the input {}: expected {} as the only input of the network, found a second one; make it a constant", text,
            shown(input_name_)));
    if (dims == nullptr)
        throw NotImportable(fmt::format(
            "the input {}: expected 2 to 4 dimensions, found unknown ones; export it with fixed sizes", text));
    if (dims->size() < 2 || dims->size() > 4)
        throw NotImportable(fmt::format("the input {}: expected 2 to 4 dimensions, found {}", text, listed(*dims)));
    for (std::size_t d = 0; d < dims->size(); ++d)
        if ((*dims)[d] == 0 || (d > 0 && (*dims)[d] == kOpenDimension))
            throw NotImportable(
                fmt::format("the input {}: expected a fixed size of 1 or more as dimension {}, found {}; export it "
                            "with fixed sizes",
                            text, d, listed(*dims)));
    const auto at = [&](std::size_t d) { return static_cast<std::uint32_t>((*dims)[d]); };
    Tensor input;
    input.name = "input";
    input.shared = true;
    if (elements_of({dims->begin() + 1, dims->end()}) < 0)
        throw NotImportable(fmt::format("the input {}: expected at most {} elements a sample, found dimensions {}",
                                        text, kMaxElements, listed(*dims)));
    if (dims->size() == 4) {
        input.channels = at(1), input.rows = at(2), input.columns = at(3);
    } else if (dims->size() == 3) {
        input.channels = at(2), input.rows = at(1), input.layout = Layout::tokens;
    } else {
        input.channels = at(1), input.layout = Layout::vector;
    }
    if (options_.batch == 0) options_.batch = dims->front() == kOpenDimension ? 1 : at(0);
    batch_ = dims->front();
    input_ = input;
    input_name_ = name;
    return input;
}

OnnxImporter::Tensor OnnxImporter::tensor(const std::string& name, Scope& scope) {
    const auto known = scope.tensors.find(name);
    if (known != scope.tensors.end()) return known->second;
    if (is_constant(name, scope))
        throw NotImportable(
            fmt::format("expected a result of the network as its input, found the constant {}", shown(name)));
    if (scope.producers.count(name) == 0 && scope.outer != nullptr)
        return name == scope.taken ? scope.branch : tensor(name, *scope.outer);
    throw NeededTensor{name, &scope};
}

/// Converts `name` and what it needs, one after the other.
OnnxImporter::Tensor OnnxImporter::resolve(const std::string& name, Scope& scope) {
    std::vector<NeededTensor> open;
    for (;;) {
        try {
            if (open.empty()) return tensor(name, scope);
            const NeededTensor next = open.back();
            Tensor result = convert(next.name, *next.scope);
            const auto uses = next.scope->uses.find(next.name);
            result.shared = result.shared || (uses != next.scope->uses.end() && uses->second > 1);
            next.scope->tensors[next.name] = result;
            open.pop_back();
        } catch (const NeededTensor& needed) {
            open.push_back(needed);
        }
    }
}

OnnxImporter::Tensor OnnxImporter::convert(const std::string& name, Scope& scope) {
    Tensor unknown;
    unknown.known = false;
    const auto found = scope.producers.find(name);
    if (found == scope.producers.end()) {
        try {
            if (is_integer_input(name, scope))
                throw NotImportable(
                    fmt::format("the input {}: expected floats, or a Cast to them, or a Gather by it, found {}",
                                shown(name), name_of(graph_.types.at(name))));
            return graph_input(name, dims_of(name, scope));
        } catch (const NotImportable& reason) {
            complain(reason.what());
            return unknown;
        }
    }
    const OnnxNode& node = *found->second;
    const auto handler = handlers().find((node.domain.empty() ? "" : node.domain + ".") + node.op);
    const auto constant = scope.constants.find(name);
    if (handler == handlers().end() || (constant != scope.constants.end() && !constant->second.reason.empty())) {
        complain(node.described() + ": " +
                 (constant == scope.constants.end() || constant->second.reason.empty() ? unknown_operator(node)
                                                                                       : constant->second.reason));
        failures_.emplace(&node, "");
    }
    if (failures_.count(&node) == 0) {
        try {
            return converted_by(handler->second, node, name, scope);
        } catch (const NoPattern& reason) {
            complain(node.described() + ": " + reason.what());
            return unknown;
        } catch (const NotImportable& reason) {
            failures_.emplace(&node, reason.what());
        }
    }
    // What is behind an operator that cannot be imported has no fault of its own.
    bool all_known = true;
    for (const std::string& input : node.inputs) {
        const bool condition = node.op == "If" && input == node.input(0);
        if (input.empty() || condition || is_constant(input, scope) || is_integer_input(input, scope)) continue;
        all_known = tensor(input, scope).known && all_known;
    }
    const std::string& reason = failures_.at(&node);
    if (all_known && !reason.empty()) complain(node.described() + ": " + reason);
    return unknown;
}

OnnxImporter::Tensor OnnxImporter::converted_by(const Handler& handler, const OnnxNode& node, const std::string& name,
                                                Scope& scope) {
    if (!node.fault.empty()) throw NotImportable(node.fault);
    if (!handler.versions.empty() && handler.versions.count(node.version) == 0)
        throw NotImportable(no_definition(handler.versions, node.version));
    if (name != node.outputs.front() && node.domain.empty())
        throw NotImportable(fmt::format("expected its first result to be taken alone, found a use of {}", shown(name)));
    asked_ = name;
    NodeReader reader(node);
    Tensor result = (this->*handler.convert)(reader, scope);
    if (!result.known) return result;
    reader.finish();
    check_shape(name, result, scope);
    return result;
}

/// Against the dimensions that infer_shapes() has found.
void OnnxImporter::check_shape(const std::string& name, const Tensor& result, const Scope& scope) const {
    const std::vector<std::int64_t>* const dims = dims_of(name, scope);
    if (dims == nullptr) return;
    const std::vector<std::int64_t> sample = result.sample_dims();
    bool equal = dims->size() == sample.size() + 1 && (dims->front() == batch_ || dims->front() == kOpenDimension);
    for (std::size_t d = 0; equal && d < sample.size(); ++d)
        equal = (*dims)[d + 1] == sample[d] || (*dims)[d + 1] == kOpenDimension;
    if (equal) return;
    throw NotImportable(fmt::format("its result: expected the dimensions {}, with the batch {} as N, found {} in ONNX",
                                    result.dims(), batch_ == kOpenDimension ? "open" : std::to_string(batch_),
                                    listed(*dims)));
}

/// The name of a tensor that a layer takes. Tables that the host looks up are one input: the same sum for all layers.
const std::string& OnnxImporter::taken_name(const Tensor& tensor) {
    if (!tensor.embedded.empty()) {
        if (host_sum_.empty()) host_sum_ = tensor.embedded;
        if (host_sum_ != tensor.embedded)
            throw NotImportable(
                fmt::format("expected the sum of rows that other layers take, of {}, found the sum of {}, and the host "
                            "looks up one sum",
                            gathers_of(host_sum_), gathers_of(tensor.embedded)));
    }
    return tensor.name;
}

/// An output of the network, with what no layer behind it takes over.
OnnxImporter::Tensor OnnxImporter::output(const std::string& name) {
    if (is_constant(name, top_)) {
        complain(
            fmt::format("the output {}: expected a result that depends on the input, found a constant", shown(name)));
        return Tensor();
    }
    Tensor result = resolve(name, top_);
    if (!result.known) return result;
    const OnnxNode* const node = producer(name, top_);
    try {
        if (result.layout == Layout::heads || result.layout == Layout::split)
            throw NotImportable(
                fmt::format("expected [N, tokens, channels], found {} of an attention's heads", result.dims()));
        if (result.scale != 1) result = activate(*node, result, "a product with a constant");
        taken_name(result);
    } catch (const NotImportable& reason) {
        complain(fmt::format("the output {}: {}", shown(name), reason.what()));
    }
    return result;
}

ImportedModel OnnxImporter::run() {
    for (const std::string& name : graph_.outputs) {
        const Tensor result = output(name);
        if (result.known) outputs_.push_back(result.name);
    }
    for (const OnnxNode& node : graph_.nodes)
        if (node.domain == "switchyard" && node.op == "Sink") sink(node, top_);
    const std::string count = problems_.size() > 1 ? fmt::format(" for {} reasons", problems_.size()) : "";
    if (!problems_.empty())
        throw InputError(path_, 0, "", fmt::format("cannot be imported{}: {}", count, cut_list(problems_)));
    if (!input_) throw InputError(path_, 0, "", "expected an output that depends on an input, found none");
    if (options_.values && !model_.sizes_only.empty())
        throw InputError(path_, 0, "",
                         fmt::format("expected operators whose values the model format has, found {}; import it "
                                     "without weights, for timing alone",
                                     cut_list(model_.sizes_only)));
    model_.layers = layers_.size();
    model_.text = text();
    if (options_.values) add_weights(model_);
    return std::move(model_);
}

ImportedModel import_onnx(const std::string& path, const OnnxImportOptions& options) {
    return import_onnx(read_onnx(path), path, options);
}

ImportedModel import_onnx(const OnnxGraph& graph, const std::string& path, const OnnxImportOptions& options) {
    try {
        return OnnxImporter(graph, path, options).run();
    } catch (const NotImportable& reason) {
        throw InputError(path, 0, "", reason.what());
    }
}

}  // namespace switchyard::sched
