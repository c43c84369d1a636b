// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/memory_readers.h"

namespace switchyard::hw {

std::vector<std::uint16_t> tensor_readers(const TransferPlan& plan, unsigned rank, bool multicast) {
    if (!multicast) return {static_cast<std::uint16_t>(rank)};
    return plan.sharers(rank);
}

std::vector<std::uint16_t> weight_readers(const OperatorPlacement& placement, unsigned rank, bool multicast) {
    if (!multicast) return {static_cast<std::uint16_t>(rank)};
    std::vector<std::uint16_t> ranks;
    for (std::size_t other = rank % placement.k_factor; other < placement.tiles.size(); other += placement.k_factor)
        ranks.push_back(static_cast<std::uint16_t>(other));
    return ranks;
}

}  // namespace switchyard::hw
