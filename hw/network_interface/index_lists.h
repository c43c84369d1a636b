// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"

namespace switchyard::hw {

/// Members of every set of the index list that are in `unit`. `of_batch`: they say how many there were before
/// (SampleIndexList::batch_samples).
SampleIndexListPtr restricted(const SampleIndexListPtr& index_list, const SampleSet& unit, bool of_batch = false);

/// Those of `all` at the positions [unit * unit_samples, (unit + 1) * unit_samples).
SampleSet unit_of(const SampleSet& all, std::size_t unit, std::uint32_t unit_samples);
/// Those of `set` that are in `other`.
SampleSet members(const SampleSet& set, const SampleSet& other);
/// What a consumer that packs its samples knows of one of its units, on an edge that closes `pops` switches: of
/// `whole`, the edge's index list for the batch, the members of the consumer's unit; outside the switches that it
/// closes, the units of the operators there.
SampleIndexListPtr packed_unit(const SampleIndexListPtr& whole, unsigned pops, std::size_t unit,
                               std::uint32_t unit_samples);

/// Level by level union of index lists of equal depth, by the merge of `blocks`. Throws RtlFault.
SampleIndexListPtr united(const std::vector<SampleIndexListPtr>& index_lists, RoutingBlocks& blocks);

/// An index list without switches: ids first .. last-1, of `batch_samples` if kernels are invoked once a batch.
SampleIndexListPtr whole_index_list(std::uint32_t first, std::uint32_t last, std::uint32_t batch_samples = 0);

}  // namespace switchyard::hw
