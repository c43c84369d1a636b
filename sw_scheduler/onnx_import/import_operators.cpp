// SPDX-License-Identifier: Apache-2.0
// ONNX's own operators, one by one, but for Conv and pools. Their definitions: ONNX operator schemas, opsets 9 to 17.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

constexpr double kLargestWeightScale = 65504;  // of the model format: the largest binary16

}  // namespace

const std::map<std::string, OnnxImporter::Handler>& OnnxImporter::handlers() {
    static const std::map<std::string, Handler> kHandlers = [] {
        std::map<std::string, Handler> all = {{"Conv", {&OnnxImporter::convolution, {1, 11}}},
                                              {"Gemm", {&OnnxImporter::gemm, {9, 11, 13}}},
                                              {"MatMul", {&OnnxImporter::matmul, {9, 13}}},
                                              {"BatchNormalization", {&OnnxImporter::batch_norm, {9, 14, 15}}},
                                              {"LayerNormalization", {&OnnxImporter::layer_norm, {17}}},
                                              {"MaxPool", {&OnnxImporter::pool, {8, 10, 11, 12}}},
                                              {"AveragePool", {&OnnxImporter::pool, {7, 10, 11}}},
                                              {"GlobalAveragePool", {&OnnxImporter::global_pool, {1}}},
                                              {"GlobalMaxPool", {&OnnxImporter::global_pool, {1}}},
                                              {"ReduceMean", {&OnnxImporter::reduce_mean, {1, 11, 13}}},
                                              {"Softmax", {&OnnxImporter::softmax, {1, 11, 13}}},
                                              {"Add", {&OnnxImporter::add, {7, 13, 14}}},
                                              {"Identity", {&OnnxImporter::identity, {1, 13, 14, 16}}},
                                              {"Dropout", {&OnnxImporter::dropout, {7, 10, 12, 13}}},
                                              {"Cast", {&OnnxImporter::cast, {9, 13}}},
                                              {"Flatten", {&OnnxImporter::reshape, {9, 11, 13}}},
                                              {"Reshape", {&OnnxImporter::reshape, {5, 13, 14}}},
                                              {"Squeeze", {&OnnxImporter::reshape, {1, 11, 13}}},
                                              {"Unsqueeze", {&OnnxImporter::reshape, {1, 11, 13}}},
                                              {"Transpose", {&OnnxImporter::transpose, {1, 13}}},
                                              {"Gather", {&OnnxImporter::gather, {1, 11, 13}}},
                                              {"If", {&OnnxImporter::conditional, {1, 11, 13, 16}}},
                                              {"switchyard.Switch", {&OnnxImporter::switch_branch, {1}}},
                                              {"switchyard.Merge", {&OnnxImporter::merge, {1}}}};
        const std::map<std::string, std::set<int>> activations = {{"Relu", {6, 13, 14}},
                                                                  {"Sigmoid", {6, 13}},
                                                                  {"HardSigmoid", {6}},
                                                                  {"HardSwish", {14}},
                                                                  {"Tanh", {6, 13}},
                                                                  {"Erf", {9, 13}},
                                                                  {"LeakyRelu", {6, 16}},
                                                                  {"Clip", {6, 11, 12, 13}},
                                                                  {"Elu", {6}},
                                                                  {"Selu", {6}},
                                                                  {"Celu", {12}},
                                                                  {"Softplus", {1}},
                                                                  {"Softsign", {1}},
                                                                  {"Exp", {6, 13}},
                                                                  {"Log", {6, 13}},
                                                                  {"Sqrt", {6, 13}},
                                                                  {"Reciprocal", {6, 13}},
                                                                  {"Abs", {6, 13}},
                                                                  {"Neg", {6, 13}},
                                                                  {"Sin", {7}},
                                                                  {"Cos", {7}},
                                                                  {"PRelu", {9, 16}},
                                                                  {"Pow", {7, 12, 13, 15}},
                                                                  {"ThresholdedRelu", {10}}};
        for (const auto& [op, versions] : activations) all[op] = {&OnnxImporter::activation, versions};
        for (const char* const op : {"Mul", "Sub", "Div"}) all[op] = {&OnnxImporter::binary, {7, 13, 14}};
        for (const char* const op : {"Max", "Min"}) all[op] = {&OnnxImporter::binary, {8, 12, 13}};
        return all;
    }();
    return kHandlers;
}

std::map<std::string, std::set<int>> imported_operators() {
    std::map<std::string, std::set<int>> all;
    for (const auto& [op, handler] : OnnxImporter::handlers()) all[op] = handler.versions;
    all["switchyard.Sink"] = {1};
    return all;
}

/// `weights`: [in, out], or [out, in] with `out_first`.
OnnxImporter::Tensor OnnxImporter::linear(const OnnxNode& node, Tensor input, const OnnxTensor& weights,
                                          bool out_first) {
    if (!input.known) return input;
    if (weights.dims.size() != 2 || weights.elements() < 1)
        throw NotImportable(fmt::format("its weights: expected a matrix with a value or more, found dimensions {}",
                                        listed(weights.dims)));
    const std::int64_t in = weights.dims[out_first ? 1 : 0], out = weights.dims[out_first ? 0 : 1];
    const bool flat = input.layout == Layout::vector;
    if (input.layout != Layout::tokens && !flat)
        throw NotImportable(fmt::format(
            "its input: expected [N, channels] or [N, tokens, channels], found {}; put a Flatten in front of it",
            input.dims()));
    check_channels(in, flat ? input.elements() : input.channels);
    const bool whole_map = flat && std::uint64_t{input.rows} * input.columns > 1;
    ImportedLayer& layer = add_layer(layer_name(node, &weights), whole_map ? "convolution" : "matmul", input);
    layer.keys.emplace_back("out_channels", std::to_string(out));
    if (whole_map) layer.add_filter(input.rows, input.columns);
    const OnnxTensor matrix = out_first ? weights : transposed(weights);
    std::vector<std::size_t> shape = {static_cast<std::size_t>(out), static_cast<std::size_t>(in)};
    if (whole_map) shape = {shape[0], input.channels, input.rows, input.columns};
    take_weights(layer, matrix, shape, input);
    Tensor result = result_of(layer, input);
    result.channels = static_cast<std::uint32_t>(out);
    if (whole_map) result.rows = result.columns = 1;
    return result;
}

OnnxImporter::Tensor OnnxImporter::gemm(NodeReader& node, Scope& scope) {
    const OnnxTensor weights = constant_input(node, 1, "weights", scope);
    const double alpha = node.number("alpha"), beta = node.number("beta");
    const std::int64_t trans_a = node.integer("transA");
    if (alpha != 1 || beta != 1 || trans_a != 0)
        throw NotImportable(
            fmt::format("expected alpha 1, beta 1 and transA 0, found {}, {} and {}; fold the factors into the weights "
                        "and the bias",
                        alpha, beta, trans_a));
    std::optional<OnnxTensor> bias;
    if (!node.input(2).empty()) bias = constant_input(node, 2, "bias", scope);
    const Tensor input = tensor(node.input(0), scope);
    if (input.known && input.layout != Layout::vector)
        throw NotImportable(
            fmt::format("its input: expected [N, channels], found {}; put a Flatten in front of it", input.dims()));
    Tensor result = linear(node, input, weights, node.integer("transB") != 0);
    if (!result.known || !bias) return result;
    broadcast_to(result, *bias);
    add_bias(*layer_of_.at(result.name), *bias);
    return result;
}

OnnxImporter::Tensor OnnxImporter::matmul(NodeReader& node, Scope& scope) {
    if (const std::optional<OnnxTensor> weights = constant(node.input(1), scope))
        return linear(node, tensor(node.input(0), scope), *weights, false);
    const std::string left = node.input(0);
    try {
        if (const std::optional<Tensor> heads = attention(node, scope)) return *heads;
    } catch (const NotImportable& reason) {
        throw NoPattern(reason.what());
    }
    throw NotImportable(
        fmt::format("expected constant weights, or the products and the softmax of an attention, found a product of "
                    "two results, {} and {}",
                    shown(left), shown(node.input(1))));
}

OnnxImporter::Tensor OnnxImporter::batch_norm(NodeReader& node, Scope& scope) {
    constexpr const char* kParameters[] = {"scale", "bias", "mean", "variance"};
    std::vector<OnnxTensor> constants;
    for (std::size_t i = 0; i < 4; ++i) constants.push_back(constant_input(node, i + 1, kParameters[i], scope));
    node.ignore("momentum");  // of training alone
    const bool several = std::count(node->outputs.begin(), node->outputs.end(), "") + 1 <
                         static_cast<std::ptrdiff_t>(node->outputs.size());
    if (node.integer("training_mode") != 0 || several)
        throw NotImportable(
            "expected stored statistics, found statistics of the batch, as in training; export it for inference");
    const double epsilon = node.number("epsilon");
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    if (input.layout != Layout::map && !(input.layout == Layout::vector && input.one_pixel()))
        throw NotImportable(
            fmt::format("its input: expected [N, channels, rows, columns] or [N, channels], found {}", input.dims()));
    for (std::size_t i = 0; i < 4; ++i)
        if (constants[i].elements() != input.channels || constants[i].dims.size() != 1)
            throw NotImportable(
                fmt::format("its {}: expected the dimensions [{}], for the channels of its input, found {}",
                            kParameters[i], input.channels, listed(constants[i].dims)));
    count(constants[0]);
    count(constants[1]);
    std::vector<float> gain, offset;
    if (options_.values) {
        const std::vector<float> scale = constants[0].floats(), shift = constants[1].floats(),
                                 mean = constants[2].floats(), variance = constants[3].floats();
        for (std::size_t k = 0; k < scale.size(); ++k) {
            const double factor = static_cast<double>(scale[k]) / std::sqrt(static_cast<double>(variance[k]) + epsilon);
            gain.push_back(static_cast<float>(factor));
            offset.push_back(static_cast<float>(static_cast<double>(shift[k]) - static_cast<double>(mean[k]) * factor));
        }
    }
    ImportedLayer* const made = fusable(input);
    const bool folds = made != nullptr &&
                       (made->kind == "convolution" || made->kind == "depthwise" || made->kind == "matmul") &&
                       (made->fused.empty() || (made->fused.size() == 1 && made->fuses("bias")));
    if (folds) {
        if (!made->fuses("bias")) made->fused.emplace_back("bias");
        if (!options_.values) return input;
        made->bias.resize(made->out_channels, 0.0F);
        const std::size_t row = made->weight.size() / made->out_channels;
        for (std::size_t i = 0; i < made->weight.size(); ++i) made->weight[i] *= gain[i / row];
        for (std::size_t k = 0; k < gain.size(); ++k) made->bias[k] = made->bias[k] * gain[k] + offset[k];
        return input;
    }
    ImportedLayer& layer = add_layer(layer_name(node, &constants[0]), "norm", settled(node, input));
    layer.has_parameters = true;
    if (options_.values) {
        other_weights_[layer.name + ".gain"] = {layer.name + ".gain", {gain.size()}, gain};
        other_weights_[layer.name + ".offset"] = {layer.name + ".offset", {offset.size()}, offset};
    }
    return result_of(layer, input);
}

OnnxImporter::Tensor OnnxImporter::layer_norm(NodeReader& node, Scope& scope) {
    const OnnxTensor gain = constant_input(node, 1, "scale", scope);
    std::optional<OnnxTensor> offset;
    if (!node.input(2).empty()) offset = constant_input(node, 2, "bias", scope);
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::int64_t axis = node.integer("axis"), rank = static_cast<std::int64_t>(input.rank());
    if (axis != -1 && axis != rank - 1)
        throw NotImportable(fmt::format(
            "its axis: expected -1, the last one, found {} of its input {}; export a norm over the channels alone",
            axis, input.dims()));
    return normalise(node, input, &gain, offset ? &*offset : nullptr, node.number("epsilon"));
}

OnnxImporter::Tensor OnnxImporter::activation(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    for (std::size_t i = 1; i < node->inputs.size(); ++i) {
        if (node.input(i).empty()) continue;
        const OnnxTensor operand = constant_input(node, i, "operand", scope);
        if (!input.known) return input;
        broadcast_to(input, operand);
        if (node.op() == "PRelu") count(operand);
    }
    node.ignore_attributes();  // the model format has no values of the function
    return activate(node, input, node.op());
}

OnnxImporter::Tensor OnnxImporter::activate(const OnnxNode& node, Tensor input, const std::string& function) {
    if (!input.known) return input;
    ImportedLayer& layer = layer_to_fuse(node, input);
    if (function == "Relu" || function == "Sigmoid") {
        layer.fused.emplace_back(function == "Relu" ? "relu" : "sigmoid");
        return input;
    }
    // A step of the epilogue that has no time of its own, as ReLU.
    layer.fused.emplace_back("relu");
    layer.note += (layer.note.empty() ? "relu stands for " : ", ") + function;
    no_values(node, function == node.op ? "" : function);
    return input;
}

/// Before opset 13 over all dimensions from `axis` on, then over this one.
OnnxImporter::Tensor OnnxImporter::softmax(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::vector<std::int64_t> dims = input.sample_dims();
    const auto rank = static_cast<std::int64_t>(dims.size()) + 1;
    std::int64_t axis = node.integer("axis");
    if (axis < 0) axis += rank;
    // A dimension of one element changes nothing.
    const bool by_token = input.layout == Layout::tokens || (input.layout == Layout::vector && input.one_pixel());
    bool last = axis == rank - 1;
    if (!last && node->version < 13 && axis >= 1 && axis < rank)
        last = std::all_of(dims.begin() + (axis - 1), dims.end() - 1, [](std::int64_t dim) { return dim == 1; });
    if (!last || !by_token)
        throw NotImportable(
            fmt::format("its axis: expected the last one, of the channels of a token, or an attention, found axis {}{} "
                        "of its input {}",
                        node.integer("axis"), node->version < 13 ? " and all after it" : "", input.dims()));
    ImportedLayer* layer = &layer_to_fuse(node, input);
    if (layer->fuses_across_channels()) {
        layer = &add_layer(layer_name(node, nullptr), "elementwise", input);
        input = result_of(*layer, input);
    }
    layer->fused.emplace_back("softmax");
    return input;
}

OnnxImporter::Tensor OnnxImporter::add(NodeReader& node, Scope& scope) {
    const std::string left = node.input(0), right = node.input(1);
    if (const std::optional<Tensor> normalised = decomposed_layer_norm(node, scope)) return *normalised;
    for (const bool first : {true, false})
        if (const std::optional<OnnxTensor> addend = constant(first ? left : right, scope))
            return add_constant(node, tensor(first ? right : left, scope), *addend);
    Tensor a = tensor(left, scope), b = tensor(right, scope);
    const bool looked_up = !a.embedded.empty() && !b.embedded.empty();
    if (!looked_up || !a.known || !b.known) return combine(node, a, b);
    if (a.layout != b.layout || a.scale != 1 || b.scale != 1)
        throw NotImportable(
            fmt::format("expected a sum of rows of tables as the tables have them, found {} times {} and {} times {}; "
                        "change the sum, not the rows",
                        a.dims(), a.scale, b.dims(), b.scale));
    a.embedded.insert(b.embedded.begin(), b.embedded.end());  // the host adds what it looks up
    return a;
}

/// A bias of each channel, or a position of each token and channel.
OnnxImporter::Tensor OnnxImporter::add_constant(const OnnxNode& node, Tensor input, const OnnxTensor& addend) {
    if (!input.known) return input;
    const std::vector<std::int64_t> dims = broadcast_to(input, addend);
    const auto elements = static_cast<std::uint64_t>(addend.elements());
    const std::size_t channel = input.layout == Layout::map ? 0 : dims.size() - 1;
    const bool split = input.layout == Layout::heads || input.layout == Layout::split;
    const bool by_channel =
        !split && elements == input.channels && dims[channel] == static_cast<std::int64_t>(input.channels);
    if (elements != 1 && !by_channel) {
        if (input.layout != Layout::tokens || elements != input.elements())
            throw NotImportable(
                fmt::format("its constant: expected a value for each channel, or for each token and channel, of its "
                            "input {}, found dimensions {}",
                            input.dims(), listed(addend.dims)));
        ImportedLayer* layer = &layer_to_fuse(node, input);
        const bool has_position = std::any_of(layer->fused.begin(), layer->fused.end(),
                                              [](const std::string& step) { return step.rfind("{position:", 0) == 0; });
        if (has_position) {
            layer = &add_layer(layer_name(node, nullptr), "elementwise", input);
            input = result_of(*layer, input);
        }
        const std::string name = unique(layer->name + ".position");
        layer->fused.push_back(fmt::format("{{position: {}}}", name));
        if (options_.values) other_weights_[name] = {name, {input.rows, input.channels}, addend.floats()};
        count(addend);
        return input;
    }
    ImportedLayer* layer = &layer_to_fuse(node, input);
    if (!layer->fused.empty()) {
        layer = &add_layer(layer_name(node, nullptr), "elementwise", input);
        input = result_of(*layer, input);
    }
    layer->out_channels = input.channels;
    add_bias(*layer, addend);
    return input;
}

/// The sum of two results, fused to the one that nothing else takes, or an operator of its own.
OnnxImporter::Tensor OnnxImporter::combine(const OnnxNode& node, Tensor a, Tensor b) {
    if (!a.known || !b.known) return a.known ? b : a;
    if (!a.same_shape(b) || a.layout != b.layout)
        throw NotImportable(
            fmt::format("its inputs: expected results of one shape, found {} and {}", a.dims(), b.dims()));
    a = settled(node, a), b = settled(node, b);
    const auto takes = [&](const Tensor& one) {
        ImportedLayer* const layer = fusable(one);
        return layer != nullptr && layer->kind != "merge" && layer->kind != "pool" && !layer->fuses_operand() ? layer
                                                                                                              : nullptr;
    };
    ImportedLayer* layer = takes(b);
    if (layer == nullptr && takes(a) != nullptr) std::swap(a, b), layer = takes(b);
    if (layer == nullptr) {
        layer = &add_layer(layer_name(node, nullptr), "elementwise", b);
        b = result_of(*layer, b);
    }
    layer->fused.push_back(fmt::format("{{add: {}}}", operated(a).name));
    return b;
}

OnnxImporter::Tensor OnnxImporter::binary(NodeReader& node, Scope& scope) {
    if (node->inputs.size() != 2)
        throw NotImportable(
            fmt::format("expected 2 inputs, found {}; export a chain of nodes with 2 inputs", node->inputs.size()));
    const std::string left = node.input(0), right = node.input(1);
    if (const std::optional<Tensor> known = decomposed_activation(node, scope)) return *known;
    for (const bool first : {true, false}) {
        const std::optional<OnnxTensor> value = constant(first ? left : right, scope);
        if (!value) continue;
        Tensor input = tensor(first ? right : left, scope);
        if (!input.known) return input;
        broadcast_to(input, *value);
        const bool scales = value->elements() == 1 && (node.op() == "Mul" || (node.op() == "Div" && !first));
        if (!scales) return activate(node, input, node.op() + " with a constant");
        const auto number = static_cast<double>(value->floats().front());
        return scaled(node, input, node.op() == "Mul" ? number : 1 / number);
    }
    const Tensor a = tensor(left, scope), b = tensor(right, scope);
    if (!a.known || !b.known) return a.known ? b : a;
    if (node.op() == "Mul" && !a.same_shape(b))
        return a.elements() >= b.elements() ? multiplied(node, a, b) : multiplied(node, b, a);
    Tensor result = combine(node, a, b);
    ImportedLayer& layer = *layer_of_.at(result.name);
    layer.note += (layer.note.empty() ? "add stands for " : ", add stands for ") + node.op();
    no_values(node, "of two results");
    return result;
}

/// Takes a factor into the weights of the layer in front, or carries it to those of the layer behind.
OnnxImporter::Tensor OnnxImporter::scaled(const OnnxNode& node, Tensor input, double factor) {
    if (!std::isfinite(factor))
        throw NotImportable(fmt::format("its factor: expected a finite number, found {}", factor));
    ImportedLayer* const made = fusable(input);
    const bool takes = made != nullptr && made->note.empty() &&
                       (made->kind == "convolution" || made->kind == "depthwise" || made->kind == "matmul") &&
                       std::all_of(made->fused.begin(), made->fused.end(), [&](const std::string& step) {
                           return step == "bias" || (step == "relu" && factor > 0);
                       });
    if (!takes || std::abs(made->weight_scale * factor) > kLargestWeightScale) {
        input.scale *= factor;
        if (std::abs(input.scale) > kLargestWeightScale)
            return activate(node, settled(node, input), node.op + " with a constant");
        return input;
    }
    made->weight_scale *= factor;
    for (float& bias : made->bias) bias = static_cast<float>(static_cast<double>(bias) * factor);
    return input;
}

/// A factor for each channel, or one a sample. The step `scale` takes both as one factor a sample: the same operands
/// and time.
OnnxImporter::Tensor OnnxImporter::multiplied(const OnnxNode& node, Tensor a, Tensor b) {
    if (a.layout != b.layout || !b.one_pixel() || (b.channels != a.channels && b.channels != 1) ||
        a.layout == Layout::heads || a.layout == Layout::split)
        return combine(node, a, b);  // refuses it with the shapes
    a = settled(node, a);
    b = operated(settled(node, b));
    ImportedLayer* layer = fusable(a);
    if (layer == nullptr || layer->kind == "merge" || layer->kind == "pool" || layer->fuses_operand()) {
        layer = &add_layer(layer_name(node, nullptr), "elementwise", a);
        a = result_of(*layer, a);
    }
    layer->fused.push_back(fmt::format("{{scale: {}}}", b.name));
    if (b.channels > 1) {
        layer->note +=
            (layer->note.empty() ? "scale stands for a product " : ", a product ") + std::string("by channel");
        no_values(node, "a product by channel");
    }
    return a;
}

}  // namespace switchyard::sched
