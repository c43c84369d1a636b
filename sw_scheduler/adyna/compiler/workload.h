// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

/// The graph as the back-end looks at it: expected load and neighbours of each operator.
struct Workload {
    /// A tensor on its way to one consumer.
    struct Use {
        int consumer = 0;
        unsigned source = 0;  ///< index in the consumer's Operator::inputs
    };
    struct Item {
        double expected_share = 1;  ///< of the batch that reaches it, 0..1
        unsigned operands = 1;      ///< tensors that a merge in mode `sum` adds up
        double tile_cycles = 0;     ///< cycles of one sample on one fully used tile
        std::vector<Use> uses;
        bool is_output = false;
        std::vector<int> feeds;  ///< switches fused into it
        int path = 0;            ///< number of its branch path: the same for operators on the same branches
    };

    /// `expected_share` as for Item, one an operator.
    Workload(const DynGraph& graph, const HardwareDescription& hardware, const std::vector<double>& expected_share);

    const DynGraph& graph;
    std::vector<Item> items;  ///< index = operator id
    /// Section V-A: work of a sample x expected dyn_dim of what the chip is given together, in tile cycles.
    double load(int op) const { return items[op].tile_cycles * items[op].expected_share * graph.samples_in_flight(); }
    /// Share of the batch that takes an edge.
    double edge_share(const Use& use) const;
    /// False if a switch's data operator and gate would be separated by a cut in front of operator `op`.
    bool may_cut(int op) const { return may_cut_[op]; }
    /// No segment ends behind this operator.
    void keep_with_next(int op) { may_cut_[op + 1] = 0; }
    /// Share of the batch on the first `levels` branches of an operator's path.
    double share_on(int op, unsigned levels) const;
    /// Samples of a micro-batch at `op` whose samples are all on the first `decided` branches of its path: the mean,
    /// and one standard deviation above it if each sample takes its way from there independently.
    std::array<double, 2> usual_samples(int op, std::uint32_t unit_samples, unsigned decided) const;

private:
    std::vector<char> may_cut_;
};

}  // namespace switchyard::sched
