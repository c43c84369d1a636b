// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/placement.h"
#include "switchyard/sw_scheduler/brainstorm/routed_network.h"
#include "switchyard/sw_scheduler/workload/cell_router.h"

namespace switchyard::sched::brainstorm {

/// Decisions of a batch by stage: empty for stages without a router. Cells that a router leaves out because it routes
/// one of several (Stage::cells_each) have none.
using StageRoutes = std::vector<CellRoutes>;
/// `declaration`: the network's `routes` or `profile_routes`.
StageRoutes stage_routes(const RoutedNetwork& network, const RouteDeclaration& declaration, std::size_t devices,
                         std::uint64_t seed, std::uint64_t batch);

/// Of a network with one cell: stages that it comes to, in a batch with these decisions. All stages of other networks.
std::vector<bool> reached_stages(const RoutedNetwork& network, const StageRoutes& routes);

/// What a profile of some batches says; of other seeds than those that are evaluated.
class NetworkProfile {
public:
    NetworkProfile(const RoutedNetwork& network, std::size_t devices, std::uint64_t seed, std::uint64_t first_batch,
                   std::size_t batches, CellProfile::Level level);

    const CellProfile& cells() const { return cells_; }
    /// Of the routed stage's branch: share of the batches that reach the stage in which it is taken (one cell).
    double taken(std::size_t stage, std::size_t branch) const;
    double reached(std::size_t stage) const;
    /// The most frequent decision: threshold routers by branch, others one branch. And its probability, branch by
    /// branch as if they were independent.
    std::vector<std::size_t> predicted(std::size_t stage) const;
    double certainty(std::size_t stage) const;

    /// Sources of cells (devices) and branches of all routers as a placement problem: pseudo-branch d, one a device, is
    /// the cells' own device d. If cells stay where their branch is, flows go from router to router; if they return,
    /// from their device to each router.
    PlacementProblem placement_problem() const;
    /// Device of each branch, by stage, of placement_problem()'s placement: devices are renamed so that the cells' own
    /// devices are themselves.
    std::vector<std::vector<std::size_t>> by_stage(const Placement& placement) const;
    /// Branches in blocks; or the heaviest branch on the device with the least cells, or the heaviest together.
    std::vector<std::vector<std::size_t>> block_placement() const;
    std::vector<std::vector<std::size_t>> placement_by_load(bool balanced) const;

private:
    const RoutedNetwork& network_;
    std::size_t devices_, batches_ = 0;
    CellProfile cells_;
    std::vector<std::vector<std::uint64_t>> taken_;  ///< [stage][branch] batches
    std::vector<std::uint64_t> reached_;
    std::vector<std::vector<std::vector<std::uint64_t>>> from_;  ///< [router][device][branch] cells
};

}  // namespace switchyard::sched::brainstorm
