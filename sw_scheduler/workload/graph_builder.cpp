// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/graph_builder.h"

#include <algorithm>
#include <queue>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/workload/gate_decision.h"
#include "switchyard/sw_scheduler/workload/number_tensors.h"

namespace switchyard::sched {

namespace {

std::size_t common_prefix(const BranchPath& a, const BranchPath& b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::string branch_of(const BranchPath& path, const std::vector<Switch>& switches) {
    return path.empty() ? "no branch" : "branch " + to_string(path, switches);
}

}  // namespace

GraphBuilder::GraphBuilder(DynGraph graph, const std::vector<LayerSpec>& layers)
    : graph_(std::move(graph)), layers_(layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) index_[layers[i].name] = static_cast<int>(i);
}

DynGraph GraphBuilder::build(const std::vector<std::string>& outputs, int line) {
    for (const int index : topological_order()) place(layers_[static_cast<std::size_t>(index)]);
    for (const std::string& tensor : outputs) {
        if (std::count(outputs.begin(), outputs.end(), tensor) > 1)
            throw InputError(graph_.file, line, "outputs", "expected each output once, found \"" + tensor + "\" twice");
        LayerSpec output;
        output.name = tensor;
        output.line = line;
        const Reference reference = resolve(tensor, line, "outputs");
        if (reference.layer < 0)
            throw InputError(graph_.file, line, "outputs",
                             fmt::format("expected results of layers, found \"{}\", which the host writes", tensor));
        Value result = value(tensor, output, "outputs");
        const bool plain = result.source.switch_id == kNoSwitch && result.source.reduce == EdgeReduce::none;
        if (!plain) result = identity(result, tensor + ".output", line);
        graph_.outputs.push_back(result.source.producer);
    }
    for (std::size_t id = 0; id < graph_.operators.size(); ++id)
        for (const BranchStep& step : graph_.operators[id].path)
            graph_.switches[static_cast<std::size_t>(step.switch_id)].enclosed.push_back(static_cast<int>(id));
    check_rules(graph_);
    return std::move(graph_);
}

GraphBuilder::Reference GraphBuilder::resolve(const std::string& tensor, int line, const std::string& key) const {
    const auto fail = [&](const std::string& message) -> Reference {
        throw InputError(graph_.file, line, key, message);
    };
    if (tensor == "input") return {};
    if (tensor == kSamplesTensor) return {-1, -1, kSampleNumbers};
    if (tensor == kTasksTensor) return {-1, -1, kTaskNumbers};
    if (const auto found = index_.find(tensor); found != index_.end()) {
        const LayerSpec& layer = layers_[static_cast<std::size_t>(found->second)];
        if (layer.kind == LayerKind::switching)
            return fail(
                fmt::format("expected a result, found the switch \"{0}\"; take one of its branches, {0}.0 to {0}.{1}",
                            tensor, layer.branches - 1));
        if (layer.kind == LayerKind::sink)
            return fail("expected a result, found the sink \"" + tensor + "\", which has none");
        return {found->second, -1};
    }
    const std::size_t dot = tensor.rfind('.');
    const auto found = dot == std::string::npos ? index_.end() : index_.find(tensor.substr(0, dot));
    if (found == index_.end() || layers_[static_cast<std::size_t>(found->second)].kind != LayerKind::switching) {
        std::vector<std::string> names;
        for (const LayerSpec& layer : layers_) names.push_back(layer.name);
        return fail("expected a layer of the model, found \"" + tensor + "\"" + suggestion(tensor, names));
    }
    const LayerSpec& layer = layers_[static_cast<std::size_t>(found->second)];
    for (unsigned branch = 0; branch < layer.branches; ++branch)
        if (tensor.substr(dot + 1) == std::to_string(branch)) return {found->second, static_cast<int>(branch)};
    return fail(fmt::format("expected a branch of 0 to {} of switch \"{}\", found \"{}\"", layer.branches - 1,
                            layer.name, tensor.substr(dot + 1)));
}

std::vector<int> GraphBuilder::dependencies(const LayerSpec& layer) const {
    std::vector<int> result;
    const auto depend = [&](const std::string& tensor, const std::string& field) {
        const Reference reference = resolve(tensor, layer.line, layer.key(field));
        if (reference.layer >= 0) result.push_back(reference.layer);
    };
    for (const std::string& tensor : layer.from) depend(tensor, "from");
    if (!layer.added.empty()) depend(layer.added, "fused");
    if (!layer.factor.empty()) depend(layer.factor, "fused");
    if (!layer.gate.empty()) depend(layer.gate, "gate");
    return result;
}

std::vector<int> GraphBuilder::topological_order() const {
    std::vector<std::vector<int>> waits_for, successors(layers_.size());
    std::vector<std::size_t> missing;
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;  // the file's order wherever it is one
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        waits_for.push_back(dependencies(layers_[i]));
        missing.push_back(waits_for[i].size());
        for (const int layer : waits_for[i]) successors[static_cast<std::size_t>(layer)].push_back(static_cast<int>(i));
        if (waits_for[i].empty()) ready.push(static_cast<int>(i));
    }
    std::vector<int> order;
    std::vector<bool> done(layers_.size());
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        done[static_cast<std::size_t>(order.back())] = true;
        for (const int next : successors[static_cast<std::size_t>(order.back())])
            if (--missing[static_cast<std::size_t>(next)] == 0) ready.push(next);
    }
    if (order.size() < layers_.size()) fail_cycle(waits_for, done);
    return order;
}

void GraphBuilder::fail_cycle(const std::vector<std::vector<int>>& waits_for, const std::vector<bool>& done) const {
    // Whatever is not done waits for something not done: following that comes back to where it was before.
    std::vector<int> walk{static_cast<int>(std::find(done.begin(), done.end(), false) - done.begin())};
    auto begin = walk.end();
    while (begin == walk.end()) {
        const std::vector<int>& blockers = waits_for[static_cast<std::size_t>(walk.back())];
        const int next = *std::find_if(blockers.begin(), blockers.end(),
                                       [&](int layer) { return !done[static_cast<std::size_t>(layer)]; });
        const auto seen = std::find(walk.begin(), walk.end(), next) - walk.begin();
        const bool closed = seen < static_cast<std::ptrdiff_t>(walk.size());
        walk.push_back(next);
        begin = closed ? walk.begin() + seen : walk.end();
    }
    std::string names;
    for (auto at = begin; at != walk.end(); ++at)
        names += (names.empty() ? "\"" : " <- \"") + layers_[static_cast<std::size_t>(*at)].name + "\"";
    const LayerSpec& layer = layers_[static_cast<std::size_t>(*begin)];
    throw InputError(graph_.file, layer.line, layer.key("from"), "expected layers without a cycle, found " + names);
}

void GraphBuilder::place(const LayerSpec& layer) {
    switch (layer.kind) {
        case LayerKind::switching:
            return place_switch(layer);
        case LayerKind::sink:
            return place_sink(layer);
        case LayerKind::merge:
            return place_merge(layer);
        case LayerKind::global_pool: {
            Value input = value(layer.from.front(), layer, "from");
            if (input.source.from_host()) input = identity(input, layer.name + ".data", layer.line);
            input.source.reduce = EdgeReduce::global_pool;
            values_[layer.name] = input;
            return;
        }
        default:
            return place_operator(layer);
    }
}

void GraphBuilder::place_switch(const LayerSpec& layer) {
    Value data = value(layer.from.front(), layer, "from");
    const bool fusable =
        !data.source.from_host() && data.source.switch_id == kNoSwitch && data.source.reduce == EdgeReduce::none;
    if (!fusable) data = identity(data, layer.name + ".data", layer.line);

    const bool by_number = layer.router && routes_by_number(*layer.router);
    const Value mask = by_number ? numbers_of(layer, data) : gate_of(layer, data);
    Operator& gate = graph_.operators[static_cast<std::size_t>(mask.source.producer)];
    if (layer.patience > 0 && gate.shape.out_channels < 2)
        throw InputError(
            graph_.file, layer.line, layer.key("patience"),
            "expected a gate of two outputs or more, one a label, found \"" + layer.gate + "\", which has one");

    check_cells(layer, data.shape());
    if (layer.router && !gate_chooses(*layer.router) && !gate.parameters.empty())
        throw InputError(
            graph_.file, layer.line, layer.key("router"),
            fmt::format("expected a gate without values, as no gate chooses {}, found \"{}\" with values; leave its "
                        "`parameters` out",
                        layer.router->capacity > 0 ? "with a capacity" : "several of the best", layer.gate));
    const int id = static_cast<int>(graph_.switches.size());
    gate.gate_switch = id;
    graph_.switches.push_back({layer.name,
                               data.source.producer,
                               mask.source.producer,
                               layer.branches,
                               layer.exclusive,
                               data.path,
                               {},
                               {},
                               layer.line,
                               layer.threshold.value_or(default_threshold(gate)),
                               layer.patience,
                               layer.patience > 0 ? switch_before(data.path) : kNoSwitch});
    if (by_number) {
        const bool task = layer.router->kind == CellRouter::Kind::task;
        graph_.switches.back().by = task ? RoutedBy::task : RoutedBy::hash;
        graph_.switches.back().hash_seed = static_cast<std::uint32_t>(layer.router->hash_seed);
    }
    try {
        const GateDecision decision = gate_decision(gate, graph_.switches.back());
        if (layer.threshold && decision.rule == GateRule::largest)
            throw std::domain_error(fmt::format(
                "expected no threshold, as the largest of several outputs is chosen, found {}; leave it out",
                *layer.threshold));
    } catch (const std::domain_error& error) {
        throw InputError(graph_.file, layer.line, layer.key("threshold"), error.what());
    }
    switch_ids_[layer.name] = id;
}

GraphBuilder::Value GraphBuilder::gate_of(const LayerSpec& layer, const Value& data) {
    Value mask = value(layer.gate, layer, "gate");
    const LayerKind kind = layers_[static_cast<std::size_t>(index_.at(layer.gate))].kind;
    const auto fail = [&](const std::string& message) {
        throw InputError(graph_.file, layer.line, layer.key("gate"), message);
    };
    if (kind != LayerKind::matmul && kind != LayerKind::convolution)
        fail(fmt::format("expected a matmul or a convolution, found \"{}\" of kind {}", layer.gate, to_string(kind)));
    if (mask.shape().rows != 1 || mask.shape().columns != 1)
        fail(fmt::format("expected a result of channels x 1 x 1, one decision a sample, found \"{}\" of {}", layer.gate,
                         to_string(mask.shape())));
    if (mask.path != data.path)
        fail(fmt::format("expected the dyn_dim of the data of switch \"{}\", on {}, found gate \"{}\" on {}",
                         layer.name, branch_of(data.path, graph_.switches), layer.gate,
                         branch_of(mask.path, graph_.switches)));
    const Operator& gate = graph_.operators[static_cast<std::size_t>(mask.source.producer)];
    if (gate.gate_switch != kNoSwitch)
        fail(fmt::format("expected a gate of no other switch, found \"{}\", the gate of switch \"{}\"", layer.gate,
                         graph_.switches[static_cast<std::size_t>(gate.gate_switch)].name));
    return mask;
}

GraphBuilder::Value GraphBuilder::numbers_of(const LayerSpec& layer, const Value& data) {
    if (!data.path.empty())
        throw InputError(
            graph_.file, layer.line, layer.key("router"),
            fmt::format("expected a switch on no branch, as it chooses by the numbers of all samples of a batch, "
                        "found it on {}",
                        branch_of(data.path, graph_.switches)));
    const std::string name = layer.name + ".numbers";
    refuse_taken(name, layer.line);
    const Value numbers =
        value(layer.router->kind == CellRouter::Kind::task ? kTasksTensor : kSamplesTensor, layer, "router");
    LayerSpec own;
    own.name = name;
    own.line = layer.line;
    Operator op = infer_operator(own, numbers.shape(), graph_.file);
    op.inputs.push_back(numbers.source);
    return add_operator(std::move(op));
}

void GraphBuilder::check_cells(const LayerSpec& layer, const TensorShape& data) const {
    if (!layer.cell) return;
    std::uint64_t cells = 0;
    try {
        cells = layer.cell->cells_of(
            {graph_.batch_inputs, graph_.samples_per_input, data.channels, data.rows, data.columns});
    } catch (const InputError& error) {
        throw InputError(graph_.file, layer.line, layer.key("cell"), error.what());
    }
    if (cells != graph_.batch_samples())
        throw InputError(
            graph_.file, layer.line, layer.key("cell"),
            fmt::format("expected {} cells in a batch, one for each sample that a switch routes, found {}; set "
                        "samples_per_input to make samples of the parts of an input",
                        graph_.batch_samples(), cells));
}

int GraphBuilder::switch_before(const BranchPath& path) const {
    if (path.empty() || path.back().branch != 0) return kNoSwitch;
    const int id = path.back().switch_id;
    return graph_.switches[static_cast<std::size_t>(id)].patience > 0 ? id : kNoSwitch;
}

void GraphBuilder::place_sink(const LayerSpec& layer) {
    const Value input = value(layer.from.front(), layer, "from");
    if (input.source.switch_id == kNoSwitch)
        throw InputError(graph_.file, layer.line, layer.key("from"),
                         "expected a branch of a switch for a sink, found \"" + layer.from.front() + "\"");
    std::vector<unsigned>& sinks = graph_.switches[static_cast<std::size_t>(input.source.switch_id)].sinks;
    const auto at = std::lower_bound(sinks.begin(), sinks.end(), input.source.branch);
    if (at == sinks.end() || *at != input.source.branch) sinks.insert(at, input.source.branch);
}

void GraphBuilder::place_merge(const LayerSpec& layer) {
    std::vector<Value> inputs;
    for (const std::string& tensor : layer.from) inputs.push_back(value(tensor, layer, "from"));
    std::size_t depth = inputs.front().path.size(), deepest = 0;
    for (const Value& input : inputs) {
        if (input.shape() != inputs.front().shape())
            throw InputError(graph_.file, layer.line, layer.key("from"),
                             fmt::format("expected inputs of one shape, found \"{}\" of {} and \"{}\" of {}",
                                         layer.from.front(), to_string(inputs.front().shape()),
                                         layer.from[&input - inputs.data()], to_string(input.shape())));
        depth = std::min(depth, common_prefix(inputs.front().path, input.path));
        deepest = std::max(deepest, input.path.size());
    }
    if (deepest == depth)
        throw InputError(
            graph_.file, layer.line, layer.key("from"),
            fmt::format("expected sources on branches of a switch that merge \"{}\" closes, found all on {}; "
                        "add them instead",
                        layer.name, branch_of(inputs.front().path, graph_.switches)));

    Operator op = infer_operator(layer, inputs.front().shape(), graph_.file, graph_.samples_per_input);
    op.path.assign(inputs.front().path.begin(), inputs.front().path.begin() + static_cast<std::ptrdiff_t>(depth));
    for (Value& input : inputs) {
        input.source.pops = static_cast<unsigned>(input.path.size() - depth);
        op.inputs.push_back(input.source);
    }
    values_[layer.name] = add_operator(std::move(op));
}

void GraphBuilder::place_operator(const LayerSpec& layer) {
    Value input = value(layer.from.front(), layer, "from");
    if (input.source.shape.channels % layer.groups != 0)
        throw InputError(graph_.file, layer.line, layer.key("groups"),
                         fmt::format("expected a divisor of {} channels, found {} groups", input.source.shape.channels,
                                     layer.groups));
    input.source.group = layer.group;
    input.source.groups = layer.groups;
    Operator op = infer_operator(layer, input.shape(), graph_.file, graph_.samples_per_input);
    op.path = input.path;
    if (op.shape.joined > 1 && !op.path.empty())
        throw InputError(
            graph_.file, layer.line, layer.key("over"),
            fmt::format("expected operator \"{}\" on no branch, as it joins all samples of an input, found it on {}",
                        layer.name, branch_of(op.path, graph_.switches)));
    op.inputs.push_back(input.source);
    if (!layer.factor.empty()) add_factor(layer, input, op);
    if (!layer.added.empty()) {
        Value addend = value(layer.added, layer, "fused");
        require_same_path(layer, layer.added, input, addend);
        if (addend.shape() != op.output())
            throw InputError(graph_.file, layer.line, layer.key("fused"),
                             fmt::format("expected an addend of {}, the shape of the result, found \"{}\" of {}",
                                         to_string(op.output()), layer.added, to_string(addend.shape())));
        addend.source.role = OperandRole::second_operand;
        op.inputs.push_back(addend.source);
    }
    values_[layer.name] = add_operator(std::move(op));
}

void GraphBuilder::add_factor(const LayerSpec& layer, const Value& input, Operator& op) const {
    Value factor = value(layer.factor, layer, "fused");
    require_same_path(layer, layer.factor, input, factor);
    if (factor.source.reduce != EdgeReduce::none || factor.source.shape.rows != 1 || factor.source.shape.columns != 1)
        throw InputError(
            graph_.file, layer.line, layer.key("fused"),
            fmt::format("expected a scale of channels x 1 x 1 that an operator computes, found \"{}\" of {}",
                        layer.factor, to_string(factor.shape())));
    factor.source.role = OperandRole::factor;
    op.inputs.push_back(factor.source);
}

void GraphBuilder::require_same_path(const LayerSpec& layer, const std::string& name, const Value& first,
                                     const Value& second) const {
    if (first.path == second.path) return;
    const std::size_t fork = common_prefix(first.path, second.path);
    const std::string& a = layer.from.front();
    const std::string& b = name;
    if (fork < first.path.size() && fork < second.path.size() &&
        first.path[fork].switch_id == second.path[fork].switch_id)
        throw InputError(
            graph_.file, layer.line, layer.key("fused"),
            fmt::format(
                "expected inputs on one branch of switch \"{}\", as only a merge joins branches, found \"{}\" on "
                "branch {} and \"{}\" on branch {}",
                graph_.switches[static_cast<std::size_t>(first.path[fork].switch_id)].name, a, first.path[fork].branch,
                b, second.path[fork].branch));
    throw InputError(graph_.file, layer.line, layer.key("fused"),
                     fmt::format("expected inputs with one dyn_dim, found \"{}\" on {} and \"{}\" on {}", a,
                                 branch_of(first.path, graph_.switches), b, branch_of(second.path, graph_.switches)));
}

GraphBuilder::Value GraphBuilder::value(const std::string& tensor, const LayerSpec& layer,
                                        const std::string& field) const {
    const Reference reference = resolve(tensor, layer.line, layer.key(field));
    if (reference.layer < 0) {
        Value input;
        input.source.producer = reference.host;
        if (reference.host == kModelInput) input.source.shape = graph_.input;
        return input;
    }
    const LayerSpec& target = layers_[static_cast<std::size_t>(reference.layer)];
    if (reference.branch < 0) return values_.at(target.name);
    const int id = switch_ids_.at(target.name);
    const Switch& gateway = graph_.switches[static_cast<std::size_t>(id)];
    Value branch;
    branch.source.producer = gateway.data;
    branch.source.switch_id = id;
    branch.source.branch = static_cast<unsigned>(reference.branch);
    branch.source.shape = graph_.operators[static_cast<std::size_t>(gateway.data)].output();
    branch.path = gateway.path;
    branch.path.push_back({id, branch.source.branch});
    return branch;
}

void GraphBuilder::refuse_taken(const std::string& name, int line) const {
    if (index_.count(name))
        throw InputError(graph_.file, line, "layers." + name,
                         "expected no layer with the name of an inserted operator, found one; give it another name");
}

GraphBuilder::Value GraphBuilder::identity(const Value& input, const std::string& name, int line) {
    refuse_taken(name, line);
    LayerSpec layer;
    layer.name = name;
    layer.line = line;
    Operator op = infer_operator(layer, input.shape(), graph_.file);
    op.path = input.path;
    op.inputs.push_back(input.source);
    op.inserted = true;
    return add_operator(std::move(op));
}

GraphBuilder::Value GraphBuilder::add_operator(Operator op) {
    Value result;
    result.source.producer = static_cast<int>(graph_.operators.size());
    result.source.shape = op.output();
    result.path = op.path;
    if (graph_.operators.size() >= kNone)
        throw InputError(graph_.file, op.line, "layers." + op.name,
                         fmt::format("expected at most {} operators, found more", kNone));
    graph_.operators.push_back(std::move(op));
    return result;
}

}  // namespace switchyard::sched
