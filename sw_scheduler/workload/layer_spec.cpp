// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/layer_spec.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/not_both.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/workload/number_tensors.h"

namespace switchyard::sched {

namespace {

const std::vector<std::string> kKindNames = {"convolution", "depthwise", "matmul", "attention",
                                             "elementwise", "pool",      "norm",   "layer_norm",
                                             "global_pool", "switch",    "merge",  "sink"};
const std::map<std::string, FusedStep> kFusedNames = {
    {"bias", FusedStep::bias},       {"norm", FusedStep::norm},         {"relu", FusedStep::relu},
    {"sigmoid", FusedStep::sigmoid}, {"position", FusedStep::position}, {"layer_norm", FusedStep::layer_norm},
    {"softmax", FusedStep::softmax}};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Letters, digits, '_', '-' and '.'; "x.0" is how a switch's branch is called, so no layer may end like that.
void check_name(const MappingReader& reader, const std::string& name) {
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !is_digit(c) && c != '_' && c != '-' && c != '.')
            reader.fail("name", "expected letters, digits, '_', '-' and '.', found \"" + name + "\"");
    }
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), is_digit))
        reader.fail("name",
                    "expected a name without a number after its last dot, as branches of switches have it, found " +
                        shown(name));
    if (name == "input") reader.fail("name", "expected another name than the model's input, found \"input\"");
    if (name == kSamplesTensor || name == kTasksTensor)
        reader.fail("name",
                    fmt::format("expected another name than the numbers that the host writes, found \"{}\"", name));
}

void read_filter(MappingReader& reader, LayerSpec& layer) {
    const std::vector<std::string> sides = reader.texts("filter");
    if (sides.size() > 2)
        reader.fail("filter", fmt::format("expected a size, or rows and columns, found {} numbers", sides.size()));
    const auto side = [&](const std::string& text) {
        std::uint16_t value = 0;
        if (parse_plain_number(text, value) != Parsed::ok || value == 0)
            reader.fail("filter", "expected a positive integer, found \"" + text + "\"");
        return value;
    };
    if (sides.empty()) reader.fail("filter", "expected a value, found nothing");
    layer.filter_rows = side(sides.front());
    layer.filter_columns = side(sides.back());
    layer.stride = static_cast<std::uint16_t>(reader.integer_or("stride", 1, 15, 1));
    layer.pad = static_cast<std::uint16_t>(reader.integer_or("pad", 0, 255, 0));
}

/// A step of `fused` that names a tensor or parameters: {add: TENSOR}.
struct NamedStep {
    const char* name;
    FusedStep step;
    std::string LayerSpec::*what;
};
constexpr NamedStep kNamedSteps[] = {{"add", FusedStep::add, &LayerSpec::added},
                                     {"scale", FusedStep::scale, &LayerSpec::factor},
                                     {"layer_norm", FusedStep::layer_norm, &LayerSpec::norm_parameters},
                                     {"position", FusedStep::position, &LayerSpec::position_parameters}};

/// True if it was one.
bool read_named_step(MappingReader& reader, const YAML::Node& step, LayerSpec& layer) {
    if (!step.IsMap() || step.size() != 1) return false;
    for (const NamedStep& named : kNamedSteps) {
        if (!step[named.name].IsDefined()) continue;
        layer.*named.what = reader.scalar(step[named.name], "fused");
        layer.fused.push_back(named.step);
        return true;
    }
    return false;
}

void check_fused(const MappingReader& reader, const LayerSpec& layer) {
    std::size_t operands = 0, across = 0, positions = 0;
    for (const FusedStep step : layer.fused) {
        operands += step == FusedStep::add || step == FusedStep::scale ? 1 : 0;
        across += is_across_channels(step) ? 1 : 0;
        positions += step == FusedStep::position ? 1 : 0;
    }
    const auto at_most_one = [&](const char* steps, std::size_t found) {
        if (found > 1) reader.fail("fused", fmt::format("expected at most one {}, found {}", steps, found));
    };
    at_most_one("add or scale", operands);
    at_most_one("layer_norm or softmax", across);
    at_most_one("position", positions);
    if (layer.kind == LayerKind::merge && operands > 0)
        reader.fail("fused", layer.added.empty()
                                 ? "expected no scale at a merge, found one; scale its result in a layer of its own"
                                 : "expected no add at a merge, found one; give the merge one more source");
}

std::string shown_step(const YAML::Node& step) {
    if (!step.IsMap() || step.size() != 1 || !step.begin()->first.IsScalar()) return kind_of(step);
    return fmt::format("{{{}: {}}}", step.begin()->first.Scalar(), kind_of(step.begin()->second));
}

void read_fused(MappingReader& reader, LayerSpec& layer) {
    if (reader.has("fused")) {
        for (const YAML::Node& step : reader.list("fused")) {
            if (read_named_step(reader, step, layer)) continue;
            const auto found = kFusedNames.find(step.IsMap() ? "" : reader.scalar(step, "fused"));
            if (found == kFusedNames.end())
                reader.fail("fused",
                            "expected bias, norm, relu, sigmoid, softmax, layer_norm, position, {add: TENSOR}, {scale: "
                            "TENSOR}, {layer_norm: PARAMETERS} or {position: PARAMETERS}, found " +
                                shown_step(step));
            layer.fused.push_back(found->second);
        }
    }
    if (layer.kind == LayerKind::layer_norm) layer.fused.insert(layer.fused.begin(), FusedStep::layer_norm);
    check_fused(reader, layer);
}

void require_gate(const MappingReader& reader, const LayerSpec& layer) {
    if (layer.gate.empty())
        reader.fail("gate",
                    "expected the gate of switch \"" + layer.name + "\", found none; name a matmul or a convolution");
}

/// `router` says what `branches`, `choose` and `threshold` say of other switches.
void read_router(MappingReader& reader, LayerSpec& layer) {
    using Kind = CellRouter::Kind;
    for (const char* other : {"branches", "choose", "threshold", "patience"})
        if (reader.has(other)) reader.fail(other, not_both(other, "router"));
    MappingReader section = reader.mapping("router");
    const CellRouter router = read_cell_router(section);
    const bool by_number = routes_by_number(router);
    if (by_number && !layer.gate.empty())
        reader.fail("gate", not_both("gate", "a router that chooses by the number of a sample or task"));
    if (!by_number) require_gate(reader, layer);
    if (router.branches < 2 || router.branches > 64)
        section.fail("branches", fmt::format("expected 2 to 64, found {}", router.branches));
    layer.router = router;
    layer.branches = static_cast<unsigned>(router.branches);
    const bool drops = router.capacity > 0 && router.drop == CellRouter::Drop::drop;
    layer.exclusive = router.kind != Kind::threshold && router.k == 1 && !drops;
    if (router.kind == Kind::threshold) layer.threshold = router.threshold;
}

void read_switch(MappingReader& reader, LayerSpec& layer) {
    layer.gate = reader.text_or("gate", "");
    if (!reader.has("router")) require_gate(reader, layer);
    if (reader.has("cell")) layer.cell = read_cell(reader.mapping("cell"));
    if (reader.has("router")) return read_router(reader, layer);
    layer.branches = static_cast<unsigned>(reader.integer_or("branches", 2, 64, 2));
    layer.exclusive = reader.choice_or("choose", {"one", "any"}) == "one";
    if (reader.has("threshold")) layer.threshold = reader.number_or("threshold", -65504, 65504, 0);
    if (!reader.has("patience")) return;
    layer.patience = static_cast<unsigned>(reader.integer("patience", 1, 1000));
    if (layer.branches != 2 || !layer.exclusive)
        reader.fail("patience",
                    fmt::format("expected a switch that chooses one of two branches, go on or leave, found {} of {}",
                                layer.exclusive ? "one" : "any", layer.branches));
    if (layer.threshold) reader.fail("threshold", not_both("threshold", "patience"));
}

const std::vector<std::string> kKeys = {"name", "kind", "from", "parameters", "weight_scale"};

/// That layers of a kind may have beside kKeys.
std::vector<std::string> keys_of(LayerKind kind) {
    switch (kind) {
        case LayerKind::convolution:
            return {"out_channels", "filter", "stride", "pad", "fused", "groups", "group"};
        case LayerKind::matmul:
            return {"out_channels", "heads", "expert", "fused", "groups", "group"};
        case LayerKind::pool:
            return {"pooling", "over", "filter", "stride", "pad", "fused", "groups", "group"};
        case LayerKind::depthwise:
            return {"filter", "stride", "pad", "fused", "groups", "group"};
        case LayerKind::attention:
            return {"heads", "over", "fused", "groups", "group"};
        case LayerKind::switching:
            return {"gate", "branches", "choose", "threshold", "patience", "cell", "router"};
        case LayerKind::merge:
            return {"mode", "fused"};
        case LayerKind::global_pool:
        case LayerKind::sink:
            return {};
        default:
            return {"fused", "groups", "group"};
    }
}

/// Of layers of any kind.
std::vector<std::string> all_keys() {
    std::vector<std::string> keys = kKeys;
    for (std::size_t kind = 0; kind < kKindNames.size(); ++kind) {
        const std::vector<std::string> own = keys_of(static_cast<LayerKind>(kind));
        keys.insert(keys.end(), own.begin(), own.end());
    }
    return keys;
}

LayerSpec read_layer(MappingReader reader, const std::string& previous) {
    LayerSpec layer;
    layer.line = reader.line();
    static const std::vector<std::string> kAll = all_keys();
    reader.allow(kAll);
    layer.name = reader.text("name");
    check_name(reader, layer.name);
    reader.rename("layers." + layer.name);
    reader.text("kind");
    const std::string kind = reader.choice_or("kind", kKindNames);
    layer.kind = static_cast<LayerKind>(std::find(kKindNames.begin(), kKindNames.end(), kind) - kKindNames.begin());
    std::vector<std::string> known = keys_of(layer.kind);
    known.insert(known.end(), kKeys.begin(), kKeys.end());
    reader.allow(known);
    layer.from = reader.has("from") ? reader.texts("from") : std::vector<std::string>{previous};
    if (layer.kind == LayerKind::merge ? layer.from.size() < 2 : layer.from.size() != 1)
        reader.fail("from", fmt::format("expected {}, found {}",
                                        layer.kind == LayerKind::merge ? "two tensors or more" : "one tensor",
                                        layer.from.size()));

    switch (layer.kind) {
        case LayerKind::convolution:
            layer.out_channels = static_cast<std::uint16_t>(reader.integer("out_channels", 1, 0xFFFF));
            read_filter(reader, layer);
            break;
        case LayerKind::matmul:
            layer.out_channels = static_cast<std::uint16_t>(reader.integer("out_channels", 1, 0xFFFF));
            layer.heads = static_cast<std::uint16_t>(reader.integer_or("heads", 1, 0xFFFF, 1));
            if (reader.has("expert")) layer.expert = static_cast<int>(reader.integer("expert", 0, 0xFFFF));
            break;
        case LayerKind::pool:
            layer.pool =
                reader.choice_or("pooling", {"maximum", "mean"}) == "mean" ? PoolKind::mean : PoolKind::maximum;
            layer.over_input = reader.choice_or("over", {"sample", "input"}) == "input";
            if (!layer.over_input) read_filter(reader, layer);
            break;
        case LayerKind::depthwise:
            read_filter(reader, layer);
            break;
        case LayerKind::attention:
            layer.heads = static_cast<std::uint16_t>(reader.integer_or("heads", 1, 0xFFFF, 1));
            layer.over_input = reader.choice_or("over", {"sample", "input"}) == "input";
            break;
        case LayerKind::switching:
            read_switch(reader, layer);
            break;
        case LayerKind::merge:
            layer.merge_mode =
                reader.choice_or("mode", {"exclusive", "sum"}) == "sum" ? MergeMode::sum : MergeMode::exclusive;
            break;
        default:
            break;
    }
    const bool computes =
        layer.kind != LayerKind::switching && layer.kind != LayerKind::sink && layer.kind != LayerKind::global_pool;
    if (computes) read_fused(reader, layer);
    if (computes && layer.kind != LayerKind::merge && reader.has("groups")) {
        layer.groups = static_cast<std::uint16_t>(reader.integer("groups", 1, 0xFFFF));
        layer.group = static_cast<std::uint16_t>(reader.integer("group", 0, layer.groups - 1u));
    }
    layer.parameters = reader.text_or("parameters", "");
    if (layer.kind == LayerKind::layer_norm) layer.norm_parameters = layer.parameters;
    layer.weight_scale = reader.number_or("weight_scale", -65504, 65504, 1);
    reader.finish();
    return layer;
}

/// "2..5" -> {2, 5}.
std::optional<std::pair<int, int>> to_range(const std::string& text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) return std::nullopt;
    int first = 0, last = 0;
    if (parse_plain_number(text.substr(0, dots), first) != Parsed::ok ||
        parse_plain_number(text.substr(dots + 2), last) != Parsed::ok || first < 0 || first > last || last > 9999)
        return std::nullopt;
    return std::pair(first, last);
}

/// One entry of Variables for each run of the template: at most one value is a range, and the others may have its
/// placeholder in them.
std::vector<Variables> read_runs(MappingReader& use) {
    if (!use.has("with")) return {{}};
    const YAML::Node with = use.node("with");
    const MappingReader raw(with, use.file(), "layers.with");
    std::vector<Variables> starts(1);
    for (const auto& [name, node] : raw.nodes()) {
        const auto range = node.IsScalar() ? to_range(node.Scalar()) : std::nullopt;
        if (!range) continue;
        if (!starts.front().empty()) use.fail("with", "expected at most one range, found a second, " + name);
        starts.clear();
        for (int i = range->first; i <= range->second; ++i) starts.push_back({{name, std::to_string(i)}});
    }
    std::vector<Variables> runs;
    for (const Variables& start : starts) {
        MappingReader values(with, use.file(), "layers.with", start);
        Variables run = start;
        for (const auto& [name, node] : raw.nodes())
            if (!start.count(name)) run[name] = values.text(name);
        runs.push_back(run);
    }
    return runs;
}

}  // namespace

bool gate_chooses(const CellRouter& router) {
    return router.capacity == 0 && (router.k == 1 || router.kind == CellRouter::Kind::threshold);
}

const std::string& to_string(LayerKind kind) {
    return kKindNames[static_cast<std::size_t>(kind)];
}

std::vector<LayerSpec> read_layers(MappingReader& model) {
    std::map<std::string, std::vector<YAML::Node>> templates;
    if (model.has("templates")) {
        MappingReader section = model.mapping("templates");
        for (const auto& [name, node] : section.nodes()) templates[name] = section.list(name);
    }

    std::vector<LayerSpec> layers;
    std::map<std::string, int> names;
    const auto add = [&](const YAML::Node& node, const Variables& variables) {
        layers.push_back(read_layer(MappingReader(node, model.file(), "layers", variables),
                                    layers.empty() ? "input" : layers.back().name));
        const LayerSpec& layer = layers.back();
        const auto [first, fresh] = names.emplace(layer.name, layer.line);
        if (!fresh)
            throw InputError(
                model.file(), layer.line, layer.key("name"),
                fmt::format("expected a name of no other layer, found \"{}\", that of the layer in line {}", layer.name,
                            first->second));
    };
    for (const YAML::Node& node : model.list("layers")) {
        if (!node.IsMap() || !node["use"].IsDefined()) {
            add(node, {});
            continue;
        }
        MappingReader use(node, model.file(), "layers");
        use.allow({"use", "with"});
        const std::string name = use.text("use");
        const auto found = templates.find(name);
        if (found == templates.end()) {
            std::vector<std::string> known;
            known.reserve(templates.size());
            for (const auto& [key, nodes] : templates) known.push_back(key);
            use.fail("use", "expected a template of the model, found \"" + name + "\"" + suggestion(name, known));
        }
        const std::vector<Variables> runs = read_runs(use);
        use.finish();
        for (const Variables& run : runs)
            for (const YAML::Node& layer : found->second) add(layer, run);
    }
    if (layers.empty()) model.fail("layers", "expected a value, found nothing");
    return layers;
}

}  // namespace switchyard::sched
