// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/workload.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

namespace switchyard::sched {

namespace {

/// One sample on one tile whose every PE is busy in every cycle: products over PEs, or, for vector work, what the
/// scratchpad's widths allow.
double ideal_cycles(const HardwareDescription& hardware, const OperatorShape& shape, unsigned operands) {
    const auto loops = reduction_loops(shape, operands);
    const double outputs = double{1} * shape.out_channels * shape.out_rows * shape.out_columns;
    const double products = outputs * loops[0] * loops[1] * loops[2];
    if (!is_vector(shape.kind)) return products / hardware.pes();
    return std::max({products / hardware.pes(), shape.operand_bytes * products / hardware.scratchpad_bytes_per_cycle,
                     shape.element_bytes * outputs / hardware.scratchpad_write_bytes_per_cycle});
}

}  // namespace

Workload::Workload(const DynGraph& dyn_graph, const HardwareDescription& hardware,
                   const std::vector<double>& expected_share)
    : graph(dyn_graph), items(dyn_graph.operators.size()), may_cut_(dyn_graph.operators.size() + 1, 1) {
    std::map<std::vector<std::pair<int, unsigned>>, int> paths;
    for (std::size_t op = 0; op < items.size(); ++op) {
        const Operator& one = graph.operators[op];
        Item& item = items[op];
        std::vector<std::pair<int, unsigned>> path;
        for (const BranchStep& step : one.path) path.emplace_back(step.switch_id, step.branch);
        item.path = paths.emplace(std::move(path), static_cast<int>(paths.size())).first->second;
        item.expected_share = std::clamp(expected_share.at(op), 0.0, 1.0);
        if (one.shape.kind == OpKind::merge && one.merge_mode == MergeMode::sum) {
            item.operands = static_cast<unsigned>(one.inputs.size());
        }
        item.tile_cycles = ideal_cycles(hardware, one.shape, item.operands);
        for (unsigned source = 0; source < one.inputs.size(); ++source) {
            const int producer = one.inputs[source].producer;
            if (producer >= 0) items[producer].uses.push_back({static_cast<int>(op), source});
        }
    }
    for (const int output : graph.outputs) items[output].is_output = true;
    for (std::size_t s = 0; s < graph.switches.size(); ++s) {
        const auto [first, last] = std::minmax(graph.switches[s].data, graph.switches[s].gate);
        items[graph.switches[s].data].feeds.push_back(static_cast<int>(s));
        for (int cut = first + 1; cut <= last; ++cut) may_cut_[cut] = 0;
    }
}

double Workload::share_on(int op, unsigned levels) const {
    if (levels == 0) return 1;
    const BranchPath& path = graph.operators[op].path;
    // The gate of the next switch stands on just these branches.
    const int there = levels < path.size() ? graph.switches[path[levels].switch_id].gate : op;
    return items[there].expected_share;
}

std::array<double, 2> Workload::usual_samples(int op, std::uint32_t unit_samples, unsigned decided) const {
    const double there = share_on(op, decided);
    const double share = there > 0 ? std::min(1.0, items[op].expected_share / there) : 0, mean = share * unit_samples;
    return {mean, std::min<double>(unit_samples, mean + std::sqrt(share * (1 - share) * unit_samples))};
}

double Workload::edge_share(const Use& use) const {
    const Source& source = graph.operators[use.consumer].inputs[use.source];
    const double produced = source.producer >= 0 ? items[source.producer].expected_share : 1.0;
    return source.switch_id == kNoSwitch ? produced : std::min(produced, items[use.consumer].expected_share);
}

}  // namespace switchyard::sched
