// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/graph.h"

#include <algorithm>

namespace switchyard::sched {

namespace {

template <class T>
int find_name(const std::vector<T>& items, const std::string& name) {
    const auto found = std::find_if(items.begin(), items.end(), [&](const T& item) { return item.name == name; });
    return found == items.end() ? -1 : static_cast<int>(found - items.begin());
}

}  // namespace

int DynGraph::find_operator(const std::string& operator_name) const {
    return find_name(operators, operator_name);
}

int DynGraph::find_switch(const std::string& switch_name) const {
    return find_name(switches, switch_name);
}

std::vector<std::vector<int>> DynGraph::consumers() const {
    std::vector<std::vector<int>> result(operators.size());
    for (std::size_t id = 0; id < operators.size(); ++id)
        for (const Source& source : operators[id].inputs)
            if (!source.from_host()) result[static_cast<std::size_t>(source.producer)].push_back(static_cast<int>(id));
    return result;
}

std::vector<bool> DynGraph::same_for_input() const {
    std::vector<bool> same;
    for (const Operator& op : operators) {
        const bool pools = op.shape.kind == OpKind::pool && op.shape.joined > 1;
        const bool inputs = std::all_of(op.inputs.begin(), op.inputs.end(), [&same](const Source& source) {
            return !source.from_host() && same[static_cast<std::size_t>(source.producer)];
        });
        // A position tells samples apart, and so does the way that a sample takes.
        same.push_back((pools || inputs) && op.position_tokens == 0 && !op.dynamic() && op.shape.kind != OpKind::merge);
    }
    return same;
}

std::vector<SwitchSignature> DynGraph::signatures() const {
    std::vector<SwitchSignature> result;
    for (const Switch& item : switches) {
        SwitchSignature signature{item.name, item.branches, -1, 0, item.exclusive, item.by, item.hash_seed};
        if (!item.path.empty()) {
            signature.parent = item.path.back().switch_id;
            signature.parent_branch = item.path.back().branch;
        }
        result.push_back(signature);
    }
    return result;
}

std::uint64_t DynGraph::total_macs_per_sample() const {
    std::uint64_t total = 0;
    for (const Operator& op : operators) total += op.macs_per_sample;
    return total;
}

std::uint64_t DynGraph::total_weight_bytes() const {
    std::uint64_t total = 0;
    for (const Operator& op : operators) total += op.weight_bytes;
    return total;
}

std::string to_string(const BranchPath& path, const std::vector<Switch>& switches) {
    if (path.empty()) return "static";
    std::string text;
    for (const BranchStep& step : path)
        text += (text.empty() ? "" : " / ") + switches[static_cast<std::size_t>(step.switch_id)].name + "." +
                std::to_string(step.branch);
    return text;
}

const char* to_string(OpKind kind) {
    static constexpr const char* kNames[] = {"convolution", "depthwise", "matmul", "attention",
                                             "elementwise", "pool",      "norm",   "merge"};
    return kNames[static_cast<unsigned>(kind)];
}

std::uint32_t samples_on(const BranchPath& path, const BatchRouting& routing) {
    if (path.empty()) return routing.samples;
    // A sample that does not reach a switch has the mask 0 there: the innermost step tells.
    const std::vector<std::uint64_t>& masks = routing.masks[static_cast<std::size_t>(path.back().switch_id)];
    return static_cast<std::uint32_t>(
        std::count_if(masks.begin(), masks.end(), [&](std::uint64_t mask) { return mask >> path.back().branch & 1; }));
}

}  // namespace switchyard::sched
