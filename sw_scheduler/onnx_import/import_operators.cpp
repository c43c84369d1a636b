// SPDX-License-Identifier: Apache-2.0
// ONNX's own operators, one by one. Their definitions: ONNX operator schemas, opsets 9 to 17.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

std::int64_t positive_axis(std::int64_t axis, std::size_t rank) {
    return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

std::size_t rank_of(ImportedTensor::Layout layout) {
    if (layout == ImportedTensor::Layout::vector) return 2;
    return layout == ImportedTensor::Layout::tokens ? 3 : 4;
}

std::string pair_of(std::int64_t rows, std::int64_t columns) {
    return rows == columns ? std::to_string(rows) : fmt::format("[{}, {}]", rows, columns);
}

}  // namespace

const std::map<std::string, OnnxImporter::Handler>& OnnxImporter::handlers() {
    static const std::map<std::string, Handler> kHandlers = [] {
        std::map<std::string, Handler> all = {{"Conv", &OnnxImporter::convolution},
                                              {"Gemm", &OnnxImporter::gemm},
                                              {"MatMul", &OnnxImporter::matmul},
                                              {"BatchNormalization", &OnnxImporter::batch_norm},
                                              {"LayerNormalization", &OnnxImporter::layer_norm},
                                              {"MaxPool", &OnnxImporter::pool},
                                              {"AveragePool", &OnnxImporter::pool},
                                              {"GlobalAveragePool", &OnnxImporter::global_pool},
                                              {"GlobalMaxPool", &OnnxImporter::global_pool},
                                              {"ReduceMean", &OnnxImporter::reduce_mean},
                                              {"Softmax", &OnnxImporter::softmax},
                                              {"Add", &OnnxImporter::add},
                                              {"Flatten", &OnnxImporter::reshape},
                                              {"Reshape", &OnnxImporter::reshape},
                                              {"Squeeze", &OnnxImporter::reshape},
                                              {"Unsqueeze", &OnnxImporter::reshape},
                                              {"Transpose", &OnnxImporter::transpose},
                                              {"Gather", &OnnxImporter::gather},
                                              {"If", &OnnxImporter::conditional}};
        for (const char* const op :
             {"Relu", "Sigmoid", "HardSigmoid", "HardSwish",      "Tanh",     "Clip", "LeakyRelu",
              "Elu",  "Selu",    "Celu",        "Softplus",       "Softsign", "Mish", "Erf",
              "Exp",  "Log",     "Sqrt",        "Reciprocal",     "Abs",      "Neg",  "Sin",
              "Cos",  "PRelu",   "Pow",         "ThresholdedRelu"})
            all[op] = &OnnxImporter::activation;
        for (const char* const op : {"Mul", "Sub", "Div", "Max", "Min"}) all[op] = &OnnxImporter::binary;
        for (const char* const op : {"Identity", "Dropout", "Cast"}) all[op] = &OnnxImporter::pass;
        return all;
    }();
    return kHandlers;
}

/// Filter, stride and pad of Conv and of pools; sets the rows and columns of the result.
void OnnxImporter::set_window(ImportedLayer& layer, const OnnxNode& node, const Tensor& input, Tensor& result,
                              std::vector<std::int64_t> filter) {
    if (input.layout != Layout::map || filter.size() != 2) throw NotImportable("only two dimensions are supported");
    const std::string auto_pad = node.text_or("auto_pad", "NOTSET");
    if (auto_pad != "NOTSET" && auto_pad != "VALID") throw NotImportable("auto_pad " + auto_pad + " is not supported");
    const std::vector<std::int64_t> strides = node.integers_or("strides", {1, 1});
    const std::vector<std::int64_t> pads = node.integers_or("pads", {0, 0, 0, 0});
    for (const std::int64_t dilation : node.integers_or("dilations", {1, 1}))
        if (dilation != 1) throw NotImportable("dilations are not supported");
    if (strides[0] != strides[1]) throw NotImportable("strides of rows and columns differ");
    for (const std::int64_t pad : pads)
        if (pad != pads.front()) throw NotImportable("pads of the four sides differ");
    const auto size = [&](std::uint32_t in, std::int64_t window) {
        const std::int64_t padded = std::int64_t{in} + 2 * pads.front();
        if (padded < window) throw NotImportable("the filter does not fit its input");
        const std::int64_t over = (padded - window) % strides.front();
        if (node.integer_or("ceil_mode", 0) != 0 && over != 0) throw NotImportable("ceil_mode is not supported");
        return static_cast<std::uint32_t>((padded - window) / strides.front() + 1);
    };
    result.rows = size(input.rows, filter[0]);
    result.columns = size(input.columns, filter[1]);
    layer.keys.emplace_back("filter", pair_of(filter[0], filter[1]));
    if (strides.front() != 1) layer.keys.emplace_back("stride", std::to_string(strides.front()));
    if (pads.front() != 0) layer.keys.emplace_back("pad", std::to_string(pads.front()));
}

OnnxImporter::Tensor OnnxImporter::convolution(const OnnxNode& node, Scope& scope) {
    const std::optional<OnnxTensor> weights = constant(node.input(1), scope);
    if (!weights) throw NotImportable("its weights are no constant");
    if (weights->dims.size() != 4) throw NotImportable("only two dimensions are supported");
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::int64_t groups = node.integer_or("group", 1);
    const bool depthwise = groups > 1;
    if (depthwise && (weights->dims[0] != groups || weights->dims[1] != 1))
        throw NotImportable(fmt::format("{} groups of several channels are not supported", groups));
    if (weights->dims[1] * groups != input.channels)
        throw NotImportable(fmt::format("its weights are for {} channels, and its input has {}",
                                        weights->dims[1] * groups, input.channels));
    ImportedLayer& layer = add_layer(layer_name(node, &*weights), depthwise ? "depthwise" : "convolution", input);
    if (!depthwise) layer.keys.emplace_back("out_channels", std::to_string(weights->dims[0]));
    Tensor result = result_of(layer, input);
    result.channels = static_cast<std::uint32_t>(weights->dims[0]);
    set_window(layer, node, input, result, {weights->dims[2], weights->dims[3]});
    take_weights(layer, *weights, {weights->dims.begin(), weights->dims.end()}, input);
    if (!node.input(2).empty()) {
        const std::optional<OnnxTensor> bias = constant(node.input(2), scope);
        if (!bias) throw NotImportable("its bias is no constant");
        add_bias(layer, *bias);
    }
    return result;
}

/// `weights`: [in, out], or [out, in] with `out_first`.
OnnxImporter::Tensor OnnxImporter::linear(const OnnxNode& node, Tensor input, const OnnxTensor& weights,
                                          bool out_first) {
    if (!input.known) return input;
    if (weights.dims.size() != 2) throw NotImportable("its weights are no matrix");
    const std::int64_t in = weights.dims[out_first ? 1 : 0], out = weights.dims[out_first ? 0 : 1];
    const bool flat = input.layout == Layout::vector;
    const std::uint64_t wanted = flat ? input.elements() : input.channels;
    if (input.layout != Layout::tokens && !flat)
        throw NotImportable("its input is a map of channels, rows and columns");
    if (static_cast<std::uint64_t>(in) != wanted)
        throw NotImportable(fmt::format("its weights are for {} channels, and its input has {}", in, wanted));
    const bool whole_map = flat && std::uint64_t{input.rows} * input.columns > 1;
    ImportedLayer& layer = add_layer(layer_name(node, &weights), whole_map ? "convolution" : "matmul", input);
    layer.keys.emplace_back("out_channels", std::to_string(out));
    if (whole_map) layer.keys.emplace_back("filter", pair_of(input.rows, input.columns));
    OnnxTensor matrix = weights;
    if (!out_first) {
        std::swap(matrix.dims[0], matrix.dims[1]);
        if (matrix.order.empty())
            matrix.order = {1, 0};
        else
            std::swap(matrix.order[0], matrix.order[1]);
    }
    std::vector<std::size_t> shape = {static_cast<std::size_t>(out), static_cast<std::size_t>(in)};
    if (whole_map) shape = {shape[0], input.channels, input.rows, input.columns};
    take_weights(layer, matrix, shape, input);
    Tensor result = result_of(layer, input);
    result.channels = static_cast<std::uint32_t>(out);
    if (whole_map) result.rows = result.columns = 1;
    return result;
}

OnnxImporter::Tensor OnnxImporter::gemm(const OnnxNode& node, Scope& scope) {
    const std::optional<OnnxTensor> weights = constant(node.input(1), scope);
    if (!weights) throw NotImportable("its weights are no constant");
    if (node.number_or("alpha", 1) != 1 || node.number_or("beta", 1) != 1 || node.integer_or("transA", 0) != 0)
        throw NotImportable("alpha, beta and transA are not supported");
    Tensor result = linear(node, tensor(node.input(0), scope), *weights, node.integer_or("transB", 0) != 0);
    if (!result.known || node.input(2).empty()) return result;
    const std::optional<OnnxTensor> bias = constant(node.input(2), scope);
    if (!bias) throw NotImportable("its bias is no constant");
    add_bias(*layer_of_.at(result.name), *bias);
    return result;
}

OnnxImporter::Tensor OnnxImporter::matmul(const OnnxNode& node, Scope& scope) {
    if (const std::optional<OnnxTensor> weights = constant(node.input(1), scope))
        return linear(node, tensor(node.input(0), scope), *weights, false);
    if (const std::optional<Tensor> heads = attention(node, scope)) return *heads;
    throw NotImportable("a product of two results that is no attention");
}

OnnxImporter::Tensor OnnxImporter::batch_norm(const OnnxNode& node, Scope& scope) {
    std::vector<OnnxTensor> constants;
    for (std::size_t i = 1; i < 5; ++i) {
        const std::optional<OnnxTensor> one = constant(node.input(i), scope);
        if (!one) throw NotImportable("its parameters are no constants");
        constants.push_back(*one);
    }
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    if (constants[0].elements() != input.channels) throw NotImportable("has another number of channels than its input");
    count(constants[0]);
    count(constants[1]);
    std::vector<float> gain, offset;
    if (options_.values) {
        const std::vector<float> scale = constants[0].floats(), shift = constants[1].floats(),
                                 mean = constants[2].floats(), variance = constants[3].floats();
        const double epsilon = node.number_or("epsilon", 1e-5);
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
    ImportedLayer& layer = add_layer(layer_name(node, &constants[0]), "norm", input);
    layer.has_parameters = true;
    if (input.scale != 1) no_values(node, "a product with a constant in front of it");
    if (options_.values) {
        other_weights_[layer.name + ".gain"] = {layer.name + ".gain", {gain.size()}, gain};
        other_weights_[layer.name + ".offset"] = {layer.name + ".offset", {offset.size()}, offset};
    }
    return result_of(layer, input);
}

OnnxImporter::Tensor OnnxImporter::layer_norm(const OnnxNode& node, Scope& scope) {
    const std::optional<OnnxTensor> gain = constant(node.input(1), scope), offset = constant(node.input(2), scope);
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    if (positive_axis(node.integer_or("axis", -1), rank_of(input.layout)) + 1 !=
        static_cast<std::int64_t>(rank_of(input.layout)))
        throw NotImportable("only the last dimension is supported");
    if (!gain) throw NotImportable("its gain is no constant");
    return normalise(node, input, &*gain, offset ? &*offset : nullptr, node.number_or("epsilon", 1e-5));
}

OnnxImporter::Tensor OnnxImporter::pool(const OnnxNode& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const bool mean = node.op == "AveragePool";
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "pool", input);
    Tensor result = result_of(layer, input);
    set_window(layer, node, input, result, node.integers_or("kernel_shape", {}));
    if (mean) layer.keys.emplace_back("pooling", "mean");
    const std::vector<std::int64_t> pads = node.integers_or("pads", {0});
    if (mean && pads.front() != 0 && node.integer_or("count_include_pad", 0) == 0)
        no_values(node, "its mean does not count the padding");
    if (input.scale != 1) no_values(node, "a product with a constant in front of it");
    return result;
}

OnnxImporter::Tensor OnnxImporter::global_pool(const OnnxNode& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    if (input.layout != Layout::map) throw NotImportable("only two dimensions are supported");
    const bool mean = node.op == "GlobalAveragePool";
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), mean ? "global_pool" : "pool", input);
    if (!mean) layer.keys.emplace_back("filter", pair_of(input.rows, input.columns));
    Tensor result = result_of(layer, input);
    result.scale = input.scale;
    result.rows = result.columns = 1;
    return result;
}

/// Over all rows and columns, or all tokens.
OnnxImporter::Tensor OnnxImporter::reduce_mean(const OnnxNode& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    std::vector<std::int64_t> axes = node.integers_or("axes", {});
    if (axes.empty() && !node.input(1).empty())
        if (const std::optional<OnnxTensor> given = constant(node.input(1), scope)) axes = given->integers();
    for (std::int64_t& axis : axes) axis = positive_axis(axis, rank_of(input.layout));
    std::sort(axes.begin(), axes.end());
    const bool map = input.layout == Layout::map && axes == std::vector<std::int64_t>{2, 3};
    const bool tokens = input.layout == Layout::tokens && axes == std::vector<std::int64_t>{1};
    if (!map && !tokens) throw NotImportable("only means over all rows and columns, or over all tokens, are supported");
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "global_pool", input);
    Tensor result = result_of(layer, input);
    result.scale = input.scale;
    result.rows = result.columns = 1;
    if (node.integer_or("keepdims", 1) == 0) result.layout = Layout::vector;
    return result;
}

OnnxImporter::Tensor OnnxImporter::activation(const OnnxNode& node, Scope& scope) {
    return activate(node, tensor(node.input(0), scope), node.op);
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

OnnxImporter::Tensor OnnxImporter::softmax(const OnnxNode& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::size_t rank = rank_of(input.layout);
    const bool last = positive_axis(node.integer_or("axis", -1), rank) + 1 == static_cast<std::int64_t>(rank);
    if (!last || rank == 4 || std::uint64_t{input.rows} * input.columns != (rank == 2 ? 1 : input.rows))
        throw NotImportable("only over the channels of a token, or in an attention");
    ImportedLayer* layer = &layer_to_fuse(node, input);
    if (layer->fuses_across_channels()) {
        layer = &add_layer(layer_name(node, nullptr), "elementwise", input);
        input = result_of(*layer, input);
    }
    layer->fused.emplace_back("softmax");
    return input;
}

OnnxImporter::Tensor OnnxImporter::add(const OnnxNode& node, Scope& scope) {
    if (const std::optional<Tensor> normalised = decomposed_layer_norm(node, scope)) return *normalised;
    for (std::size_t i = 0; i < 2; ++i)
        if (const std::optional<OnnxTensor> addend = constant(node.input(i), scope))
            return add_constant(node, tensor(node.input(1 - i), scope), *addend);
    return combine(node, tensor(node.input(0), scope), tensor(node.input(1), scope));
}

/// A bias of each channel, or a position of each token and channel.
OnnxImporter::Tensor OnnxImporter::add_constant(const OnnxNode& node, Tensor input, const OnnxTensor& addend) {
    if (!input.known) return input;
    const auto elements = static_cast<std::uint64_t>(addend.elements());
    const std::size_t rank = addend.dims.size();
    const std::size_t channel = input.layout == Layout::map ? 3 : 1;  // from the end
    const bool by_channel = elements == input.channels && rank >= channel &&
                            static_cast<std::uint64_t>(addend.dims[rank - channel]) == input.channels;
    if (elements != 1 && !by_channel) {
        const bool position = input.layout == Layout::tokens && elements == input.elements() &&
                              static_cast<std::uint64_t>(addend.dims.back()) == input.channels;
        if (!position) throw NotImportable("adds a constant that is neither of each channel nor of each token");
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
    if (a.embedded && b.embedded) return a;  // the host adds what it looks up
    if (!a.same_shape(b))
        throw NotImportable(fmt::format("its operands are {}x{}x{} and {}x{}x{}", a.channels, a.rows, a.columns,
                                        b.channels, b.rows, b.columns));
    if (a.scale != 1 || b.scale != 1) no_values(node, "a product with a constant in front of it");
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

OnnxImporter::Tensor OnnxImporter::binary(const OnnxNode& node, Scope& scope) {
    if (const std::optional<Tensor> known = decomposed_activation(node, scope)) return *known;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::optional<OnnxTensor> value = constant(node.input(i), scope);
        if (!value) continue;
        Tensor input = tensor(node.input(1 - i), scope);
        if (!input.known) return input;
        const std::optional<double> factor = scalar(node.input(i), scope);
        if (factor && node.op == "Mul") input.scale *= *factor;
        if (factor && node.op == "Div" && i == 1) input.scale /= *factor;
        if (factor && (node.op == "Mul" || (node.op == "Div" && i == 1))) return input;
        return activate(node, input, node.op + " with a constant");
    }
    Tensor a = tensor(node.input(0), scope), b = tensor(node.input(1), scope);
    if (!a.known || !b.known) return a.known ? b : a;
    if (b.elements() > a.elements()) std::swap(a, b);
    if (!a.same_shape(b) && node.op == "Mul" && b.rows == 1 && b.columns == 1 &&
        (b.channels == a.channels || b.channels == 1)) {
        // A factor for each channel. The step `scale` takes it as one factor a sample: the same operands and time.
        b = operated(b);
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
    Tensor result = combine(node, a, b);
    layer_of_.at(result.name)->note += "add stands for " + node.op;
    no_values(node, "of two results");
    return result;
}

OnnxImporter::Tensor OnnxImporter::pass(const OnnxNode& node, Scope& scope) {
    return tensor(node.input(0), scope);
}

OnnxImporter::Tensor OnnxImporter::reshape(const OnnxNode& node, Scope& scope) {
    const std::string output = asked_;
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    std::size_t rank = 2;  // of Flatten
    if (node.op == "Flatten") {
        if (node.integer_or("axis", 1) != 1) throw NotImportable("only axis 1 is supported");
    } else if (const std::optional<OnnxTensor> wish =
                   node.op == "Reshape" ? constant(node.input(1), scope) : std::nullopt) {
        rank = static_cast<std::size_t>(wish->elements());
    } else if (const std::vector<std::int64_t>* const dims = dims_of(output, scope)) {
        rank = dims->size();
    } else {
        throw NotImportable("the number of dimensions of its result is not known");
    }
    const bool one_pixel = std::uint64_t{input.rows} * input.columns == 1;
    if (rank == rank_of(input.layout)) return input;
    if (rank == 2 && (input.layout == Layout::map || one_pixel)) {
        input.layout = Layout::vector;
    } else if (rank == 4 && input.layout == Layout::vector && one_pixel) {
        input.layout = Layout::map;
    } else if (rank == 3 && input.layout == Layout::heads) {
        input.layout = Layout::tokens;
    } else {
        throw NotImportable("the model format has no such change of dimensions");
    }
    return input;
}

OnnxImporter::Tensor OnnxImporter::transpose(const OnnxNode& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    const std::vector<std::int64_t> order = node.integers_or("perm", {});
    if (!input.known || (input.layout == Layout::heads && order == std::vector<std::int64_t>{0, 2, 1, 3})) return input;
    throw NotImportable("only in an attention");
}

/// Rows of a table by number: the host looks them up, and what it finds is the network's input.
OnnxImporter::Tensor OnnxImporter::gather(const OnnxNode& node, Scope& scope) {
    const std::optional<OnnxTensor> table = constant(node.input(0), scope);
    const std::vector<std::int64_t>* const dims = dims_of(node.input(1), scope);
    if (!table || table->dims.size() != 2 || node.integer_or("axis", 0) != 0 ||
        producer(node.input(1), scope) != nullptr || dims == nullptr || dims->size() != 2)
        throw NotImportable("only rows of a table of embeddings by the network's input are supported");
    count(*table);
    model_.host_parameters += static_cast<std::uint64_t>(table->stored_elements);
    // All tables are looked up for one input.
    std::vector<std::int64_t> found = {dims->front(), (*dims)[1], table->dims[1]};
    if (input_ && input_->embedded && input_->rows == found[1] && input_->channels == found[2]) return *input_;
    graph_input(node.input(1), &found);
    input_->embedded = true;
    return *input_;
}

}  // namespace switchyard::sched
