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

/// Level by level union of index lists of equal depth, by the merge of `blocks`. Throws RtlFault.
SampleIndexListPtr united(const std::vector<SampleIndexListPtr>& index_lists, RoutingBlocks& blocks);

/// An index list without switches: ids first .. last-1, of `batch_samples` if kernels are invoked once a batch.
SampleIndexListPtr whole_index_list(std::uint32_t first, std::uint32_t last, std::uint32_t batch_samples = 0);

}  // namespace switchyard::hw
