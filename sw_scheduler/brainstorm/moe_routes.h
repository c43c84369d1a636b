// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/placement.h"
#include "switchyard/sw_scheduler/workload/cell_router.h"

namespace switchyard::sched::brainstorm {

/// Declared distribution of the decisions of routers in a row. Branch popularity follows Zipf's law with exponent
/// `skew` in an order that differs between routers; each branch of a router has `partners` favourite branches of the
/// next, and a cell goes to one of them with probability `correlation`. Orders and favourites depend on `network_seed`,
/// the cells of a batch on `seed` and the batch's number besides.
struct MoeRouteConfig {
    std::size_t routers = 1, branches = 8;
    std::size_t cells = 64;
    double skew = 0.5;         ///< 0: all branches alike
    double correlation = 0.6;  ///< 0: no router depends on the one before
    std::size_t partners = 2;
    std::uint64_t network_seed = 1;
};

/// One branch a cell, for each router; then the router's rule applies its capacity.
std::vector<CellRoutes> moe_routes(const MoeRouteConfig& config, std::uint64_t seed, std::uint64_t batch,
                                   std::uint64_t capacity = 0);

/// The placement problem of a profile at level `correlation`: a layer a router, flows of moved cells, as many branches
/// on a device as an even spread needs.
PlacementProblem placement_problem(const CellProfile& profile, std::size_t devices);

}  // namespace switchyard::sched::brainstorm
