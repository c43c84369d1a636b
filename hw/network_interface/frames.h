#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "switchyard/sw_scheduler/formats/samples.h"

namespace switchyard::hw {

/// The switch: those of `samples`, in their order, that `branch` gets by `masks`, by sample id. Nothing if one has no
/// mask yet.
std::optional<SampleSet> branch_members(const SampleSet& samples, const std::map<std::uint32_t, std::uint64_t>& masks,
                                        unsigned branch);

/// Members of every set of the frame that are in `unit`.
SampleFramePtr restricted(const SampleFramePtr& frame, const SampleSet& unit);

/// Level by level union of frames of equal depth.
SampleFramePtr united(const std::vector<SampleFramePtr>& frames);

/// A frame without switches: ids first .. last-1.
SampleFramePtr whole_frame(std::uint32_t first, std::uint32_t last);

}  // namespace switchyard::hw
