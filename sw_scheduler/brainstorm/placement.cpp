// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/placement.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched::brainstorm {

std::string validation_error(const PlacementProblem& problem) {
    if (problem.devices == 0) return "devices: 0";
    if (problem.layer.empty()) return "no branches";
    std::vector<std::size_t> branches(problem.per_device.size());
    for (std::size_t b = 0; b < problem.layer.size(); ++b) {
        if (problem.layer[b] >= branches.size())
            return fmt::format("branch {}: layer {} of {}", b, problem.layer[b], branches.size());
        ++branches[problem.layer[b]];
    }
    for (std::size_t l = 0; l < branches.size(); ++l)
        if (branches[l] > problem.per_device[l] * problem.devices)
            return fmt::format("layer {}: {} branches, {} devices take {} each", l, branches[l], problem.devices,
                               problem.per_device[l]);
    for (const Flow& flow : problem.flows) {
        if (std::max(flow.from, flow.to) >= problem.layer.size())
            return fmt::format("flow from {} to {}: {} branches", flow.from, flow.to, problem.layer.size());
        if (problem.layer[flow.from] == problem.layer[flow.to])
            return fmt::format("flow from {} to {}: both in layer {}", flow.from, flow.to, problem.layer[flow.from]);
        if (!(flow.cells >= 0)) return fmt::format("flow from {} to {}: {} cells", flow.from, flow.to, flow.cells);
    }
    for (const std::vector<std::size_t>& group : problem.together)
        for (const std::size_t b : group)
            if (b >= problem.layer.size()) return fmt::format("together: branch {} of {}", b, problem.layer.size());
    return "";
}

std::string validation_error(const PlacementProblem& problem, const Placement& placement) {
    if (placement.size() != problem.layer.size())
        return fmt::format("{} branches placed of {}", placement.size(), problem.layer.size());
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> count;
    for (std::size_t b = 0; b < placement.size(); ++b) {
        const std::size_t l = problem.layer[b];
        if (placement[b] >= problem.devices)
            return fmt::format("branch {}: device {} of {}", b, placement[b], problem.devices);
        if (++count[{l, placement[b]}] > problem.per_device[l])
            return fmt::format("branch {}: device {} takes {} branches of layer {}", b, placement[b],
                               problem.per_device[l], l);
    }
    for (const std::vector<std::size_t>& group : problem.together)
        for (const std::size_t b : group)
            if (placement[b] != placement[group.front()])
                return fmt::format("branches {} and {} must share a device", group.front(), b);
    return "";
}

double crossing_cells(const PlacementProblem& problem, const Placement& placement) {
    double cells = 0;
    for (const Flow& flow : problem.flows)
        if (placement[flow.from] != placement[flow.to]) cells += flow.cells;
    return cells;
}

Placement block_placement(const PlacementProblem& problem) {
    if (const std::string message = validation_error(problem); !message.empty()) throw InputError(message);
    std::vector<std::size_t> total(problem.per_device.size()), next(problem.per_device.size());
    for (const std::size_t l : problem.layer) ++total[l];
    Placement placement;
    for (const std::size_t l : problem.layer) {
        // As even as it goes; never more than ceil(total / devices), which per_device admits.
        placement.push_back(next[l]++ * problem.devices / total[l]);
    }
    return placement;
}

}  // namespace switchyard::sched::brainstorm
