// SPDX-License-Identifier: Apache-2.0
// What exporters state with several operators: attention, layer norm, activations.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

constexpr double kEpsilon = 1e-5;  // of the model format's layer_norm

}  // namespace

/// The linear layer whose result, reordered and multiplied with constants, is `name`.
std::optional<OnnxImporter::Linear> OnnxImporter::linear_behind(std::string name, Scope& scope) {
    Linear found;
    while (const OnnxNode* const node = producer(name, scope)) {
        if (node->op == "Transpose" || node->op == "Squeeze" || node->op == "Identity" || node->op == "Unsqueeze") {
            name = node->input(0);
        } else if (node->op == "Reshape") {
            // [N, T, heads, d], or [N, T, 3, heads, d] of queries, keys and values together.
            std::vector<std::int64_t> dims;
            if (const auto* const inferred = dims_of(name, scope); inferred != nullptr) dims = *inferred;
            if (const std::optional<OnnxTensor> wish = constant(node->input(1), scope); wish && dims.empty())
                dims = wish->integers();
            if (dims.empty()) throw NotImportable("an attention whose number of heads is not known");
            if (dims.size() == 4 || dims.size() == 5) {
                if (dims[dims.size() - 2] <= 0) throw NotImportable("an attention whose number of heads is not known");
                found.heads = static_cast<unsigned>(dims[dims.size() - 2]);
            }
            name = node->input(0);
        } else if (node->op == "Gather") {
            const std::optional<double> index = scalar(node->input(1), scope);
            if (!index || found.part >= 0) return std::nullopt;
            found.part = static_cast<int>(*index);
            name = node->input(0);
        } else if (node->op == "Split") {
            if (node->outputs.size() != 3 || found.part >= 0) return std::nullopt;
            found.part =
                static_cast<int>(std::find(node->outputs.begin(), node->outputs.end(), name) - node->outputs.begin());
            name = node->input(0);
        } else if ((node->op == "Mul" || node->op == "Div") && scalar(node->input(1), scope)) {
            const double factor = *scalar(node->input(1), scope);
            found.scale *= node->op == "Mul" ? factor : 1 / factor;
            name = node->input(0);
        } else if (node->op == "Add" && !found.bias) {
            found.bias = constant(node->input(0), scope);
            name = node->input(found.bias ? 1 : 0);
            if (!found.bias) found.bias = constant(node->input(1), scope);
            if (!found.bias) return std::nullopt;
        } else if (node->op == "MatMul" || node->op == "Gemm") {
            const std::optional<OnnxTensor> weights = constant(node->input(1), scope);
            if (!weights || weights->dims.size() != 2) return std::nullopt;
            found.weights = *weights;
            found.out_first = node->op == "Gemm" && node->integer_or("transB", 0) != 0;
            if (node->op == "Gemm" && !node->input(2).empty()) found.bias = constant(node->input(2), scope);
            found.input = node->input(0);
            return found;
        } else {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

/// softmax(Q K^T / sqrt(d)) V, with Q, K and V from one tensor.
std::optional<OnnxImporter::Tensor> OnnxImporter::attention(const OnnxNode& node, Scope& scope) {
    const OnnxNode* softmax_node = producer(node.input(0), scope);
    while (softmax_node != nullptr && (softmax_node->op == "Dropout" || softmax_node->op == "Identity"))
        softmax_node = producer(softmax_node->input(0), scope);
    if (softmax_node == nullptr || softmax_node->op != "Softmax") return std::nullopt;
    const OnnxNode* scores = producer(softmax_node->input(0), scope);
    double scale = 1;
    while (scores != nullptr && scores->op != "MatMul") {
        const std::optional<double> factor = scalar(scores->input(1), scope);
        if ((scores->op == "Mul" || scores->op == "Div") && factor) {
            scale *= scores->op == "Mul" ? *factor : 1 / *factor;
        } else if (scores->op == "Add" && constant(scores->input(1), scope)) {
            const std::vector<float> mask = constant(scores->input(1), scope)->floats();
            const bool none = std::all_of(mask.begin(), mask.end(), [](float value) { return value == 0; });
            if (!none) no_values(*scores, "a mask of tokens; all of them are computed");
        } else {
            throw NotImportable("an attention with a mask that depends on the input");
        }
        scores = producer(scores->input(0), scope);
    }
    if (scores == nullptr) return std::nullopt;
    std::optional<Linear> parts[3] = {linear_behind(scores->input(0), scope), linear_behind(scores->input(1), scope),
                                      linear_behind(node.input(1), scope)};
    for (const std::optional<Linear>& part : parts)
        if (!part || part->input != parts[0]->input)
            throw NotImportable(
                "an attention whose queries, keys and values are not three linear layers of one result");
    Tensor input = tensor(parts[0]->input, scope);
    if (!input.known) return input;
    if (input.layout != Layout::tokens) throw NotImportable("an attention whose input is not [N, tokens, channels]");
    const bool together = parts[0]->part >= 0;
    const auto rows_of = [](const Linear& part) { return part.weights.dims[part.out_first ? 0 : 1]; };
    const std::int64_t all =
        together ? rows_of(*parts[0]) : rows_of(*parts[0]) + rows_of(*parts[1]) + rows_of(*parts[2]);
    for (int i = 0; i < 3; ++i)
        if (parts[i]->heads != parts[0]->heads || (together ? parts[i]->part != i : parts[i]->part >= 0) ||
            rows_of(*parts[i]) != rows_of(*parts[0]))
            throw NotImportable("an attention whose queries, keys and values differ in shape");
    const unsigned heads = parts[0]->heads;
    const std::uint64_t width = all / 3 / heads;
    const double expected = 1 / std::sqrt(static_cast<double>(width));
    if (std::abs(scale * parts[0]->scale * parts[1]->scale / expected - 1) > 1e-3 || parts[2]->scale != 1)
        no_values(node, "an attention with another factor than 1 / sqrt(d)");

    const std::string name = layer_name(node, nullptr);
    ImportedLayer& projection = add_layer(unique(name + ".qkv"), "matmul", input);
    projection.keys.emplace_back("out_channels", std::to_string(all));
    if (heads > 1) projection.keys.emplace_back("heads", std::to_string(heads));
    projection.has_parameters = true;
    projection.weight_scale = input.scale;
    projection.out_channels = static_cast<std::uint32_t>(all);
    projection.weight_shape = {static_cast<std::size_t>(all), input.channels};
    bool biased = false;
    for (int i = 0; i < (together ? 1 : 3); ++i) {
        const Linear& part = *parts[i];
        count(part.weights);
        if (part.bias) count(*part.bias);
        biased = biased || part.bias.has_value();
        if (!options_.values) continue;
        OnnxTensor matrix = part.weights;
        if (!part.out_first) {
            std::swap(matrix.dims[0], matrix.dims[1]);
            if (matrix.order.empty())
                matrix.order = {1, 0};
            else
                std::swap(matrix.order[0], matrix.order[1]);
        }
        const std::vector<float> weight = matrix.floats();
        projection.weight.insert(projection.weight.end(), weight.begin(), weight.end());
        std::vector<float> bias(static_cast<std::size_t>(rows_of(part)), 0.0F);
        if (part.bias) bias = part.bias->floats();
        projection.bias.insert(projection.bias.end(), bias.begin(), bias.end());
    }
    if (biased)
        projection.fused.emplace_back("bias");
    else
        projection.bias.clear();
    Tensor qkv = result_of(projection, input);
    ImportedLayer& layer = add_layer(name, "attention", qkv);
    if (heads > 1) layer.keys.emplace_back("heads", std::to_string(heads));
    Tensor result = result_of(layer, input);
    result.channels = static_cast<std::uint32_t>(all / 3);
    result.layout = heads > 1 ? Layout::heads : Layout::tokens;
    const std::vector<std::int64_t>* const dims = dims_of(asked_, scope);
    if (dims != nullptr && dims->size() == 4) result.layout = Layout::heads;
    return result;
}

OnnxImporter::Tensor OnnxImporter::normalise(const OnnxNode& node, Tensor input, const OnnxTensor* gain,
                                             const OnnxTensor* offset, double epsilon) {
    if (!input.known) return input;
    if (input.layout != Layout::tokens && input.layout != Layout::vector)
        throw NotImportable("only over the channels of a token");
    if (gain->elements() != input.channels) throw NotImportable("has another number of channels than its input");
    if (std::abs(epsilon / kEpsilon - 1) > 1e-3)
        no_values(node, fmt::format("its epsilon is {}, not {}", epsilon, kEpsilon));
    if (input.scale != 1) no_values(node, "a product with a constant in front of it");
    count(*gain);
    if (offset != nullptr) count(*offset);
    ImportedLayer* layer = fusable(input);
    std::string values;
    if (layer != nullptr && !layer->fuses_across_channels() && layer->kind != "merge") {
        values = layer_name(node, gain);
        layer->fused.push_back(fmt::format("{{layer_norm: {}}}", values));
    } else {
        layer = &add_layer(layer_name(node, gain), "layer_norm", input);
        layer->has_parameters = true;
        values = layer->name;
        input = result_of(*layer, input);
    }
    if (options_.values) {
        const std::size_t channels = input.channels;
        other_weights_[values + ".weight"] = {values + ".weight", {channels}, gain->floats()};
        other_weights_[values + ".bias"] = {
            values + ".bias", {channels}, offset != nullptr ? offset->floats() : std::vector<float>(channels, 0.0F)};
    }
    return input;
}

/// A tensor that a pattern takes several times, and nothing else: a step may be fused in front of it.
OnnxImporter::Tensor OnnxImporter::taken_by(const std::string& name, unsigned times, Scope& scope) {
    static const std::set<std::string> kViews = {"Identity", "Dropout",   "Cast",      "Reshape", "Flatten",
                                                 "Squeeze",  "Unsqueeze", "Transpose", "Switch",  "Gather"};
    Tensor input = tensor(name, scope);
    const auto uses = scope.uses.find(name);
    const auto made = scope.producers.find(name);
    if (uses != scope.uses.end() && uses->second == times && made != scope.producers.end() &&
        kViews.count(made->second->op) == 0)
        input.shared = false;
    return input;
}

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * gain + offset, as exporters state it before opset 17.
std::optional<OnnxImporter::Tensor> OnnxImporter::decomposed_layer_norm(const OnnxNode& node, Scope& scope) {
    const auto made_by = [&](const std::string& name, const char* op) -> const OnnxNode* {
        const OnnxNode* const found = producer(name, scope);
        return found != nullptr && found->domain.empty() && found->op == op ? found : nullptr;
    };
    const std::optional<OnnxTensor> offset = constant(node.input(1), scope);
    const OnnxNode* const product = made_by(node.input(0), "Mul");
    if (!offset || product == nullptr) return std::nullopt;
    const std::optional<OnnxTensor> gain = constant(product->input(1), scope);
    const OnnxNode* const quotient = made_by(product->input(0), "Div");
    if (!gain || quotient == nullptr) return std::nullopt;
    const OnnxNode* const difference = made_by(quotient->input(0), "Sub");
    const OnnxNode* const root = made_by(quotient->input(1), "Sqrt");
    if (difference == nullptr || root == nullptr) return std::nullopt;
    const OnnxNode* const sum = made_by(root->input(0), "Add");
    const OnnxNode* const mean = made_by(difference->input(1), "ReduceMean");
    if (sum == nullptr || mean == nullptr || mean->input(0) != difference->input(0)) return std::nullopt;
    const std::optional<double> epsilon = scalar(sum->input(1), scope);
    const OnnxNode* const variance = made_by(sum->input(0), "ReduceMean");
    const OnnxNode* const square = variance == nullptr ? nullptr : made_by(variance->input(0), "Pow");
    if (!epsilon || square == nullptr || square->input(0) != quotient->input(0)) return std::nullopt;
    const std::vector<std::int64_t> axes = mean->integers_or("axes", {});
    if (axes.size() != 1 || (axes.front() != -1 && axes.front() != 2)) return std::nullopt;
    // The difference and the mean take it.
    return normalise(node, taken_by(difference->input(0), 2, scope), &*gain, &*offset, *epsilon);
}

/// x sigmoid(x), x hard_sigmoid(x), and x (erf(x / sqrt(2)) + 1) / 2.
std::optional<OnnxImporter::Tensor> OnnxImporter::decomposed_activation(const OnnxNode& node, Scope& scope) {
    if (node.op != "Mul") return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
        const OnnxNode* const curve = producer(node.input(i), scope);
        const std::string& x = node.inputs[1 - i];
        if (curve == nullptr || curve->inputs.empty()) continue;
        if ((curve->op == "Sigmoid" || curve->op == "HardSigmoid" || curve->op == "Tanh") && curve->input(0) == x)
            return activate(node, taken_by(x, 2, scope), "x " + curve->op + "(x)");
    }
    const std::optional<double> half = scalar(node.input(1), scope);
    const OnnxNode* const product = half && *half == 0.5 ? producer(node.input(0), scope) : nullptr;
    if (product == nullptr || product->op != "Mul") return std::nullopt;
    const std::string& x = product->inputs[0];
    const OnnxNode* const sum = producer(product->input(1), scope);
    const OnnxNode* const curve = sum != nullptr && sum->op == "Add" ? producer(sum->input(0), scope) : nullptr;
    const OnnxNode* const scaled = curve != nullptr && curve->op == "Erf" ? producer(curve->input(0), scope) : nullptr;
    if (scaled == nullptr || (scaled->op != "Div" && scaled->op != "Mul") || scaled->input(0) != x) return std::nullopt;
    return activate(node, taken_by(x, 2, scope), "Gelu");
}

}  // namespace switchyard::sched
