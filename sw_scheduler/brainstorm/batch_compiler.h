// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/host_program.h"
#include "switchyard/sw_scheduler/brainstorm/network_profile.h"
#include "switchyard/sw_scheduler/brainstorm/stage_compiler.h"
#include "switchyard/sw_scheduler/brainstorm/weight_plan.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::sched::brainstorm {

/// Which mechanisms a run has besides its BranchDesign.
struct Mechanisms {
    std::string placement = "block";  ///< or profile, balanced, worst
    std::string placement_file;       ///< in place of it, if not empty (read_placement())
    bool sparse = true;               ///< all-to-all: only the cells that are there
    bool speculative_routing = false;
    double speculation_certainty = 0;   ///< routers whose profile is less certain are not speculated on
    std::size_t speculation_depth = 1;  ///< checks that may be open
    std::string weights = "resident";   ///< or on_demand, preloaded
    std::string profiling = "off";      ///< or loads, correlation, decisions
    bool functional = false;            ///< programs say which cells and weights move
    double decision_us = 2;             ///< of the host, for a decision that it has read
    CollectiveCosts collective_costs;
    unsigned collective_ctas = 0;  ///< of a collective's kernel; 0: it takes no multiprocessors
};

/// Makes the programs of batches: what the host of each device does.
class BatchCompiler {
public:
    /// `topology`: of two devices and more; may be null for one. `profile`: what placement and speculation follow.
    /// Throws InputError for what does not go together: several devices and a network whose host decides, weights that
    /// come and go without one, a placement file that breaks a constraint.
    BatchCompiler(const RoutedNetwork& network, StageCompiler& stages, const NetworkProfile& profile,
                  const Mechanisms& mechanisms, std::shared_ptr<const LinkTopology> topology);

    BatchProgram compile(const StageRoutes& routes);
    /// Device of each branch, by stage.
    const std::vector<std::vector<std::size_t>>& placement() const { return placement_; }

private:
    void route_cells(std::size_t stage, const CellRoutes& routes);
    using CellLists = std::vector<std::vector<std::vector<std::uint64_t>>>;  ///< [from][to]
    /// `pair_capacity`: cells from one device to another, padding included; 0: as many as the most have.
    void exchange(std::size_t stage, const CellLists& cells, std::uint64_t pair_capacity);
    void keep_moves(const CellLists& cells, const CellCounts& counts, std::uint64_t cell_bytes,
                    std::uint64_t pair_capacity);
    void decide(std::size_t stage, const std::vector<std::size_t>& taken);
    HostSteps check_steps(std::size_t stage, unsigned queue);
    HostSteps branch_steps(std::size_t stage, const std::vector<std::size_t>& decision, bool with_common,
                           bool certain = true);
    void note_weights(HostSteps& steps, std::size_t stage, const std::vector<std::size_t>& items) const;
    void release_weights(std::size_t stage, const std::vector<std::size_t>& taken);
    void unload_known();
    void preload(std::size_t after_stage);
    void add_profile(std::size_t stage, std::size_t device, std::uint64_t decisions);
    std::uint64_t item_bytes(std::size_t stage, std::size_t branch) const;
    bool moves_weights() const { return mechanisms_.weights != "resident"; }
    void append(std::size_t device, HostSteps steps);

    const RoutedNetwork& network_;
    StageCompiler& stages_;
    const NetworkProfile& profile_;
    Mechanisms mechanisms_;
    std::shared_ptr<const LinkTopology> topology_;
    std::size_t devices_;
    std::vector<std::vector<std::size_t>> placement_;
    // Of the batch that is being compiled.
    BatchProgram program_;
    std::vector<std::size_t> location_;  ///< device of each cell
    WeightPlan weights_{0};
    std::vector<bool> preloaded_;  ///< stages
    std::size_t speculations_ = 0;
    /// Weights whose kernels may have to run again, with the speculations that there were before.
    std::vector<std::pair<std::size_t, WeightPlan::Item>> kept_;
};

}  // namespace switchyard::sched::brainstorm
