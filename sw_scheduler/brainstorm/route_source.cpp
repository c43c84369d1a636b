// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/route_source.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/brainstorm/moe_routes.h"

namespace switchyard::sched::brainstorm {

using Kind = RouteDeclaration::Kind;

namespace {

constexpr std::uint64_t kTaskStream = 0x7461736b, kGateStream = 0x67617465;

/// The branches of each task of a router, `k` different ones.
std::vector<std::vector<std::size_t>> task_branches(const RouteDeclaration& d, const RouterShape& router,
                                                    std::size_t number) {
    RandomSource random(d.network_seed, kTaskStream + number);
    std::vector<std::vector<std::size_t>> branches(d.tasks);
    if (d.grouped) {
        std::vector<std::size_t> order(router.branches);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = order.size() - 1; i > 0; --i)
            std::swap(order[i], order[random.integer(0, static_cast<unsigned>(i))]);
        const std::size_t groups = router.branches / router.k;
        for (std::size_t task = 0; task < d.tasks; ++task)
            for (std::size_t i = 0; i < router.k; ++i) branches[task].push_back(order[task % groups * router.k + i]);
        return branches;
    }
    for (std::vector<std::size_t>& of_task : branches)
        while (of_task.size() < router.k) {
            const std::size_t branch = random.integer(0, static_cast<unsigned>(router.branches) - 1);
            if (std::find(of_task.begin(), of_task.end(), branch) == of_task.end()) of_task.push_back(branch);
        }
    return branches;
}

std::size_t drawn(const std::vector<double>& weights, double u) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    double below = 0;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i)
        if (u * sum < (below += weights[i])) return i;
    return weights.size() - 1;
}

void check_weights(const RouteDeclaration& d, std::size_t wanted) {
    if (d.weights.size() != wanted)
        throw InputError(fmt::format("routes: expected {} weights, found {}", wanted, d.weights.size()));
}

void drop_above(CellRoutes& routes, const RouterShape& router) {
    if (router.capacity == 0) return;
    std::vector<std::uint64_t> loads(router.branches);
    for (std::vector<std::size_t>& taken : routes)
        taken.erase(std::remove_if(taken.begin(), taken.end(),
                                   [&](std::size_t branch) { return ++loads[branch] > router.capacity; }),
                    taken.end());
}

CellRoutes shifted_routes(const RouteDeclaration& d, const RouterShape& router, std::size_t cells,
                          std::size_t devices) {
    check_weights(d, 2);
    const std::size_t each = cells / devices, here = (router.branches + devices - 1) / devices;
    const auto near = static_cast<std::size_t>(d.weights[0]), far = static_cast<std::size_t>(d.weights[1]);
    CellRoutes routes;
    for (std::size_t device = 0; device < devices; ++device) {
        std::size_t left = each;
        for (std::size_t branch = 0; branch < router.branches; ++branch) {
            const std::size_t count = std::min(left, branch / here == (device + 1) % devices ? near : far);
            routes.insert(routes.end(), count, {branch});
            left -= count;
        }
        routes.insert(routes.end(), left, {});
    }
    return routes;
}

}  // namespace

RouteDeclaration read_routes(MappingReader routes) {
    const std::map<std::string, Kind> kinds{
        {"zipf", Kind::zipf},   {"task", Kind::task},   {"weights", Kind::weights}, {"exits", Kind::exits},
        {"gates", Kind::gates}, {"fixed", Kind::fixed}, {"shifted", Kind::shifted}};
    RouteDeclaration d;
    d.kind = kinds.at(routes.choice_or("kind", {"zipf", "task", "weights", "exits", "gates", "fixed", "shifted"}));
    d.network_seed = routes.integer_or("network_seed", 0, 0xffffffff, 1);
    if (d.kind == Kind::zipf) {
        d.skew = routes.number_or("skew", 0, 8, d.skew);
        d.correlation = routes.number_or("correlation", 0, 1, d.correlation);
        d.partners = routes.integer_or("partners", 0, 65536, d.partners);
    } else if (d.kind == Kind::task) {
        d.tasks = routes.integer_or("tasks", 1, 65536, d.tasks);
        d.grouped = routes.choice_or("experts", {"drawn", "grouped"}) == "grouped";
    } else if (d.kind == Kind::gates) {
        d.certainty = routes.number_or("certainty", 0.5, 1, d.certainty);
        d.open = routes.number_or("open", 0, 1, d.open);
    } else {
        d.weights = routes.numbers("weights", 0, 1e9);
        if (std::accumulate(d.weights.begin(), d.weights.end(), 0.0) <= 0)
            routes.fail("weights", "expected a weight above zero, found none");
    }
    routes.finish();
    return d;
}

namespace {

/// Routes of a batch whose branches are taken by Zipf's law.
std::vector<CellRoutes> zipf_routes(const RouteDeclaration& d, const std::vector<RouterShape>& routers,
                                    std::size_t cells, std::uint64_t seed, std::uint64_t batch) {
    MoeRouteConfig config;
    config.routers = routers.size();
    config.branches = routers.front().branches;
    for (const RouterShape& router : routers)
        if (router.branches != config.branches || router.k != 1)
            throw InputError(
                fmt::format("routes: expected routers of {} branches and one branch a cell for zipf, "
                            "found one of {} and {}",
                            config.branches, router.branches, router.k));
    config.cells = cells;
    config.skew = d.skew;
    config.correlation = d.correlation;
    config.partners = d.partners;
    config.network_seed = d.network_seed;
    return moe_routes(config, seed, batch, routers.front().capacity);
}

}  // namespace

std::vector<CellRoutes> routes_of_batch(const RouteDeclaration& d, const std::vector<RouterShape>& routers,
                                        std::size_t cells, std::size_t devices, std::uint64_t seed,
                                        std::uint64_t batch) {
    if (routers.empty()) return {};
    if (d.kind == Kind::zipf) return zipf_routes(d, routers, cells, seed, batch);
    RandomSource random(seed, batch);
    std::vector<std::size_t> tasks;
    if (d.kind == Kind::task)
        for (std::size_t cell = 0; cell < cells; ++cell)
            tasks.push_back(random.integer(0, static_cast<unsigned>(d.tasks) - 1));
    std::vector<std::size_t> exits;
    if (d.kind == Kind::exits) {
        check_weights(d, routers.size() + 1);
        for (std::size_t cell = 0; cell < cells; ++cell) exits.push_back(drawn(d.weights, random.uniform()));
    }
    RandomSource network(d.network_seed, kGateStream);
    std::vector<CellRoutes> result;
    for (std::size_t r = 0; r < routers.size(); ++r) {
        const RouterShape& router = routers[r];
        CellRoutes routes(cells);
        switch (d.kind) {
            case Kind::task: {
                if (router.k > router.branches)
                    throw InputError("routes: expected k of at most the branches, found more");
                const auto branches = task_branches(d, router, r);
                for (std::size_t cell = 0; cell < cells; ++cell) routes[cell] = branches[tasks[cell]];
                break;
            }
            case Kind::weights:
                check_weights(d, router.branches);
                for (std::vector<std::size_t>& taken : routes) taken = {drawn(d.weights, random.uniform())};
                break;
            case Kind::exits:
                if (router.branches != 2)
                    throw InputError(
                        fmt::format("routes: expected routers of two branches for exits, found {}", router.branches));
                for (std::size_t cell = 0; cell < cells; ++cell) routes[cell] = {exits[cell] == r ? 1u : 0u};
                break;
            case Kind::gates: {
                std::vector<double> probability;
                for (std::size_t b = 0; b < router.branches; ++b)
                    probability.push_back(network.chance(d.open) ? d.certainty : 1 - d.certainty);
                for (std::vector<std::size_t>& taken : routes)
                    for (std::size_t b = 0; b < router.branches; ++b)
                        if (random.chance(probability[b])) taken.push_back(b);
                break;
            }
            case Kind::fixed: {
                const std::size_t each = cells / devices;
                for (std::size_t device = 0; device < devices; ++device) {
                    std::size_t cell = device * each;
                    for (std::size_t b = 0; b < router.branches; ++b)
                        for (auto n = static_cast<std::size_t>(d.weights[b % d.weights.size()]);
                             n > 0 && cell < (device + 1) * each; --n)
                            routes[cell++] = {b};
                }
                break;
            }
            default:
                routes = shifted_routes(d, router, cells, devices);
        }
        drop_above(routes, router);
        result.push_back(std::move(routes));
    }
    return result;
}

}  // namespace switchyard::sched::brainstorm
