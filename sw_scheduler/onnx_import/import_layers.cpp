// SPDX-License-Identifier: Apache-2.0
// Layers of the model file: their names, steps, values and text.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

constexpr std::size_t kLongestName = 200;

/// Letters, digits, '_', '-' and '.', and no end that stands for a branch.
std::string allowed_name(std::string name) {
    for (char& c : name) {
        if (c == '/') c = '.';
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.') c = '_';
    }
    name.erase(0, name.find_first_not_of(".-"));
    name = name.substr(0, kLongestName);
    // YAML has no text without quotes that is "null".
    if (name.empty() || name == "null" || name == "Null" || name == "NULL") name = "layer" + name;
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(),
                                                [](unsigned char c) { return std::isdigit(c) != 0; }))
        name[dot] = '_';
    return name;
}

}  // namespace

bool ImportedLayer::fuses(const std::string& step) const {
    return std::find(fused.begin(), fused.end(), step) != fused.end();
}

bool ImportedLayer::fuses_operand() const {
    return std::any_of(fused.begin(), fused.end(), [](const std::string& step) {
        return step.rfind("{add:", 0) == 0 || step.rfind("{scale:", 0) == 0;
    });
}

bool ImportedLayer::fuses_across_channels() const {
    return kind == "layer_norm" || std::any_of(fused.begin(), fused.end(), [](const std::string& step) {
               return step == "softmax" || step.rfind("{layer_norm:", 0) == 0;
           });
}

void ImportedLayer::add_filter(std::uint32_t filter_rows, std::uint32_t filter_columns) {
    keys.emplace_back("filter", filter_rows == filter_columns ? std::to_string(filter_rows)
                                                              : fmt::format("[{}, {}]", filter_rows, filter_columns));
}

std::string OnnxImporter::unique(std::string wish) {
    wish = allowed_name(std::move(wish));
    std::string name = wish;
    unsigned& next = numbers_.emplace(wish, 2).first->second;
    while (!names_.insert(name).second) name = fmt::format("{}_{}", wish, next++);
    return name;
}

/// PyTorch's name of the module: of its weights, or the folder of the node's name.
std::string OnnxImporter::layer_name(const OnnxNode& node, const OnnxTensor* weights) {
    if (weights != nullptr && ends_with(weights->source->name, ".weight"))
        return unique(weights->source->name.substr(0, weights->source->name.size() - 7));
    const std::size_t last = node.name.rfind('/');
    if (last == std::string::npos || last == 0) return unique(node.name.empty() ? node.op : node.name);
    const std::string folder = node.name.substr(0, last);
    const std::string module = folder.substr(folder.rfind('/') + 1);
    return unique(weights != nullptr ? module : module + "." + node.name.substr(last + 1));
}

ImportedLayer& OnnxImporter::add_layer(std::string name, std::string kind, const Tensor& from) {
    ImportedLayer& layer = layers_.emplace_back();
    layer.name = std::move(name);
    layer.kind = std::move(kind);
    layer.from = {taken_name(from)};
    layer.out_channels = from.channels;
    layer_of_[layer.name] = &layer;
    return layer;
}

OnnxImporter::Tensor OnnxImporter::result_of(const ImportedLayer& layer, const Tensor& like) const {
    Tensor result = like;
    result.name = layer.name;
    result.scale = 1;
    result.shared = false;
    result.embedded.clear();
    return result;
}

ImportedLayer* OnnxImporter::fusable(const Tensor& input) {
    const auto found = layer_of_.find(input.name);
    if (found == layer_of_.end() || input.shared || input.scale != 1) return nullptr;
    const std::string& kind = found->second->kind;
    return kind == "global_pool" || kind == "switch" || kind == "sink" ? nullptr : found->second;
}

ImportedLayer& OnnxImporter::layer_to_fuse(const OnnxNode& node, Tensor& input) {
    if (ImportedLayer* const layer = fusable(input); layer != nullptr) return *layer;
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "elementwise", settled(node, input));
    input = result_of(layer, input);
    return layer;
}

/// `input` for an operator that takes over no factor.
OnnxImporter::Tensor OnnxImporter::settled(const OnnxNode& node, Tensor input) {
    if (input.scale != 1) no_values(node, "a product with a constant in front of it");
    input.scale = 1;
    return input;
}

OnnxImporter::Tensor OnnxImporter::operated(const Tensor& input) {
    const auto found = layer_of_.find(input.name);
    taken_name(input);
    if (found == layer_of_.end() || found->second->kind != "global_pool") return input;
    return result_of(add_layer(unique(input.name + ".data"), "elementwise", input), input);
}

void OnnxImporter::no_values(const OnnxNode& node, const std::string& why) {
    model_.sizes_only.push_back(node.described() + (why.empty() ? "" : ": " + why));
}

void OnnxImporter::take_weights(ImportedLayer& layer, const OnnxTensor& weights, std::vector<std::size_t> shape,
                                Tensor& input) {
    layer.has_parameters = true;
    layer.weight_scale = input.scale;
    layer.weight_shape = std::move(shape);
    layer.out_channels = static_cast<std::uint32_t>(layer.weight_shape.front());
    input.scale = 1;
    if (options_.values) layer.weight = weights.floats();
    count(weights);
}

void check_channels(std::int64_t channels, std::uint64_t expected) {
    if (static_cast<std::uint64_t>(channels) != expected)
        throw NotImportable(
            fmt::format("its weights: expected {} input channels, as its input has, found {}", expected, channels));
}

void check_factor(const std::string& what, const ImportedTensor& tensor) {
    if (tensor.scale != 1)
        throw NotImportable(
            fmt::format("{}: expected a result without a factor, found one that is multiplied with {}; fold the factor "
                        "into the weights in front of it",
                        what, tensor.scale));
}

/// Counts parameters, those of a tensor that several operators take once. Returns whether they are new.
bool OnnxImporter::count(const OnnxTensor& parameters) {
    if (!counted_.insert(parameters.source).second) return false;
    model_.parameters += static_cast<std::uint64_t>(parameters.source->elements);
    return true;
}

/// `bias`: one number, or one for each channel.
void OnnxImporter::add_bias(ImportedLayer& layer, const OnnxTensor& bias) {
    if (bias.elements() != 1 && bias.elements() != layer.out_channels)
        throw NotImportable(fmt::format("its bias: expected 1 value or {}, one for each channel, found {}",
                                        layer.out_channels, bias.elements()));
    count(bias);
    layer.has_parameters = true;
    if (!layer.fuses("bias")) layer.fused.emplace_back("bias");
    if (!options_.values) return;
    const std::vector<float> values = bias.floats();
    layer.bias.resize(layer.out_channels, 0.0F);
    for (std::size_t k = 0; k < layer.bias.size(); ++k) layer.bias[k] += values[values.size() == 1 ? 0 : k];
}

std::string OnnxImporter::text() const {
    const Tensor& input = *input_;
    std::string text = fmt::format("# From {} by sy-sched import.\n", shown(path_.substr(path_.rfind('/') + 1)));
    if (!model_.sizes_only.empty())
        text +=
            "# For timing: the model format has no values of some of its operators, of which only the sizes are "
            "stated.\n";
    std::string name = options_.name.empty() ? allowed_name(graph_.name) : options_.name;
    text += fmt::format("name: {}\nbatch: {}\ninput: {{channels: {}, rows: {}, columns: {}}}\n\nlayers:\n", name,
                        options_.batch, input.channels, input.rows, input.columns);
    for (const ImportedLayer& layer : layers_) {
        text +=
            fmt::format("  - {{name: {}, kind: {}, from: {}", layer.name, layer.kind,
                        layer.from.size() == 1 ? layer.from.front() : fmt::format("[{}]", fmt::join(layer.from, ", ")));
        for (const auto& [key, value] : layer.keys) text += fmt::format(", {}: {}", key, value);
        if (!layer.fused.empty()) text += fmt::format(", fused: [{}]", fmt::join(layer.fused, ", "));
        const bool values = layer.has_parameters && model_.sizes_only.empty();
        if (values) text += ", parameters: " + layer.name;
        if (layer.weight_scale != 1) text += fmt::format(", weight_scale: {}", layer.weight_scale);
        text += "}" + (layer.note.empty() ? "" : "  # " + layer.note) + "\n";
    }
    text += fmt::format("\noutputs: [{}]\n", fmt::join(outputs_, ", "));
    return text;
}

void OnnxImporter::add_weights(ImportedModel& model) const {
    for (const ImportedLayer& layer : layers_) {
        if (!layer.weight.empty()) model.weights.push_back({layer.name + ".weight", layer.weight_shape, layer.weight});
        if (!layer.bias.empty()) model.weights.push_back({layer.name + ".bias", {layer.bias.size()}, layer.bias});
    }
    for (const auto& [name, values] : other_weights_) model.weights.push_back(values);
}

}  // namespace switchyard::sched
