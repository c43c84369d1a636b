#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/formats/samples.h"

namespace switchyard::hw {

/// Members of every set of the frame that are in `unit`.
SampleFramePtr restricted(const SampleFramePtr& frame, const SampleSet& unit);

/// Level by level union of frames of equal depth.
SampleFramePtr united(const std::vector<SampleFramePtr>& frames);

/// A frame without switches: ids first .. last-1.
SampleFramePtr whole_frame(std::uint32_t first, std::uint32_t last);

}  // namespace switchyard::hw
