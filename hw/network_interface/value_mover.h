// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/network_interface/interface_ports.h"
#include "switchyard/hw/network_interface/output.h"
#include "switchyard/hw/network_interface/transfer_plan.h"
#include "switchyard/hw/network_interface/value_region.h"

namespace switchyard::hw {

/// Values of tensors, when they are on: from output slots into packets, from packets into input slots, partial sums of
/// global pools. It keeps nothing.
class ValueMover {
public:
    explicit ValueMover(InterfacePorts& ports) : ports_(ports) {}

    /// A part of an output, global pool included, out of its slot.
    std::vector<std::uint8_t> output_values(const Output& output, const Edge& edge, const TransferPlan& plan,
                                            const TensorPart& part);
    /// Of a packet with values, into the slot of its unit of `in`.
    void place(const InEdge& in, const ::tlm::tlm_generic_payload& payload);
    /// Partial sums of a global pool, each in binary16, are added up in binary32 in the order of their rows.
    void add_partial_sums(const InEdge& in, unsigned unit);

private:
    static ValueRegion input_region(const InEdge& in, unsigned unit, const TransferPlan& plan);

    InterfacePorts& ports_;
};

/// Where a part lies in one piece of a tensor in HBM, from `address` on, that holds it.
std::shared_ptr<const std::vector<MemoryRun>> runs_of(const TensorPart& part, const OperatorPlacement& tensor,
                                                      const TransferPlan::Extent& piece, std::uint64_t address);

}  // namespace switchyard::hw
