// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <boost/dynamic_bitset.hpp>

#include "switchyard/sw_scheduler/workload/graph_builder.h"

namespace switchyard::sched {

namespace {

using SwitchSet = boost::dynamic_bitset<>;

[[noreturn]] void fail(const DynGraph& graph, const Operator& op, const std::string& message) {
    throw InputError(graph.file, op.line, "layers." + op.name, message);
}

/// "We also disallow one operator to be the common successor of two switch operators, unless one switch operator is
/// the successor of the other" (section IV). A switch is the successor of those before its data and its gate.
void check_common_successors(const DynGraph& graph) {
    const std::size_t switches = graph.switches.size();
    std::vector<SwitchSet> before_operator, before_switch(switches);
    std::vector<bool> known(switches);
    const auto visit_switch = [&](std::size_t id) {
        if (known[id]) return;
        known[id] = true;
        before_switch[id] = before_operator[static_cast<std::size_t>(graph.switches[id].data)] |
                            before_operator[static_cast<std::size_t>(graph.switches[id].gate)];
    };
    for (const Operator& op : graph.operators) {
        SwitchSet before(switches);
        for (const Source& source : op.inputs) {
            if (source.from_host()) continue;
            before |= before_operator[static_cast<std::size_t>(source.producer)];
            if (source.switch_id == kNoSwitch) continue;
            const auto id = static_cast<std::size_t>(source.switch_id);
            visit_switch(id);
            before |= before_switch[id];
            before.set(id);
        }
        for (std::size_t a = before.find_first(); a != SwitchSet::npos; a = before.find_next(a))
            for (std::size_t b = before.find_next(a); b != SwitchSet::npos; b = before.find_next(b))
                if (!before_switch[a].test(b) && !before_switch[b].test(a))
                    fail(graph, op,
                         fmt::format(
                             "expected no common successor of switches that do not follow one another, found operator "
                             "\"{}\" after \"{}\" and \"{}\"",
                             op.name, graph.switches[a].name, graph.switches[b].name));
        before_operator.push_back(std::move(before));
    }
}

void check_all_used(const DynGraph& graph) {
    const auto consumers = graph.consumers();
    for (std::size_t id = 0; id < graph.operators.size(); ++id) {
        const Operator& op = graph.operators[id];
        const bool output = std::count(graph.outputs.begin(), graph.outputs.end(), static_cast<int>(id)) != 0;
        const bool switched = std::any_of(graph.switches.begin(), graph.switches.end(),
                                          [&](const Switch& item) { return item.data == static_cast<int>(id); });
        if (consumers[id].empty() && op.gate_switch == kNoSwitch && !output && !switched)
            fail(graph, op,
                 fmt::format("expected a layer or an output that takes the result of operator \"{}\", found none",
                             op.name));
    }
    for (std::size_t id = 0; id < graph.switches.size(); ++id) {
        const Switch& item = graph.switches[id];
        std::vector<bool> taken(item.branches);
        for (const Operator& op : graph.operators)
            for (const Source& source : op.inputs)
                if (source.switch_id == static_cast<int>(id)) taken[source.branch] = true;
        for (unsigned branch = 0; branch < item.branches; ++branch) {
            const bool sunk = std::binary_search(item.sinks.begin(), item.sinks.end(), branch);
            if (taken[branch] == sunk)
                throw InputError(
                    graph.file, item.line, "layers." + item.name,
                    fmt::format("expected a layer that takes branch {} of switch \"{}\", or a sink, found {}", branch,
                                item.name, sunk ? "both; leave one out" : "neither; connect it or give it a sink"));
        }
    }
}

/// The sources of an exclusive merge must be every branch of one switch; each branch once, or forked on in the same
/// way by another switch. `paths` are what is left of the sources' paths below the merge's index list.
void check_exclusive(const DynGraph& graph, const Operator& merge, const std::vector<BranchPath>& paths) {
    const auto complain = [&](const std::string& message) {
        fail(graph, merge, fmt::format("exclusive merge \"{}\": {}", merge.name, message));
    };
    const auto switch_of = [&](const BranchPath& path) -> const Switch& {
        return graph.switches[static_cast<std::size_t>(path.front().switch_id)];
    };
    for (const BranchPath& path : paths) {
        constexpr const char* kOneSource = "expected each sample from one source, a branch of one switch, found {}";
        if (path.empty()) complain(fmt::format(kOneSource, "a source on no branch"));
        if (path.front().switch_id != paths.front().front().switch_id)
            complain(fmt::format(kOneSource, fmt::format("branches of \"{}\" and \"{}\"", switch_of(paths.front()).name,
                                                         switch_of(path).name)));
    }
    const int id = paths.front().front().switch_id;
    const Switch& item = switch_of(paths.front());
    if (!item.exclusive)
        complain(fmt::format(
            "expected a switch that chooses one branch, found \"{}\", which chooses any; set mode: sum", item.name));
    for (unsigned branch = 0; branch < item.branches; ++branch) {
        std::vector<BranchPath> inside;
        for (const BranchPath& path : paths)
            if (path.front() == BranchStep{id, branch}) inside.emplace_back(path.begin() + 1, path.end());
        if (inside.empty())
            complain(fmt::format("expected a source on each branch of switch \"{}\", found none on branch {}",
                                 item.name, branch));
        const bool ends =
            std::any_of(inside.begin(), inside.end(), [](const BranchPath& path) { return path.empty(); });
        if (ends && inside.size() > 1)
            complain(fmt::format("expected one source on branch {} of switch \"{}\", found {}", branch, item.name,
                                 inside.size()));
        if (!ends) check_exclusive(graph, merge, inside);
    }
}

void check_merges(const DynGraph& graph) {
    for (const Operator& op : graph.operators) {
        if (op.shape.kind != OpKind::merge || op.merge_mode != MergeMode::exclusive) continue;
        std::vector<BranchPath> paths;
        for (const Source& source : op.inputs) {
            BranchPath path = graph.operators[static_cast<std::size_t>(std::max(source.producer, 0))].path;
            if (source.from_host()) path.clear();
            if (source.switch_id != kNoSwitch) path.push_back({source.switch_id, source.branch});
            paths.emplace_back(path.end() - source.pops, path.end());
        }
        check_exclusive(graph, op, paths);
    }
}

}  // namespace

void check_rules(const DynGraph& graph) {
    check_common_successors(graph);
    check_merges(graph);
    check_all_used(graph);
}

}  // namespace switchyard::sched
