// SPDX-License-Identifier: Apache-2.0
// ONNX's operators that see their input through windows: Conv and pools.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/onnx_import/importer.h"

namespace switchyard::sched {

namespace {

constexpr std::int64_t kMaxWindow = 65535;

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
            throw NotImportable(fmt::format("its {}: expected {} numbers from {} to {}, found {}", key, count, least,
                                            kMaxWindow, listed(*given)));
    }
    const std::string auto_pad = node.text("auto_pad");
    if (auto_pad != "NOTSET" && auto_pad != "VALID" && auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
        throw NotImportable("its auto_pad: " +
                            not_one_of(shown(auto_pad), {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}));
    const auto pads = node.integers("pads");
    if (auto_pad != "NOTSET" && pads && std::any_of(pads->begin(), pads->end(), [](auto pad) { return pad != 0; }))
        throw NotImportable(
            fmt::format("its pads: expected none, as auto_pad is {}, found {}; export it with one of the two", auto_pad,
                        listed(*pads)));
    std::vector<OnnxWindow> windows = windows_of(node, filter);
    if (windows.size() != 2)
        throw NotImportable(
            fmt::format("its filter: expected 2 sizes from 1 to {}, found {}", kMaxWindow, listed(filter)));
    return windows;
}

}  // namespace

/// Filter, stride and pad of Conv and of pools. Returns the result of the layer, with the channels of `input`.
OnnxImporter::Tensor OnnxImporter::set_window(ImportedLayer& layer, const Tensor& input,
                                              const std::vector<OnnxWindow>& windows) {
    if (input.layout != Layout::map)
        throw NotImportable(fmt::format("its input: expected [N, channels, rows, columns], found {}", input.dims()));
    Tensor result = result_of(layer, input);
    const auto seen = [](OnnxWindow window, std::uint32_t in, const char* along) {
        window.pad_for(in);
        if (window.dilation != 1)
            throw NotImportable(fmt::format("its dilations: expected 1, found {} of {}; export it without dilations",
                                            window.dilation, along));
        const std::int64_t results = window.results(in);
        if (results < 1)
            throw NotImportable(fmt::format("its filter: expected at most the {} {} of its input with pads, found {}",
                                            in + window.begin + window.end, along, window.size));
        // The same windows with the pad of the model format, which is alike on all sides and rounds down.
        OnnxWindow same = window;
        same.end = same.begin, same.ceil = false;
        if (same.results(in) != results) {
            if (window.begin == window.end)
                throw NotImportable(fmt::format(
                    "its ceil_mode: expected 0 where it adds a window, found 1 with {} {}; export it with ceil_mode 0",
                    in, along));
            throw NotImportable(fmt::format(
                "its pads: expected the same at the start and at the end of {}, found {} and {}{}", along, window.begin,
                window.end, window.auto_pad == "NOTSET" ? "" : " of auto_pad " + window.auto_pad));
        }
        return std::pair(static_cast<std::uint32_t>(results), window);
    };
    OnnxWindow rows, columns;
    std::tie(result.rows, rows) = seen(windows[0], input.rows, "rows");
    std::tie(result.columns, columns) = seen(windows[1], input.columns, "columns");
    if (rows.stride != columns.stride)
        throw NotImportable(fmt::format("its strides: expected the same for rows and columns, found {} and {}",
                                        rows.stride, columns.stride));
    if (rows.begin != columns.begin)
        throw NotImportable(fmt::format("its pads: expected the same for rows and columns, found {} and {}", rows.begin,
                                        columns.begin));
    layer.add_filter(static_cast<std::uint32_t>(rows.size), static_cast<std::uint32_t>(columns.size));
    if (rows.stride != 1) layer.keys.emplace_back("stride", std::to_string(rows.stride));
    if (rows.begin != 0) layer.keys.emplace_back("pad", std::to_string(rows.begin));
    return result;
}

OnnxImporter::Tensor OnnxImporter::convolution(NodeReader& node, Scope& scope) {
    const OnnxTensor weights = constant_input(node, 1, "weights", scope);
    const std::vector<std::int64_t>& dims = weights.dims;
    if (dims.size() != 4)
        throw NotImportable(
            fmt::format("its weights: expected [channels, input channels, rows, columns], found dimensions {}; export "
                        "a convolution of two dimensions",
                        listed(dims)));
    std::optional<OnnxTensor> bias;
    if (!node.input(2).empty()) {
        bias = constant_input(node, 2, "bias", scope);
        if (bias->elements() != dims[0] || bias->dims.size() != 1)
            throw NotImportable(
                fmt::format("its bias: expected the dimensions [{}], for the channels of its weights, found {}",
                            dims[0], listed(bias->dims)));
    }
    Tensor input = tensor(node.input(0), scope);
    if (!input.known) return input;
    const std::int64_t groups = node.integer("group");
    const bool depthwise = groups != 1;
    if (depthwise && (groups < 1 || dims[0] != groups || dims[1] != 1))
        throw NotImportable(
            fmt::format("its group: expected 1, or a group for each channel, found {} for weights {}; export a "
                        "convolution for each group",
                        groups, listed(dims)));
    check_channels(dims[1] * groups, input.channels);
    if (weights.elements() < 1)
        throw NotImportable(fmt::format("its weights: expected a value or more, found dimensions {}", listed(dims)));
    const std::vector<std::int64_t> filter = {dims[2], dims[3]};
    const std::vector<OnnxWindow> windows = window_of(node, filter);
    if (const auto given = node.integers("kernel_shape"); given && *given != filter)
        throw NotImportable(fmt::format("its kernel_shape: expected that of its weights, {}, found {}", listed(filter),
                                        listed(*given)));
    ImportedLayer& layer = add_layer(layer_name(node, &weights), depthwise ? "depthwise" : "convolution", input);
    if (!depthwise) layer.keys.emplace_back("out_channels", std::to_string(dims[0]));
    Tensor result = set_window(layer, input, windows);
    result.channels = static_cast<std::uint32_t>(dims[0]);
    take_weights(layer, weights, {dims.begin(), dims.end()}, input);
    if (bias) add_bias(layer, *bias);
    return result;
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
    if (input.layout != Layout::map)
        throw NotImportable(fmt::format("its input: expected [N, channels, rows, columns], found {}", input.dims()));
    const bool mean = node.op() == "GlobalAveragePool";
    // The largest of products is not the product of the largest if the factor is negative.
    if (!mean) input = settled(node, input);
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), mean ? "global_pool" : "pool", input);
    if (!mean) layer.add_filter(input.rows, input.columns);
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
    if (!map && !tokens)
        throw NotImportable(fmt::format(
            "its axes: expected [2, 3] of [N, channels, rows, columns] or [1] of [N, tokens, channels], found {} of {}",
            axes.empty() ? "all" : listed(axes), input.dims()));
    ImportedLayer& layer = add_layer(layer_name(node, nullptr), "global_pool", input);
    Tensor result = result_of(layer, input);
    result.scale = input.scale;
    result.rows = result.columns = 1;
    if (node.integer("keepdims") == 0) result.layout = Layout::vector;
    return result;
}

}  // namespace switchyard::sched
