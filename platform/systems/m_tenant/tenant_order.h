// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "switchyard/platform/systems/m_tenant/tenant_config.h"
#include "switchyard/sw_scheduler/workload/graph.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// Who reads what in a graph.
struct TenantGraph {
    explicit TenantGraph(const sched::DynGraph& graph);

    const sched::DynGraph& graph;
    std::vector<std::vector<int>> consumers;         ///< by operator
    std::vector<std::vector<int>> switch_consumers;  ///< by switch
};

/// When the operators of one batch may begin: all of their operands are in HBM, and the host has made the index lists
/// of the switches and merges in front of them. Cycles count from the batch's begin.
class TenantOrder {
public:
    /// `graph` and `routing` must outlive it. `host_cycles`: of one synchronisation. Throws InputError
    /// (sample_counts()).
    TenantOrder(const TenantGraph& graph, const BatchRouting& routing, const TenantConfig& config, double host_cycles);

    /// An operator whose operands are there.
    struct Ready {
        double cycle = 0;
        bool is_task = false;  ///< otherwise it is complete then: no sample reaches it, or it is index lists only
        int op = 0;
        bool operator<(const Ready& o) const {
            return std::tie(cycle, is_task, op) < std::tie(o.cycle, o.is_task, o.op);
        }
    };
    std::vector<Ready> begin();
    /// What becomes ready as the operator's result is complete at `now`.
    std::vector<Ready> complete(int op, double now);

    /// Samples that reach the operator.
    std::uint32_t count(int op) const { return counts_[static_cast<std::size_t>(op)]; }
    /// As of TenantKernels::best().
    double input_share(int op) const;
    double ready_cycle(int op) const { return ready_[static_cast<std::size_t>(op)]; }
    std::uint64_t synchronisations() const { return synchronisations_; }

private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    const sched::Operator& at(int op) const { return graph_.graph.operators[static_cast<std::size_t>(op)]; }
    double synchronise(unsigned times);
    void announce(int op, double now, std::vector<Ready>& ready);

    const TenantGraph& graph_;
    const BatchRouting& routing_;
    TenantConfig config_;
    double host_cycles_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> done_, ready_, switch_ready_;
    std::uint64_t synchronisations_ = 0;
};

}  // namespace switchyard::platform
