// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "switchyard/hw/network_interface/interface_ports.h"
#include "switchyard/hw/network_interface/output.h"
#include "switchyard/sw_scheduler/adyna/image/partition.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// Which way samples go: what this tile's gates decide, and what it has heard of other gates: routing masks of
/// switches, labels of the gates before its own in a chain with patience, masks recorded in HBM.
class GateDecisions {
public:
    /// For each of some samples.
    struct Decisions {
        std::vector<std::uint64_t> masks;
        std::vector<SampleLabel> labels;
    };

    GateDecisions(InterfacePorts& ports, Routing& routing, SimulationRegistry& registry)
        : ports_(ports), routing_(routing), registry_(registry) {}

    /// For a new program.
    void clear();
    void close_segment();

    void take_masks(const AdynaMessage& message);
    void take_labels(const AdynaMessage& message);
    /// Masks of consecutive samples from `first_sample` on, for the gate of (operator index).
    void take_recorded(std::uint16_t operator_index, std::uint32_t first_sample,
                       const std::vector<std::uint8_t>& masks);

    /// A list of samples for each branch; null while masks are missing.
    const BranchLists* branch_lists(Output& output, std::uint16_t switch_id);
    /// The same of the whole batch that begins with `first_unit`, `samples` in front of the switch; null while masks of
    /// any unit are missing.
    const BranchLists* batch_lists(std::uint16_t switch_id, unsigned first_unit, const SampleSet& samples);
    /// Counts the samples of each branch, once for an output whose masks are known.
    void count_branches(Output& output, const Edge& edge);

    /// What this tile decides of a gate's output: empty where another tile has the same samples.
    Box decided_box(const Output& output) const;
    /// False while labels that the gate has to compare with are on their way.
    bool labels_known(const Output& output) const;
    /// Of a gate whose output is complete: computed from its logits, with values; else as recorded.
    Decisions decide(const Output& output, const Box& box, const std::vector<std::uint32_t>& ids);

private:
    using Masks = std::map<std::uint32_t, std::uint64_t>;  ///< by sample id

    Decisions recorded(const Output& output, const std::vector<std::uint32_t>& ids) const;
    Decisions computed(const Output& output, const Box& box, const std::vector<std::uint32_t>& ids);

    InterfacePorts& ports_;
    Routing& routing_;
    SimulationRegistry& registry_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, Masks> switches_;      ///< (switch, unit)
    std::map<std::pair<std::uint16_t, unsigned>, BranchLists> batch_lists_;  ///< by switch and first unit of a batch
    std::map<std::uint16_t, Masks> recorded_masks_;                          ///< by operator index
    /// Of the gates before those of this tile, by switch and batch: a gate's and the next one's segments may differ.
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::map<std::uint32_t, SampleLabel>> labels_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> branch_samples_;  ///< (switch, branch)
};

}  // namespace switchyard::hw
