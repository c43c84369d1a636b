// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::sched::brainstorm {

/// Cells that go between two branches of different layers.
struct Flow {
    std::size_t from = 0, to = 0;  ///< branches
    double cells = 0;
};

/// Where the branches of a network go (Brainstorm, section 4.2), a binary quadratic programme: x[b][d] is 1 if branch b
/// is on device d, the cost is the sum of flow.cells over the flows whose ends are on different devices. Each branch is
/// on one device; a device has `per_device[layer]` branches of a layer at most. No flow joins two branches of a layer.
struct PlacementProblem {
    std::size_t devices = 1;
    std::vector<std::size_t> layer;       ///< of each branch
    std::vector<std::size_t> per_device;  ///< by layer
    std::vector<Flow> flows;              ///< a pair may be there more than once
    /// Groups of branches that must share a device, as the static dataflow of cells derives them.
    std::vector<std::vector<std::size_t>> together;
};

/// Device of each branch.
using Placement = std::vector<std::size_t>;

/// "" or what is wrong with a problem, or with a placement for it: "branch 3: device 5 of 4".
std::string validation_error(const PlacementProblem& problem);
std::string validation_error(const PlacementProblem& problem, const Placement& placement);

/// Cells between devices.
double crossing_cells(const PlacementProblem& problem, const Placement& placement);

/// Branches of a layer in blocks, as frameworks place them by default. For problems without `together`.
Placement block_placement(const PlacementProblem& problem);

/// How long simulated annealing goes on, and its seed.
struct AnnealingConfig {
    std::uint64_t seed = 1;
    double moves_per_branch = 20000;  ///< a move is proposed in about 20 ns, an accepted one costs its flows
    std::uint64_t max_moves = 40000000;
    unsigned restarts = 1;
};

/// Simulated annealing: two branches of a layer change places, or one goes to a device that has room. Groups that must
/// share a device move as one, into room or against single branches. Starts from blocks, ends with descent; the best
/// placement on the way, of all restarts. Throws InputError if no placement keeps the constraints, or if it finds
/// none that keeps `together`.
Placement annealed_placement(const PlacementProblem& problem, const AnnealingConfig& config = {});

}  // namespace switchyard::sched::brainstorm
