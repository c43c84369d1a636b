// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/moe_routes.h"

#include <cmath>
#include <numeric>

#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::sched::brainstorm {

namespace {

/// What does not change from batch to batch.
struct RouterDraw {
    std::vector<double> cumulative;                  ///< of the branches in order of popularity
    std::vector<std::size_t> order;                  ///< branches by popularity
    std::vector<std::vector<std::size_t>> partners;  ///< of each branch of the router before
};

std::vector<RouterDraw> draws_of(const MoeRouteConfig& config) {
    std::vector<RouterDraw> draws(config.routers);
    RandomSource random(config.network_seed, 0x6d6f65);
    for (RouterDraw& draw : draws) {
        double sum = 0;
        for (std::size_t rank = 1; rank <= config.branches; ++rank)
            draw.cumulative.push_back(sum += std::pow(static_cast<double>(rank), -config.skew));
        for (double& c : draw.cumulative) c /= sum;
        draw.order.resize(config.branches);
        std::iota(draw.order.begin(), draw.order.end(), 0);
        for (std::size_t i = draw.order.size(); i > 1; --i)
            std::swap(draw.order[i - 1], draw.order[random.integer(0, static_cast<unsigned>(i - 1))]);
        for (std::size_t b = 0; b < config.branches; ++b) {
            draw.partners.emplace_back();
            for (std::size_t p = 0; p < config.partners; ++p)
                draw.partners.back().push_back(random.integer(0, static_cast<unsigned>(config.branches) - 1));
        }
    }
    return draws;
}

}  // namespace

std::vector<CellRoutes> moe_routes(const MoeRouteConfig& config, std::uint64_t seed, std::uint64_t batch,
                                   std::uint64_t capacity) {
    if (config.branches == 0 || config.routers == 0) throw InputError("router: expected a branch or more, found none");
    const std::vector<RouterDraw> draws = draws_of(config);
    RandomSource random(seed, batch);
    std::vector<CellRoutes> routes;
    std::vector<std::uint64_t> wanted(config.cells);
    for (std::size_t r = 0; r < config.routers; ++r) {
        const RouterDraw& draw = draws[r];
        for (std::uint64_t& branch : wanted) {
            if (r > 0 && config.partners > 0 && random.chance(config.correlation)) {
                branch = random.choose(draw.partners[branch]);
                continue;
            }
            const double u = random.uniform();
            std::size_t rank = 0;
            while (rank + 1 < config.branches && draw.cumulative[rank] <= u) ++rank;
            branch = draw.order[rank];
        }
        CellRouter rule;
        rule.kind = CellRouter::Kind::task;
        rule.branches = config.branches;
        rule.capacity = capacity;
        routes.push_back(route_cells(rule, {}, wanted));
    }
    return routes;
}

PlacementProblem placement_problem(const CellProfile& profile, std::size_t devices) {
    if (devices == 0) throw InputError("placement: expected a device or more, found none");
    PlacementProblem problem;
    problem.devices = devices;
    std::vector<std::size_t> first;
    for (std::size_t r = 0; r < profile.routers(); ++r) {
        first.push_back(problem.layer.size());
        problem.layer.insert(problem.layer.end(), profile.branches()[r], r);
        problem.per_device.push_back((profile.branches()[r] + devices - 1) / devices);
    }
    for (std::size_t r = 0; r + 1 < profile.routers(); ++r)
        for (std::size_t a = 0; a < profile.branches()[r]; ++a)
            for (std::size_t b = 0; b < profile.branches()[r + 1]; ++b)
                if (const std::uint64_t cells = profile.moved(r, a, b))
                    problem.flows.push_back({first[r] + a, first[r + 1] + b, static_cast<double>(cells)});
    return problem;
}

}  // namespace switchyard::sched::brainstorm
