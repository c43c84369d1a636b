#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/sw_scheduler/formats/samples.h"

namespace switchyard::hw {

/// Members of every set of the frame that are in `unit`.
SampleFramePtr restricted(const SampleFramePtr& frame, const SampleSet& unit);

/// Level by level union of frames of equal depth, by the merge of `blocks`. Throws TwinFault.
SampleFramePtr united(const std::vector<SampleFramePtr>& frames, RoutingBlocks& blocks);

/// A frame without switches: ids first .. last-1.
SampleFramePtr whole_frame(std::uint32_t first, std::uint32_t last);

}  // namespace switchyard::hw
