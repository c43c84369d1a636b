// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/network_profile.h"

#include <algorithm>

#include "switchyard/sw_scheduler/brainstorm/router_placement.h"

namespace switchyard::sched::brainstorm {

namespace {

/// Of a network with one cell.
std::vector<bool> stages_led_to(const RoutedNetwork& network, const StageRoutes& routes) {
    std::vector<bool> reached(network.stages.size(), true);
    bool ended = false;
    for (std::size_t s = 0; s < network.stages.size(); ++s) {
        const Stage& stage = network.stages[s];
        bool led_here = stage.reached_from.empty();
        for (const auto& [from, branch] : stage.reached_from) {
            if (!reached[from]) continue;
            const std::vector<std::size_t>& taken = routes[from].at(0);
            led_here |= branch < 0
                            ? taken.empty()
                            : std::find(taken.begin(), taken.end(), static_cast<std::size_t>(branch)) != taken.end();
        }
        reached[s] = led_here && !ended;
        if (!reached[s] || !stage.routed || stage.last_branch < 0) continue;
        const std::vector<std::size_t>& taken = routes[s].at(0);
        ended |= std::find(taken.begin(), taken.end(), static_cast<std::size_t>(stage.last_branch)) != taken.end();
    }
    return reached;
}

}  // namespace

StageRoutes stage_routes(const RoutedNetwork& network, const RouteDeclaration& declaration, std::size_t devices,
                         std::uint64_t seed, std::uint64_t batch) {
    std::vector<RouterShape> routers;
    const std::vector<std::size_t> stages = network.routed_stages();
    for (const std::size_t stage : stages) {
        const CellRouter& router = network.stages[stage].router;
        routers.push_back({router.branches, router.k, router.capacity * devices});
    }
    std::vector<CellRoutes> routes =
        routes_of_batch(declaration, routers, network.cells * devices, devices, seed, batch);
    StageRoutes result(network.stages.size());
    for (std::size_t r = 0; r < stages.size(); ++r) {
        result[stages[r]] = std::move(routes[r]);
        const std::uint64_t each = network.stages[stages[r]].cells_each;
        for (std::size_t cell = 0; each > 1 && cell < result[stages[r]].size(); ++cell)
            if (cell % each != 0) result[stages[r]][cell].clear();
    }
    if (!network.all_routers) return result;
    const std::vector<bool> led_to = stages_led_to(network, result);
    for (const std::size_t stage : stages)
        if (!led_to[stage])
            for (auto& cell : result[stage]) cell.clear();
    return result;
}

std::vector<bool> reached_stages(const RoutedNetwork& network, const StageRoutes& routes) {
    if (network.cells != 1 || network.all_routers) return std::vector<bool>(network.stages.size(), true);
    return stages_led_to(network, routes);
}

NetworkProfile::NetworkProfile(const RoutedNetwork& network, std::size_t devices, std::uint64_t seed,
                               std::uint64_t first_batch, std::size_t batches, CellProfile::Level level)
    : network_(network),
      devices_(devices),
      batches_(batches),
      cells_(level, network.branches()),
      taken_(network.stages.size()),
      reached_(network.stages.size()) {
    const std::vector<std::size_t> stages = network.routed_stages();
    for (const std::size_t s : stages) taken_[s].resize(network.stages[s].router.branches);
    for (const std::size_t s : stages)
        from_.emplace_back(devices, std::vector<std::uint64_t>(network.stages[s].router.branches));
    for (std::size_t batch = 0; batch < batches; ++batch) {
        const StageRoutes routes = stage_routes(network, network.profile_routes, devices, seed, first_batch + batch);
        const std::vector<bool> reached = reached_stages(network, routes);
        std::vector<CellRoutes> decisions;
        for (std::size_t r = 0; r < stages.size(); ++r) {
            const std::size_t s = stages[r];
            decisions.push_back(reached[s] ? routes[s] : CellRoutes(routes[s].size()));
            for (std::size_t cell = 0; cell < routes[s].size(); ++cell)
                for (const std::size_t branch : decisions.back()[cell]) ++from_[r][cell / network.cells][branch];
            if (!reached[s]) continue;
            ++reached_[s];
            for (const std::size_t branch : routes[s].at(0)) ++taken_[s][branch];
        }
        cells_.add(decisions);
    }
}

double NetworkProfile::reached(std::size_t stage) const {
    return batches_ > 0 ? static_cast<double>(reached_.at(stage)) / static_cast<double>(batches_) : 0;
}

double NetworkProfile::taken(std::size_t stage, std::size_t branch) const {
    if (reached_.at(stage) == 0) return 0;
    return static_cast<double>(taken_.at(stage).at(branch)) / static_cast<double>(reached_[stage]);
}

std::vector<std::size_t> NetworkProfile::predicted(std::size_t stage) const {
    const CellRouter& router = network_.stages.at(stage).router;
    std::vector<std::size_t> decision;
    if (router.kind == CellRouter::Kind::threshold) {
        for (std::size_t b = 0; b < router.branches; ++b)
            if (taken(stage, b) > 0.5) decision.push_back(b);
        return decision;
    }
    std::size_t best = 0;
    for (std::size_t b = 1; b < router.branches; ++b)
        if (taken(stage, b) > taken(stage, best)) best = b;
    return {best};
}

double NetworkProfile::certainty(std::size_t stage) const {
    const CellRouter& router = network_.stages.at(stage).router;
    if (router.kind != CellRouter::Kind::threshold) return taken(stage, predicted(stage).front());
    double all = 1;
    for (std::size_t b = 0; b < router.branches; ++b) all *= std::max(taken(stage, b), 1 - taken(stage, b));
    return all;
}

PlacementProblem NetworkProfile::placement_problem() const {
    PlacementProblem problem;
    problem.devices = devices_;
    problem.layer.assign(devices_, 0);
    problem.per_device.push_back(1);
    std::vector<std::size_t> first;
    for (std::size_t r = 0; r < cells_.routers(); ++r) {
        const std::size_t branches = cells_.branches()[r];
        first.push_back(problem.layer.size());
        problem.layer.insert(problem.layer.end(), branches, r + 1);
        problem.per_device.push_back((branches + devices_ - 1) / devices_);
        for (std::size_t b = 0; b < branches; ++b) {
            if (r > 0 && network_.cells_stay) {
                for (std::size_t a = 0; a < cells_.branches()[r - 1]; ++a)
                    if (const std::uint64_t moved = cells_.moved(r - 1, a, b))
                        problem.flows.push_back({first[r - 1] + a, first[r] + b, static_cast<double>(moved)});
                continue;
            }
            for (std::size_t d = 0; d < devices_; ++d)
                if (from_[r][d][b] > 0) problem.flows.push_back({d, first[r] + b, static_cast<double>(from_[r][d][b])});
        }
    }
    return problem;
}

std::vector<std::vector<std::size_t>> NetworkProfile::by_stage(const Placement& placement) const {
    std::vector<std::size_t> name(devices_);
    for (std::size_t d = 0; d < devices_; ++d) name[placement[d]] = d;
    std::vector<std::vector<std::size_t>> result(network_.stages.size());
    std::size_t next = devices_;
    for (const std::size_t stage : network_.routed_stages())
        for (std::size_t b = 0; b < network_.stages[stage].router.branches; ++b)
            result[stage].push_back(name[placement[next++]]);
    return result;
}

std::vector<std::vector<std::size_t>> NetworkProfile::block_placement() const {
    std::vector<std::vector<std::size_t>> result(network_.stages.size());
    for (const std::size_t stage : network_.routed_stages())
        result[stage] = brainstorm::block_placement(network_.stages[stage].router.branches, devices_);
    return result;
}

std::vector<std::vector<std::size_t>> NetworkProfile::placement_by_load(bool balanced) const {
    std::vector<std::vector<std::size_t>> result(network_.stages.size());
    std::size_t r = 0;
    for (const std::size_t stage : network_.routed_stages()) {
        std::vector<std::uint64_t> cells(network_.stages[stage].router.branches);
        for (std::size_t b = 0; b < cells.size(); ++b)
            for (std::size_t d = 0; d < devices_; ++d) cells[b] += from_[r][d][b];
        ++r;
        result[stage] = brainstorm::placement_by_load(cells, devices_, balanced);
    }
    return result;
}

}  // namespace switchyard::sched::brainstorm
