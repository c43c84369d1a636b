// SPDX-License-Identifier: Apache-2.0
// ONNX's own operators, one by one. Their definitions: ONNX operator schemas, opsets 9 to 17.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

constexpr std::int64_t kMaxWindow = 65535;
constexpr double kLargestWeightScale = 65504;  // of the model format: the largest binary16

/// The windows of Conv or of a pool, which take all of its attributes.
std::vector<OnnxWindow> window_of(NodeReader& node, const std::vector<std::int64_t>& filter) {
    node.find("ceil_mode");
    for (const std::string key : {"kernel_shape", "strides", "dilations", "pads"}) {
        const auto given = node.integers(key);
        if (!given) continue;
        const std::size_t count = key == "pads" ? 4 : 2;
        const std::int64_t least = key == "pads" ? 0 : 1;
        const bool fits = given->size() == count && std::all_of(given->begin(), given->end(), [&](std::int64_t one) {
                              return one >= least && one <= kMaxWindow;
                          });
        if (!fits)
            throw NotImportable(fmt::format(
                "its {}: expected {} numbers from {} to {}, found {}{}", key, count, least, kMaxWindow,
                fmt::join(given->begin(),
                          given->begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(given->size(), 8)), ", "),
                given->size() > 8 ? ", ..." : ""));
    }
    const std::string auto_pad = node.text("auto_pad");
    if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
        throw NotImportable(
            fmt::format("auto_pad {}: expected NOTSET, VALID, SAME_UPPER or SAME_LOWER", shown(auto_pad)));
    const auto pads = node.integers("pads");
    if (auto_pad != "NOTSET" && pads && std::any_of(pads->begin(), pads->end(), [](auto pad) { return pad != 0; }))
        throw NotImportable("has pads and auto_pad " + auto_pad);
    return windows_of(node, filter);
}

std::string pair_of(std::int64_t rows, std::int64_t columns) {
    return rows == columns ? std::to_string(rows) : fmt::format("[{}, {}]", rows, columns);
}

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

/// Filter, stride and pad of Conv and of pools. Returns the result of the layer, with the channels of `input`.
OnnxImporter::Tensor OnnxImporter::set_window(ImportedLayer& layer, const Tensor& input,
                                              const std::vector<OnnxWindow>& windows) {
    if (input.layout != Layout::map || windows.size() != 2)
        throw NotImportable("only windows of two dimensions are supported");
    Tensor result = result_of(layer, input);
    const auto seen = [](OnnxWindow window, std::uint32_t in) {
        window.pad_for(in);
        if (window.dilation != 1) throw NotImportable("dilations are not supported");
        const std::int64_t results = window.results(in);
        if (results < 1) throw NotImportable("the filter does not fit its input");
        // The same windows with the pad of the model format, which is alike on all sides and rounds down.
        OnnxWindow same = window;
        same.end = same.begin, same.ceil = false;
        if (same.results(in) != results) {
            if (window.begin == window.end) throw NotImportable("ceil_mode is not supported");
            throw NotImportable(fmt::format("pads of {} in front and {} behind are not supported{}", window.begin,
                                            window.end,
                                            window.auto_pad == "NOTSET" ? "" : ": auto_pad " + window.auto_pad));
        }
        return std::pair(static_cast<std::uint32_t>(results), window);
    };
    OnnxWindow rows, columns;
    std::tie(result.rows, rows) = seen(windows[0], input.rows);
    std::tie(result.columns, columns) = seen(windows[1], input.columns);
    if (rows.stride != columns.stride) throw NotImportable("strides of rows and columns differ");
    if (rows.begin != columns.begin) throw NotImportable("pads of rows and columns differ");
    layer.keys.emplace_back("filter", pair_of(rows.size, columns.size));
    if (rows.stride != 1) layer.keys.emplace_back("stride", std::to_string(rows.stride));
    if (rows.begin != 0) layer.keys.emplace_back("pad", std::to_string(rows.begin));
    return result;
}

OnnxImporter::Tensor OnnxImporter::convolution(NodeReader& node, Scope& scope) {
    const std::optional<OnnxTensor> weights = constant(node.input(1), scope);
    if (!weights) throw NotImportable("its weights are no constant");
    if (weights->dims.size() != 4) throw NotImportable("only two dimensions are supported");
    std::optional<OnnxTensor> bias;
    if (const std::string name = node.input(2); !name.empty()) {
        bias = constant(name, scope);
        if (!bias) throw NotImportable("its bias is no constant");
        if (bias->elements() != weights->dims[0] || bias->dims.size() != 1)
            throw NotImportable("its bias does not have one value for each channel");
    }
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::int64_t groups = node.integer("group");
    const bool depthwise = groups != 1;
    if (depthwise && (groups < 1 || weights->dims[0] != groups || weights->dims[1] != 1))
        throw NotImportable(fmt::format("{} groups of several channels are not supported", groups));
    if (weights->dims[1] * groups != input.channels)
        throw NotImportable(fmt::format("its weights are for {} channels, and its input has {}",
                                        weights->dims[1] * groups, input.channels));
    if (weights->elements() < 1) throw NotImportable("its weights have no values");
    const std::vector<std::int64_t> filter = {weights->dims[2], weights->dims[3]};
    const std::vector<OnnxWindow> windows = window_of(node, filter);
    if (const auto given = node.integers("kernel_shape"); given && *given != filter)
        throw NotImportable("its kernel_shape is not that of its weights");
    ImportedLayer& layer = add_layer(layer_name(node, &*weights), depthwise ? "depthwise" : "convolution", input);
    if (!depthwise) layer.keys.emplace_back("out_channels", std::to_string(weights->dims[0]));
    Tensor result = set_window(layer, input, windows);
    result.channels = static_cast<std::uint32_t>(weights->dims[0]);
    take_weights(layer, *weights, {weights->dims.begin(), weights->dims.end()}, input);
    if (bias) add_bias(layer, *bias);
    return result;
}

/// `weights`: [in, out], or [out, in] with `out_first`.
OnnxImporter::Tensor OnnxImporter::linear(const OnnxNode& node, Tensor input, const OnnxTensor& weights,
                                          bool out_first) {
    if (!input.known) return input;
    if (weights.dims.size() != 2 || weights.elements() < 1) throw NotImportable("its weights are no matrix");
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
    const std::optional<OnnxTensor> weights = constant(node.input(1), scope);
    if (!weights) throw NotImportable("its weights are no constant");
    if (node.number("alpha") != 1 || node.number("beta") != 1 || node.integer("transA") != 0)
        throw NotImportable("alpha, beta and transA are not supported");
    const std::string addend = node.input(2);
    const std::optional<OnnxTensor> bias = addend.empty() ? std::nullopt : constant(addend, scope);
    if (!addend.empty() && !bias) throw NotImportable("its bias is no constant");
    const Tensor input = tensor(node.input(0), scope);
    if (input.known && input.layout != Layout::vector) throw NotImportable("its input has more than two dimensions");
    Tensor result = linear(node, input, *weights, node.integer("transB") != 0);
    if (!result.known || !bias) return result;
    broadcast_to(result, *bias);
    add_bias(*layer_of_.at(result.name), *bias);
    return result;
}

OnnxImporter::Tensor OnnxImporter::matmul(NodeReader& node, Scope& scope) {
    if (const std::optional<OnnxTensor> weights = constant(node.input(1), scope))
        return linear(node, tensor(node.input(0), scope), *weights, false);
    node.input(0);
    try {
        if (const std::optional<Tensor> heads = attention(node, scope)) return *heads;
    } catch (const NotImportable& reason) {
        throw NoPattern(reason.what());
    }
    throw NotImportable("a product of two results that is no attention");
}

OnnxImporter::Tensor OnnxImporter::batch_norm(NodeReader& node, Scope& scope) {
    std::vector<OnnxTensor> constants;
    for (std::size_t i = 1; i < 5; ++i) {
        const std::optional<OnnxTensor> one = constant(node.input(i), scope);
        if (!one) throw NotImportable("its parameters are no constants");
        constants.push_back(*one);
    }
    node.ignore("momentum");  // of training alone
    const bool several = std::count(node->outputs.begin(), node->outputs.end(), "") + 1 <
                         static_cast<std::ptrdiff_t>(node->outputs.size());
    if (node.integer("training_mode") != 0 || several)
        throw NotImportable("computes statistics of the batch, as in training: export it for inference");
    const double epsilon = node.number("epsilon");
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    if (input.layout != Layout::map && !(input.layout == Layout::vector && input.one_pixel()))
        throw NotImportable("only over the channels of a map, or of a vector");
    for (const OnnxTensor& one : constants)
        if (one.elements() != input.channels || one.dims.size() != 1)
            throw NotImportable("has another number of channels than its input");
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
    const std::optional<OnnxTensor> gain = constant(node.input(1), scope);
    if (!gain) throw NotImportable("its gain is no constant");
    const std::string addend = node.input(2);
    const std::optional<OnnxTensor> offset = addend.empty() ? std::nullopt : constant(addend, scope);
    if (!addend.empty() && !offset) throw NotImportable("its offset is no constant");
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::int64_t axis = node.integer("axis"), rank = static_cast<std::int64_t>(input.rank());
    if (axis != -1 && axis != rank - 1) throw NotImportable("only the last dimension is supported");
    return normalise(node, input, &*gain, offset ? &*offset : nullptr, node.number("epsilon"));
}

OnnxImporter::Tensor OnnxImporter::pool(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const bool mean = node.op() == "AveragePool";
    if (!mean) node.ignore("storage_order");  // of the second result
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "pool", settled(node, input));
    Tensor result = set_window(layer, input, window_of(node, {}));
    if (mean) layer.keys.emplace_back("pooling", "mean");
    const bool padded =
        std::any_of(layer.keys.begin(), layer.keys.end(), [](const auto& key) { return key.first == "pad"; });
    if (mean && node.integer("count_include_pad") == 0 && padded)
        no_values(node, "its mean does not count the padding");
    return result;
}

OnnxImporter::Tensor OnnxImporter::global_pool(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    if (input.layout != Layout::map) throw NotImportable("only two dimensions are supported");
    const bool mean = node.op() == "GlobalAveragePool";
    // The largest of products is not the product of the largest if the factor is negative.
    if (!mean) input = settled(node, input);
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), mean ? "global_pool" : "pool", input);
    if (!mean) layer.keys.emplace_back("filter", pair_of(input.rows, input.columns));
    Tensor result = result_of(layer, input);
    result.scale = input.scale;
    result.rows = result.columns = 1;
    return result;
}

/// Over all rows and columns, or all tokens.
OnnxImporter::Tensor OnnxImporter::reduce_mean(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    std::vector<std::int64_t> axes = node.integers("axes").value_or(std::vector<std::int64_t>());
    for (std::int64_t& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(input.rank()) : 0;
    std::sort(axes.begin(), axes.end());
    const bool map = input.layout == Layout::map && axes == std::vector<std::int64_t>{2, 3};
    const bool tokens = input.layout == Layout::tokens && axes == std::vector<std::int64_t>{1};
    if (!map && !tokens) throw NotImportable("only means over all rows and columns, or over all tokens, are supported");
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "global_pool", input);
    Tensor result = result_of(layer, input);
    result.scale = input.scale;
    result.rows = result.columns = 1;
    if (node.integer("keepdims") == 0) result.layout = Layout::vector;
    return result;
}

OnnxImporter::Tensor OnnxImporter::activation(NodeReader& node, Scope& scope) {
    Tensor input = tensor(node.input(0), scope);
    for (std::size_t i = 1; i < node->inputs.size(); ++i) {
        const std::string name = node.input(i);
        if (name.empty()) continue;
        const std::optional<OnnxTensor> operand = constant(name, scope);
        if (!operand) throw NotImportable(fmt::format("its input {} is no constant", i));
        if (!input.known) return input;
        broadcast_to(input, *operand);
        if (node.op() == "PRelu") count(*operand);
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
        throw NotImportable(fmt::format("over axis {}{}: only over the channels of a token, or in an attention",
                                        node.integer("axis"),
                                        node->version < 13 ? " and all behind it, as opsets before 13 have it" : ""));
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
        throw NotImportable("a sum of rows of tables that were changed before");
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
            throw NotImportable("adds a constant that is neither of each channel nor of each token");
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
        throw NotImportable(fmt::format("its operands are {}x{}x{} and {}x{}x{}", a.channels, a.rows, a.columns,
                                        b.channels, b.rows, b.columns));
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
    if (node->inputs.size() != 2) throw NotImportable("only of two inputs");
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
    if (!std::isfinite(factor)) throw NotImportable("its factor is no finite number");
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
