// SPDX-License-Identifier: Apache-2.0
// What exporters state with several operators: attention, layer norm, activations.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

constexpr double kEpsilon = 1e-5;  // of the model format's layer_norm

}  // namespace

/// To `dims`, where the channels are divided or put together again. False: it is no such change.
bool AttentionAxes::reshape(const std::vector<std::int64_t>& dims) {
    const std::size_t rank = dims.size();
    const bool same_tokens = rank > 2 && dims[0] == sizes[0] && dims[1] == sizes[1];
    if (same_tokens && names == "NTC" && rank == 5 && dims[2] == 3)
        names = "NTPHD";
    else if (same_tokens && names == "NTC" && rank == 4)
        names = "NTHD";
    else if (same_tokens && names == "NTHD" && rank == 3)
        names = "NTC";
    else if (dims != sizes)
        return false;
    sizes = dims;
    return true;
}

bool AttentionAxes::transpose(const std::vector<std::int64_t>& order) {
    AttentionAxes turned{"", {}};
    for (std::int64_t axis : order) {
        if (axis < 0) axis += static_cast<std::int64_t>(names.size());
        if (axis < 0 || axis >= static_cast<std::int64_t>(names.size())) return false;
        turned.names += names[static_cast<std::size_t>(axis)];
        turned.sizes.push_back(sizes[static_cast<std::size_t>(axis)]);
    }
    const bool all = order.size() == names.size();
    *this = turned;
    return all;
}

bool AttentionAxes::squeeze(const std::vector<std::int64_t>& dims) {
    const std::size_t at = names.find('1');
    if (at == std::string::npos) return dims == sizes;
    names.erase(at, 1);
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    return dims == sizes;
}

/// The linear layer whose result, with its dimensions reordered as an attention needs them and multiplied with
/// constants, is `name`: [N, heads, T, d] or with one head [N, T, d]; `transposed`: the last two the other way round.
std::optional<OnnxImporter::Linear> OnnxImporter::linear_behind(std::string name, bool transposed, Scope& scope) {
    std::vector<std::pair<const OnnxNode*, std::string>> way;  // back to the linear layer, with the result of each
    static const std::set<std::string> kOnTheWay = {"Transpose", "Reshape", "Gather", "Split",   "Squeeze",
                                                    "Mul",       "Div",     "Add",    "Identity"};
    const OnnxNode* node = producer(name, scope);
    for (; node != nullptr && node->domain.empty() && kOnTheWay.count(node->op) > 0; node = producer(name, scope)) {
        way.emplace_back(node, name);
        name = node->input(node->op == "Add" && is_constant(node->input(0), scope) ? 1 : 0);
    }
    if (node == nullptr || !node->domain.empty() || (node->op != "MatMul" && node->op != "Gemm")) return std::nullopt;
    Linear found;
    NodeReader linear(*node);
    const std::optional<OnnxTensor> weights = constant(linear.input(1), scope);
    const std::vector<std::int64_t>* const dims = dims_of(name, scope);
    if (!weights || weights->dims.size() != 2 || dims == nullptr || dims->size() != 3) return std::nullopt;
    found.node = node;
    found.weights = *weights;
    found.input = linear.input(0);
    linear.finish();
    AttentionAxes axes{"NTC", *dims};
    for (auto step = way.rbegin(); step != way.rend(); ++step) {
        NodeReader reader(*step->first);
        const std::vector<std::int64_t>* const result = dims_of(step->second, scope);
        if (result == nullptr)
            throw NotImportable(fmt::format(
                "an attention: expected fixed dimensions, found unknown ones of {}; export it with fixed sizes",
                shown(step->second)));
        if (!follow(reader, *result, step->second, axes, found, scope)) return std::nullopt;
        reader.finish();
    }
    const std::string heads = transposed ? "NHDT" : "NHTD", one = transposed ? "NCT" : "NTC";
    if (axes.names != heads && axes.names != one) return std::nullopt;
    if (axes.names == one) return found;
    if (axes.sizes[1] < 1)
        throw NotImportable(fmt::format(
            "an attention: expected [N, heads, ...] with a fixed number of heads, found {}; export it with fixed sizes",
            listed(axes.sizes)));
    found.heads = static_cast<unsigned>(axes.sizes[1]);
    return found;
}

/// One step on the way from a linear layer to an attention. False: it is none of those that are known.
bool OnnxImporter::follow(NodeReader& node, const std::vector<std::int64_t>& result, const std::string& name,
                          AttentionAxes& axes, Linear& found, const Scope& scope) {
    const std::string first = node.input(0);
    const std::string& op = node.op();
    if (op == "Transpose") {
        std::vector<std::int64_t> order(axes.names.size());
        std::iota(order.rbegin(), order.rend(), 0);
        return axes.transpose(node.integers("perm").value_or(order));
    }
    if (op == "Squeeze" || op == "Reshape" || op == "Identity") {
        // infer_shapes() has read the target.
        node.ignore_attributes();
        node.ignore_input(1);
        return op == "Squeeze" ? axes.squeeze(result) : axes.reshape(result);
    }
    if (op == "Gather" || op == "Split") {
        if (found.part >= 0) return false;
        std::int64_t wish = node.integer("axis");
        if (wish < 0) wish += static_cast<std::int64_t>(axes.names.size());
        const std::size_t third = axes.names.find('P');
        const std::size_t at = third == std::string::npos && axes.names == "NTC" && op == "Split" ? 2 : third;
        if (at == std::string::npos || wish != static_cast<std::int64_t>(at)) return false;
        if (op == "Gather") {
            const std::optional<double> index = scalar(node.input(1), scope);
            if (!index) return false;
            found.part = static_cast<int>(*index) + (*index < 0 ? 3 : 0);
            axes.names.erase(at, 1);
        } else {
            node.ignore("split");  // infer_shapes() has read the sizes
            node.ignore_input(1);
            if (node->outputs.size() != 3 || result.size() != axes.sizes.size() || result[at] == kOpenDimension ||
                result[at] * 3 != axes.sizes[at])
                return false;
            const auto output = std::find(node->outputs.begin(), node->outputs.end(), name);
            found.part = static_cast<int>(output - node->outputs.begin());
            if (third != std::string::npos) axes.names[third] = '1';
        }
        axes.sizes = result;
        return axes.sizes.size() == axes.names.size();
    }
    const std::string second = node.input(1);
    if (result != axes.sizes) return false;
    if (op == "Add") {
        const std::optional<OnnxTensor> bias = constant(is_constant(first, scope) ? first : second, scope);
        if (!bias || found.bias || found.scale != 1 || axes.names != "NTC" || found.part >= 0 ||
            bias->elements() != axes.sizes.back() || bias->dims.back() != axes.sizes.back())
            return false;
        found.bias = bias;
        return true;
    }
    const std::optional<double> factor = scalar(second, scope);
    if (!factor) return false;
    found.scale *= op == "Mul" ? *factor : 1 / *factor;
    return true;
}

/// softmax(Q K^T, multiplied and masked) behind `name`; nothing if it is none.
std::optional<OnnxImporter::Scores> OnnxImporter::scores_behind(std::string name, const Scope& scope) {
    const OnnxNode* softmax = producer(name, scope);
    while (softmax != nullptr && (softmax->op == "Dropout" || softmax->op == "Identity")) {
        NodeReader reader(*softmax);
        if (reader.op() == "Dropout" && !reader.input(2).empty() && scalar(reader.input(2), scope) != 0.0)
            return std::nullopt;
        softmax = producer(reader.input(0), scope);
    }
    if (softmax == nullptr || softmax->op != "Softmax" || !softmax->domain.empty()) return std::nullopt;
    NodeReader reader(*softmax);
    name = reader.input(0);
    const std::vector<std::int64_t>* const dims = dims_of(name, scope);
    const std::int64_t axis = reader.integer("axis");
    if (dims == nullptr || (axis != -1 && axis != static_cast<std::int64_t>(dims->size()) - 1))
        throw NotImportable(fmt::format("an attention: expected a softmax over the last axis, found axis {} of {}",
                                        axis, dims == nullptr ? "unknown dimensions" : listed(*dims)));
    reader.finish();
    Scores found;
    for (found.product = producer(name, scope); found.product != nullptr && found.product->op != "MatMul";
         found.product = producer(name, scope)) {
        NodeReader step(*found.product);
        name = step.input(0);
        const std::string second = step.input(1);
        if ((step.op() == "Mul" || step.op() == "Div") && scalar(second, scope)) {
            found.scale *= step.op() == "Mul" ? *scalar(second, scope) : 1 / *scalar(second, scope);
        } else if (step.op() == "Add" && is_constant(second, scope)) {
            const std::vector<float> mask = constant(second, scope)->floats();
            const bool none = std::all_of(mask.begin(), mask.end(), [](float value) { return value == 0; });
            if (!none) found.masks.push_back(found.product);
        } else {
            throw NotImportable(
                fmt::format("an attention: expected constant factors and masks alone between its product and its "
                            "softmax, found {}; export it with a constant mask",
                            found.product->described()));
        }
        step.finish();
    }
    if (found.product == nullptr) return std::nullopt;
    return found;
}

/// softmax(Q K^T / sqrt(d)) V, with Q, K and V from one tensor.
std::optional<OnnxImporter::Tensor> OnnxImporter::attention(const OnnxNode& node, Scope& scope) {
    const std::optional<Scores> scores = scores_behind(node.input(0), scope);
    if (!scores) return std::nullopt;
    constexpr const char* kParts[] = {"queries", "keys", "values"};
    std::vector<Linear> parts;
    for (const auto& [name, transposed] :
         {std::pair(scores->product->input(0), false), std::pair(scores->product->input(1), true),
          std::pair(node.input(1), false)}) {
        const std::optional<Linear> part = linear_behind(name, transposed, scope);
        if (!part || (!parts.empty() && part->input != parts[0].input))
            throw NotImportable(
                fmt::format("an attention: expected three linear layers of one result, {}, found {} as {}",
                            parts.empty() ? "for queries, keys and values" : shown(parts[0].input),
                            part ? "one of " + shown(part->input) : origin(name, scope), kParts[parts.size()]));
        parts.push_back(*part);
    }
    Tensor input = tensor(parts[0].input, scope);
    if (!input.known) return input;
    if (input.layout != Layout::tokens)
        throw NotImportable(
            fmt::format("an attention: expected an input [N, tokens, channels], found {}", input.dims()));
    const bool together = parts[0].part >= 0;
    const std::int64_t rows = parts[0].weights.dims[1], all = together ? rows : 3 * rows;
    const std::uint32_t heads = parts[0].heads;
    const auto source_of = [](const std::optional<OnnxTensor>& bias) { return bias ? bias->source : nullptr; };
    for (int i = 0; i < 3; ++i) {
        const Linear& part = parts[static_cast<std::size_t>(i)];
        const bool same = part.node == parts[0].node && source_of(part.bias) == source_of(parts[0].bias);
        if (together ? part.part != i || !same : part.part >= 0)
            throw NotImportable(fmt::format(
                "an attention: expected three linear layers, or the thirds of one in the order queries, keys, values, "
                "found {}{} as {}",
                part.part < 0 ? "" : fmt::format("third {} of ", part.part + 1), part.node->described(), kParts[i]));
        if (part.heads != heads || part.weights.dims[1] != rows || rows < 1 ||
            all % (3 * static_cast<std::int64_t>(heads)) != 0)
            throw NotImportable(
                fmt::format("an attention: expected queries, keys and values of one shape, in heads of one size, found "
                            "weights {} in {} heads for queries and {} in {} for {}",
                            listed(parts[0].weights.dims), heads, listed(part.weights.dims), part.heads, kParts[i]));
        check_channels(part.weights.dims[0], input.channels);
    }
    for (const OnnxNode* const mask : scores->masks) no_values(*mask, "a mask of tokens; all of them are computed");
    const double factor = scores->scale * parts[0].scale * parts[1].scale;
    const std::int64_t head_channels = all / 3 / heads;
    const double expected = 1 / std::sqrt(static_cast<double>(head_channels));
    if (!(std::abs(factor / expected - 1) <= 1e-3) || parts[2].scale != 1)
        no_values(node, "an attention with another factor than 1 / sqrt(d)");

    const std::string name = layer_name(node, nullptr);
    if (together) parts.resize(1);
    const Tensor qkv = projected(name + ".qkv", parts, all, input);
    ImportedLayer& layer = add_layer(name, "attention", qkv);
    if (heads > 1) layer.keys.emplace_back("heads", std::to_string(heads));
    Tensor result = result_of(layer, input);
    result.channels = static_cast<std::uint32_t>(all / 3);
    result.heads = heads;
    const std::vector<std::int64_t>* const dims = dims_of(asked_, scope);
    result.layout = heads > 1 || (dims != nullptr && dims->size() == 4) ? Layout::heads : Layout::tokens;
    return result;
}

/// Linear layers of one tensor as one layer with `all` channels, one behind the other.
OnnxImporter::Tensor OnnxImporter::projected(const std::string& name, const std::vector<Linear>& parts,
                                             std::int64_t all, const Tensor& input) {
    ImportedLayer& projection = add_layer(unique(name), "matmul", input);
    projection.keys.emplace_back("out_channels", std::to_string(all));
    if (parts[0].heads > 1) projection.keys.emplace_back("heads", std::to_string(parts[0].heads));
    projection.has_parameters = true;
    projection.weight_scale = input.scale;
    projection.out_channels = static_cast<std::uint32_t>(all);
    projection.weight_shape = {static_cast<std::size_t>(all), input.channels};
    bool biased = false;
    for (const Linear& part : parts) {
        count(part.weights);
        if (part.bias) count(*part.bias);
        biased = biased || part.bias.has_value();
        if (!options_.values) continue;
        const std::vector<float> weight = transposed(part.weights).floats();
        projection.weight.insert(projection.weight.end(), weight.begin(), weight.end());
        std::vector<float> bias(static_cast<std::size_t>(part.weights.dims[1]), 0.0F);
        if (part.bias) bias = part.bias->floats();
        projection.bias.insert(projection.bias.end(), bias.begin(), bias.end());
    }
    if (biased)
        projection.fused.emplace_back("bias");
    else
        projection.bias.clear();
    return result_of(projection, input);
}

OnnxImporter::Tensor OnnxImporter::normalise(const OnnxNode& node, Tensor input, const OnnxTensor* gain,
                                             const OnnxTensor* offset, double epsilon) {
    if (!input.known) return input;
    if (input.layout != Layout::tokens && input.layout != Layout::vector)
        throw NotImportable(
            fmt::format("its input: expected [N, tokens, channels] or [N, channels], found {}", input.dims()));
    const auto of_channels = [&](const OnnxTensor& one) {
        return one.dims.size() == 1 && one.dims[0] == input.channels;
    };
    if (!of_channels(*gain) || (offset != nullptr && !of_channels(*offset)))
        throw NotImportable(fmt::format(
            "its scale and bias: expected the dimensions [{}], for the channels of its input, found {} and {}",
            input.channels, listed(gain->dims), offset == nullptr ? "none" : listed(offset->dims)));
    if (std::abs(epsilon / kEpsilon - 1) > 1e-3)
        no_values(node, fmt::format("its epsilon is {}, not {}", epsilon, kEpsilon));
    input = settled(node, input);
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
    bool all_read = true;
    const auto made_by = [&](const std::string& name, const char* op) -> const OnnxNode* {
        const OnnxNode* const found = producer(name, scope);
        return found != nullptr && found->domain.empty() && found->op == op && found->fault.empty() ? found : nullptr;
    };
    const auto mean_of = [&](const OnnxNode* mean, std::int64_t last) {
        NodeReader reader(*mean);
        const std::vector<std::int64_t> axes = reader.integers("axes").value_or(std::vector<std::int64_t>());
        all_read = all_read && axes.size() == 1 && (axes.front() == -1 || axes.front() == last) &&
                   reader.integer("keepdims") != 0;
        std::string input = reader.input(0);
        reader.finish();
        return input;
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
    const std::vector<std::int64_t>* const dims = dims_of(difference->input(0), scope);
    if (dims == nullptr || scalar(square->input(1), scope) != 2.0) return std::nullopt;
    const auto last = static_cast<std::int64_t>(dims->size()) - 1;
    mean_of(mean, last);
    mean_of(variance, last);
    if (!all_read) return std::nullopt;
    // The difference and the mean take it.
    return normalise(node, taken_by(difference->input(0), 2, scope), &*gain, &*offset, *epsilon);
}

/// x sigmoid(x), x hard_sigmoid(x), and x (erf(x / sqrt(2)) + 1) / 2.
std::optional<OnnxImporter::Tensor> OnnxImporter::decomposed_activation(const OnnxNode& node, Scope& scope) {
    if (node.op != "Mul") return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
        const OnnxNode* const curve = producer(node.input(i), scope);
        const std::string x = node.input(1 - i);
        if (curve == nullptr || curve->inputs.empty()) continue;
        if ((curve->op == "Sigmoid" || curve->op == "HardSigmoid" || curve->op == "Tanh") && curve->input(0) == x)
            return activate(node, taken_by(x, 2, scope), "x " + curve->op + "(x)");
    }
    const std::optional<double> half = scalar(node.input(1), scope);
    const OnnxNode* const product = half && *half == 0.5 ? producer(node.input(0), scope) : nullptr;
    if (product == nullptr || product->op != "Mul") return std::nullopt;
    const std::string x = product->input(0);
    const OnnxNode* const sum = producer(product->input(1), scope);
    const OnnxNode* const curve = sum != nullptr && sum->op == "Add" ? producer(sum->input(0), scope) : nullptr;
    const OnnxNode* const scaled = curve != nullptr && curve->op == "Erf" ? producer(curve->input(0), scope) : nullptr;
    if (scaled == nullptr || (scaled->op != "Div" && scaled->op != "Mul") || scaled->input(0) != x ||
        scalar(sum->input(1), scope) != 1.0 || !scalar(scaled->input(1), scope))
        return std::nullopt;
    return activate(node, taken_by(x, 2, scope), "Gelu");
}

}  // namespace switchyard::sched
