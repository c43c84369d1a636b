// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/network_interface/transfer_plan.h"

namespace switchyard::hw {

/// What one unit of a producer has for one unit of a consumer that packs its samples: the sets of a TransferPlan.
struct PackedPart {
    std::uint16_t source_unit = 0, unit = 0;
    SampleSet source, edge, destination;
    EdgeAllocations allocations;
};

/// Of the producer's unit with the samples `made`, by consumer's units, ascending. `whole`: the edge's index list for
/// the batch.
std::vector<PackedPart> packed_parts_from(const Edge& edge, const OperatorPlacement& destination, const SampleSet& made,
                                          std::uint16_t source_unit, const SampleIndexList& whole);
/// For the consumer's unit whose view of the edge is `wanted` (packed_unit), by producer's units, ascending.
/// `at_source`: all samples that the producer makes.
std::vector<PackedPart> packed_parts_to(const Edge& edge, const OperatorPlacement& source, const SampleSet& at_source,
                                        const SampleIndexList& whole, const SampleIndexList& wanted);

}  // namespace switchyard::hw
