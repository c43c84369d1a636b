// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/workload/cell_router.h"

namespace switchyard::sched::brainstorm {

/// Declared distribution of the decisions of a network's routers. What belongs to the network (which branches are
/// popular, which follow each other) depends on `network_seed`; the cells of a batch on the seed of the run besides.
struct RouteDeclaration {
    enum class Kind {
        zipf,     ///< Zipf's law with `skew`, `correlation` between neighbouring routers (MoeRouteConfig)
        task,     ///< each cell has one of `tasks` tasks, all alike; each router sends a task to k branches, drawn for
                  ///< each task alone, or (`grouped`) one of branches / k groups without a branch in common; tasks of a
                  ///< group are the same in all routers
        weights,  ///< branch b with a probability in proportion to weights[b], in all routers
        exits,  ///< weights[e]: share of the inputs that end at exit e; router e has the branches go on (0) and end (1)
        gates,  ///< each branch by itself: taken with probability `certainty` or 1 - `certainty`; a share `open` of the
                ///< branches is of the first kind
        fixed,  ///< branch b takes weights[b modulo their number] cells of each device's, in turn; the rest take none
        shifted,  ///< device d sends weights[0] cells to each branch of device d + 1 and weights[1] to each other
                  ///< branch (Fig. 14)
    };
    Kind kind = Kind::zipf;
    double skew = 0.5, correlation = 0.6;
    std::size_t partners = 2;
    std::size_t tasks = 16;
    bool grouped = false;
    std::vector<double> weights;
    double certainty = 0.93, open = 0.5;
    std::uint64_t network_seed = 1;
};

/// `routes: {kind: zipf, skew: 0.5, ...}`. Throws InputError.
RouteDeclaration read_routes(MappingReader routes);

/// What routers decide about.
struct RouterShape {
    std::size_t branches = 1;
    std::size_t k = 1;
    std::uint64_t capacity = 0;  ///< cells of a branch, of all devices together; 0: no limit
};

/// Decisions of all routers for one batch, [router][cell], in the order of the cells. `devices`: cells count device by
/// device. Independent of what is decided before, but for what the declaration says. Throws InputError for a
/// declaration that does not suit the routers.
std::vector<CellRoutes> routes_of_batch(const RouteDeclaration& declaration, const std::vector<RouterShape>& routers,
                                        std::size_t cells, std::size_t devices, std::uint64_t seed,
                                        std::uint64_t batch);

}  // namespace switchyard::sched::brainstorm
