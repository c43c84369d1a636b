// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/model_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/output_marker.h"

namespace switchyard::sched {

namespace {

/// A scalar that YAML would take for something else stands in quotes; names have letters, digits, '_', '-' and '.'.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

std::string quoted_list(const std::vector<std::string>& texts) {
    std::vector<std::string> items;
    items.reserve(texts.size());
    for (const std::string& text : texts) items.push_back(quoted(text));
    return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string step_text(FusedStep step, const LayerSpec& layer) {
    const auto named = [](const char* name, const std::string& what) {
        return what.empty() ? std::string(name) : fmt::format("{{{}: {}}}", name, quoted(what));
    };
    switch (step) {
        case FusedStep::bias:
            return "bias";
        case FusedStep::norm:
            return "norm";
        case FusedStep::relu:
            return "relu";
        case FusedStep::sigmoid:
            return "sigmoid";
        case FusedStep::softmax:
            return "softmax";
        case FusedStep::layer_norm:
            return named("layer_norm", layer.norm_parameters);
        case FusedStep::position:
            return named("position", layer.position_parameters);
        case FusedStep::add:
            return named("add", layer.added);
        case FusedStep::scale:
            return named("scale", layer.factor);
        case FusedStep::gate:
            break;  // The compiler's own; no layer has it.
    }
    return "";
}

void add_filter(std::string& text, const LayerSpec& layer) {
    text += fmt::format(", filter: [{}, {}], stride: {}, pad: {}", layer.filter_rows, layer.filter_columns,
                        layer.stride, layer.pad);
}

std::string router_text(const CellRouter& router) {
    static constexpr const char* kKinds[] = {"top_k", "threshold", "switch", "hash", "task"};
    std::string text =
        fmt::format("kind: {}, branches: {}", kKinds[static_cast<unsigned>(router.kind)], router.branches);
    if (router.kind == CellRouter::Kind::top_k) text += fmt::format(", k: {}", router.k);
    if (router.kind == CellRouter::Kind::threshold) text += fmt::format(", threshold: {}", router.threshold);
    if (router.kind == CellRouter::Kind::hash) text += fmt::format(", seed: {}", router.hash_seed);
    if (router.capacity > 0) text += fmt::format(", capacity: {}", router.capacity);
    if (router.drop == CellRouter::Drop::next_best) text += ", drop: next_best";
    return "{" + text + "}";
}

void add_switch(std::string& text, const LayerSpec& layer) {
    if (layer.cell)
        text += fmt::format(", cell: {{dims: [{}], shape: [{}]}}", fmt::join(layer.cell->dims, ", "),
                            fmt::join(layer.cell->shape, ", "));
    if (layer.router) {
        if (!layer.gate.empty()) text += fmt::format(", gate: {}", quoted(layer.gate));
        text += fmt::format(", router: {}", router_text(*layer.router));
        return;
    }
    text += fmt::format(", gate: {}, branches: {}, choose: {}", quoted(layer.gate), layer.branches,
                        layer.exclusive ? "one" : "any");
    if (layer.patience > 0) text += fmt::format(", patience: {}", layer.patience);
    if (layer.threshold) text += fmt::format(", threshold: {}", *layer.threshold);
}

/// Keys of the layer's kind.
void add_kind(std::string& text, const LayerSpec& layer) {
    switch (layer.kind) {
        case LayerKind::convolution:
            text += fmt::format(", out_channels: {}", layer.out_channels);
            return add_filter(text, layer);
        case LayerKind::depthwise:
            return add_filter(text, layer);
        case LayerKind::matmul:
            text += fmt::format(", out_channels: {}, heads: {}", layer.out_channels, layer.heads);
            if (layer.expert >= 0) text += fmt::format(", expert: {}", layer.expert);
            return;
        case LayerKind::attention:
            text += fmt::format(", heads: {}, over: {}", layer.heads, layer.over_input ? "input" : "sample");
            return;
        case LayerKind::pool:
            text += fmt::format(", pooling: {}, over: {}", layer.pool == PoolKind::mean ? "mean" : "maximum",
                                layer.over_input ? "input" : "sample");
            if (!layer.over_input) add_filter(text, layer);
            return;
        case LayerKind::switching:
            return add_switch(text, layer);
        case LayerKind::merge:
            text += fmt::format(", mode: {}", layer.merge_mode == MergeMode::sum ? "sum" : "exclusive");
            return;
        default:
            return;
    }
}

std::string layer_text(const LayerSpec& layer) {
    std::string text =
        fmt::format("name: {}, kind: {}, from: {}", quoted(layer.name), to_string(layer.kind), quoted_list(layer.from));
    add_kind(text, layer);
    if (layer.groups > 1) text += fmt::format(", groups: {}, group: {}", layer.groups, layer.group);
    std::vector<std::string> steps;
    // The first step of the kind layer_norm is the kind itself.
    for (std::size_t i = layer.kind == LayerKind::layer_norm ? 1 : 0; i < layer.fused.size(); ++i)
        steps.push_back(step_text(layer.fused[i], layer));
    if (!steps.empty()) text += fmt::format(", fused: [{}]", fmt::join(steps, ", "));
    if (!layer.parameters.empty()) text += fmt::format(", parameters: {}", quoted(layer.parameters));
    if (layer.weight_scale != 1) text += fmt::format(", weight_scale: {}", layer.weight_scale);
    return "  - {" + text + "}\n";
}

}  // namespace

std::string to_yaml(const ModelLayers& model) {
    std::string text = fmt::format(
        "{}\nname: {}\nbatch: {}\nsamples_per_input: {}\ninput: {{channels: {}, rows: {}, columns: {}}}\nlayers:\n",
        kWrittenComment, quoted(model.name), model.batch_inputs, model.samples_per_input, model.input.channels,
        model.input.rows, model.input.columns);
    for (const LayerSpec& layer : model.layers) text += layer_text(layer);
    return text + fmt::format("outputs: {}\n", quoted_list(model.outputs));
}

}  // namespace switchyard::sched
