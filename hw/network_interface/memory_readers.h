// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/network_interface/transfer_plan.h"

namespace switchyard::hw {

/// Ranks of an operator that get what one of them asks HBM for, lowest first; the first one asks. `multicast`: a
/// memory interface answers all that need the same bytes with one packet. Otherwise each tile asks for itself.
/// Of a tensor: those that need the same input as `rank`, which needs some.
std::vector<std::uint16_t> tensor_readers(const TransferPlan& plan, unsigned rank, bool multicast);
/// Of weights: those with the same slice, in the order of ranks (partition.h).
std::vector<std::uint16_t> weight_readers(const OperatorPlacement& placement, unsigned rank, bool multicast);

}  // namespace switchyard::hw
