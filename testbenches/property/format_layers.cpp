// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/format_layers.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace switchyard::testing {

Shape random_input(RandomSource& random, FormatUse use) {
    const bool values = use == FormatUse::values;
    const auto channels = static_cast<unsigned>(random.log_integer(1, values ? 24 : 64));
    const auto side = [&] { return static_cast<unsigned>(random.log_integer(1, values ? 7 : 14)); };
    const double kind = random.uniform();
    if (kind < 0.45) {
        const unsigned rows = side();
        return {channels, rows, random.chance(0.7) ? rows : side()};
    }
    if (kind < 0.75) return {channels, random.chance(0.1) && !values ? random.integer(64, 200) : side(), 1};
    return {random.chance(0.3) ? static_cast<unsigned>(random.log_integer(64, 512)) : channels, 1, 1};
}

FormatLayers::FormatLayers(RandomSource& random, FormatUse use, unsigned samples_per_input)
    : random_(random),
      use_(use),
      samples_per_input_(samples_per_input),
      // Long reductions are sliced where there is little else to divide.
      max_channels_(random.chance(0.25) ? random.choose<unsigned>({256, 512, 1024})
                    : values()          ? 32
                                        : 64) {}

unsigned FormatLayers::random_channels() {
    const auto any = static_cast<unsigned>(random_.log_integer(1, max_channels_));
    return random_.chance(0.6) ? std::max(4u, any / 4 * 4) : any;
}

std::string FormatLayers::fresh(const char* prefix) {
    return fmt::format("{}{}", prefix, ++names_);
}

std::string FormatLayers::parameters(const std::string& name, bool always) {
    return values() || always || random_.chance(0.1) ? fmt::format(", parameters: {}", name) : "";
}

std::string FormatLayers::factor(const Tensor& from) {
    const Tensor seen = pooled(from);
    const std::string name = fresh("factor");
    lines_.push_back(fmt::format("name: {}, kind: matmul, from: {}, out_channels: {}{}, fused: [{}]", name, seen.name,
                                 random_.integer(1, 8), parameters(name),
                                 random_.choose<std::string>({"softmax", "sigmoid", "bias, sigmoid"})));
    return name;
}

/// Adds the layers that the steps need before the layer itself.
std::string FormatLayers::fused(const Tensor& from, const Shape& shape, const Steps& steps, const std::string& name) {
    std::vector<std::string> list;
    for (const char* step : {"bias", "norm", "relu", "sigmoid"})
        if (random_.chance(0.2)) list.emplace_back(step);
    const bool named = values() || random_.chance(0.3);
    if (random_.chance(0.12))
        list.push_back(random_.chance(0.5) ? "softmax"
                       : named             ? fmt::format("{{layer_norm: {}_ln}}", name)
                                           : "layer_norm");
    if (shape.columns == 1 && random_.chance(0.2))
        list.push_back(named ? fmt::format("{{position: {}_pos}}", name) : "position");
    if (!steps.added.empty())
        list.push_back(fmt::format("{{add: {}}}", steps.added));
    else if (steps.operand && steps.like != nullptr && steps.like->shape == shape && random_.chance(0.25))
        list.push_back(fmt::format("{{add: {}}}", steps.like->name));
    else if (steps.operand && random_.chance(0.06))
        list.push_back(fmt::format("{{scale: {}}}", factor(from)));
    for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[random_.integer(0, static_cast<unsigned>(i) - 1)]);
    if (random_.chance(0.05)) list.emplace_back("relu");
    return list.empty() ? "" : fmt::format(", fused: [{}]", fmt::join(list, ", "));
}

Tensor FormatLayers::layer(const std::string& kind, const Tensor& from, Shape shape, const std::string& keys,
                           const Steps& steps) {
    const std::string name = fresh(kind.c_str());
    const std::string more = fused(from, shape, steps, name);
    lines_.push_back(fmt::format("name: {}, kind: {}, from: {}{}{}{}", name, kind, from.name, keys, more,
                                 parameters(name, kind == "layer_norm" && values())));
    return {name, shape};
}

Tensor FormatLayers::convolution(const Tensor& from, unsigned channels) {
    const Shape s = from.shape;
    const unsigned stride = random_.chance(0.5) ? 1 : random_.integer(1, std::min(15u, std::max(s.rows, s.columns)));
    const auto filter = [&](unsigned size) { return random_.integer(1, std::min(size, 5u)); };
    const unsigned rows = filter(s.rows), columns = filter(s.columns), smaller = std::min(rows, columns);
    const unsigned pad = smaller > 1 && random_.chance(0.5) ? random_.integer(1, smaller - 1) : 0;
    const Shape result{channels, (s.rows + 2 * pad - rows) / stride + 1, (s.columns + 2 * pad - columns) / stride + 1};
    return layer("convolution", from, result,
                 fmt::format(", filter: [{}, {}], stride: {}, pad: {}, out_channels: {}{}", rows, columns, stride, pad,
                             channels, values() && random_.chance(0.1) ? ", weight_scale: 0.5" : ""),
                 {&from, "", true});
}

Tensor FormatLayers::project(const Tensor& from, unsigned channels, const std::string& added) {
    const Shape shape{channels, from.shape.rows, from.shape.columns};
    const Steps steps{&from, added, true};
    const std::string keys = fmt::format(", out_channels: {}", channels);
    if (from.shape.columns == 1 && random_.chance(0.8)) {
        const bool heads = channels % 6 == 0 && random_.chance(0.3);
        const bool expert = values() && !heads && random_.chance(0.1);
        return layer("matmul", from, shape,
                     keys + (heads    ? ", heads: 2"
                             : expert ? fmt::format(", expert: {}", random_.integer(0, 2))
                                      : ""),
                     {&from, added, true});
    }
    const unsigned room = std::min(from.shape.rows, from.shape.columns);
    const unsigned filter = room >= 3 && random_.chance(0.6) ? 3 : 1;
    return layer("convolution", from, shape, fmt::format(", filter: {}, pad: {}{}", filter, filter / 2, keys), steps);
}

/// Depthwise or a pool, over windows of any size.
Tensor FormatLayers::window(const Tensor& from) {
    const Shape s = from.shape;
    const auto filter = [&](unsigned size) { return random_.integer(1, std::min(size, 4u)); };
    const unsigned rows = filter(s.rows), columns = filter(s.columns), stride = random_.integer(1, 3);
    const unsigned pad = random_.chance(0.3) ? std::min(rows, columns) - 1 : 0;
    const Shape result{s.channels, (s.rows + 2 * pad - rows) / stride + 1,
                       (s.columns + 2 * pad - columns) / stride + 1};
    const std::string keys = fmt::format(", filter: [{}, {}], stride: {}, pad: {}", rows, columns, stride, pad);
    if (random_.chance(0.4)) return layer("depthwise", from, result, keys, {&from, "", true});
    return layer("pool", from, result, keys + (random_.chance(0.5) ? ", pooling: mean" : ""), {&from, "", true});
}

Tensor FormatLayers::same_shape(const Tensor& from) {
    const double kind = random_.uniform();
    const bool image = from.shape.rows >= 3 && from.shape.columns >= 3;
    const Steps steps{&from, "", true};
    if (kind < 0.25) return project(from, from.shape.channels);
    if (kind < 0.33) return layer("elementwise", from, from.shape, "", steps);
    if (kind < 0.40) return layer("norm", from, from.shape, "", steps);
    if (kind < 0.47) {
        // Its own step is across channels: it has no other one.
        const std::string name = fresh("layer_norm");
        lines_.push_back(fmt::format("name: {}, kind: layer_norm, from: {}{}{}", name, from.name,
                                     random_.chance(0.3) ? ", fused: [relu]" : "", parameters(name)));
        return {name, from.shape};
    }
    if (kind < 0.55 && image) return layer("depthwise", from, from.shape, ", filter: 3, pad: 1", steps);
    if (kind < 0.62 && image)
        return layer("pool", from, from.shape,
                     std::string(", filter: 3, pad: 1, pooling: ") + (random_.chance(0.5) ? "mean" : "maximum"), steps);
    if (kind < 0.67 && !values()) return from_template(from);
    if (kind < 0.82 && from.shape.columns == 1) {
        const Tensor inside = attention(from, false);
        return project(inside, from.shape.channels, random_.chance(0.5) ? from.name : "");
    }
    const Tensor inside = project(from, random_channels());
    return project(inside, from.shape.channels, random_.chance(0.5) ? from.name : "");
}

Tensor FormatLayers::other_shape(const Tensor& from) {
    const Shape s = from.shape;
    const unsigned channels = random_channels();
    if (s.rows * s.columns > 1 && random_.chance(0.25)) {
        // A fully connected layer on a whole map.
        return layer("convolution", from, {channels, 1, 1},
                     fmt::format(", filter: [{}, {}], out_channels: {}", s.rows, s.columns, channels), {});
    }
    if (s.rows * s.columns > 1 && random_.chance(0.7))
        return random_.chance(0.5) ? window(from) : convolution(from, channels);
    return project(from, channels);
}

Tensor FormatLayers::pooled(const Tensor& from) {
    if (from.shape.rows * from.shape.columns == 1 && random_.chance(0.9)) return from;
    const std::string name = fresh("mean");
    lines_.push_back(fmt::format("name: {}, kind: global_pool, from: {}", name, from.name));
    return {name, {from.shape.channels, 1, 1}};
}

Tensor FormatLayers::attention(const Tensor& from, bool over_input) {
    const unsigned heads = random_.choose<unsigned>({1, 2, 4}), width = heads * random_.integer(1, 8);
    const Tensor queries = project(from, 3 * width);
    return layer("attention", queries, {width, from.shape.rows, 1},
                 fmt::format(", heads: {}{}", heads, over_input ? ", over: input" : ""), {});
}

Tensor FormatLayers::pool_over_input(const Tensor& from) {
    return layer("pool", from, from.shape, random_.chance(0.5) ? ", over: input, pooling: mean" : ", over: input", {});
}

Tensor FormatLayers::merge(const std::vector<Tensor>& sources, bool exclusive) {
    std::vector<std::string> names;
    for (const Tensor& source : sources) names.push_back(source.name);
    const Tensor& first = sources.front();
    return layer("merge", {fmt::format("[{}]", fmt::join(names, ", ")), first.shape}, first.shape,
                 exclusive ? ", mode: exclusive" : ", mode: sum", {nullptr, "", false});
}

Tensor FormatLayers::scaled(const Tensor& from, const std::string& gate) {
    const std::string name = fresh("scaled");
    lines_.push_back(
        fmt::format("name: {}, kind: elementwise, from: {}, fused: [{{scale: {}}}]", name, from.name, gate));
    return {name, from.shape};
}

std::vector<Tensor> FormatLayers::grouped(const Tensor& gate, unsigned groups, unsigned channels) {
    std::vector<Tensor> parts;
    const bool shared = random_.chance(0.5);
    std::string kind = gate.shape.columns == 1 && random_.chance(0.6) ? "matmul" : "convolution, filter: 1";
    if (random_.chance(0.3)) {
        channels = gate.shape.channels / groups;
        kind = random_.choose<std::string>(
            {"elementwise", "depthwise, filter: 1", "pool, filter: 1", "norm", "layer_norm"});
    } else {
        kind += fmt::format(", out_channels: {}", channels);
    }
    const std::string all = fresh("gated");
    for (unsigned i = 0; i < groups; ++i) {
        const std::string name = fresh("group");
        lines_.push_back(fmt::format("name: {}, kind: {}, from: {}.{}, group: {}, groups: {}{}{}", name, kind,
                                     gate.name, i, i, groups, parameters(shared ? all : name),
                                     random_.chance(0.2) ? ", fused: [relu]" : ""));
        parts.push_back({name, {channels, gate.shape.rows, gate.shape.columns}});
    }
    return parts;
}

/// A few layers of a template, once for each of a range of numbers.
Tensor FormatLayers::from_template(const Tensor& from) {
    const std::string name = fresh("repeated");
    const unsigned times = random_.integer(1, 3);
    templates_.push_back(
        fmt::format("  {0}:\n    - {{name: {0}_a<i>, kind: convolution, from: {0}_<i-1>, out_channels: <c>, filter: 1, "
                    "fused: [bias]}}\n"
                    "    - {{name: {0}_<i>, kind: elementwise, fused: [{{add: {0}_<i-1>}}, relu]}}\n",
                    name));
    lines_.push_back(fmt::format("name: {}_0, kind: elementwise, from: {}", name, from.name));
    lines_.push_back(fmt::format("use: {}, with: {{i: 1..{}, c: {}}}", name, times, from.shape.channels));
    return {fmt::format("{}_{}", name, times), from.shape};
}

void FormatLayers::sink(const std::string& from) {
    lines_.push_back(fmt::format("name: {}, kind: sink, from: {}", fresh("dropped"), from));
}

std::string FormatLayers::gate(const Tensor& data, unsigned outputs, const std::string& fused, bool with_parameters) {
    Tensor seen = data;
    if (random_.chance(0.2)) seen = project(data, std::min(16u, random_channels()));
    const std::string name = fresh("gate");
    std::string kind = "matmul";
    if (random_.chance(0.7)) seen = pooled(seen);
    if (seen.shape.rows * seen.shape.columns > 1 || random_.chance(0.1))
        kind = fmt::format("convolution, filter: [{}, {}]", seen.shape.rows, seen.shape.columns);
    lines_.push_back(fmt::format("name: {}, kind: {}, from: {}, out_channels: {}{}{}", name, kind, seen.name, outputs,
                                 fused.empty() ? "" : ", fused: [" + fused + "]",
                                 with_parameters ? parameters(name) : ""));
    return name;
}

std::string FormatLayers::text() const {
    std::string text;
    if (!templates_.empty()) text += fmt::format("templates:\n{}", fmt::join(templates_, ""));
    text += "layers:\n";
    for (const std::string& line : lines_) text += fmt::format("  - {{{}}}\n", line);
    return text;
}

}  // namespace switchyard::testing
