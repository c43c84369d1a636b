#include "switchyard/hw/network_interface/frames.h"

#include <algorithm>
#include <memory>

namespace switchyard::hw {

SampleFramePtr restricted(const SampleFramePtr& frame, std::uint32_t first, std::uint32_t last) {
    if (!frame) return nullptr;
    const auto& ids = frame->samples.ids();
    if (!frame->outer && (ids.empty() || (ids.front() >= first && ids.back() < last))) return frame;
    const auto begin = std::lower_bound(ids.begin(), ids.end(), first);
    const auto end = std::lower_bound(begin, ids.end(), last);
    return std::make_shared<const SampleFrame>(
        SampleFrame{SampleSet(std::vector<std::uint32_t>(begin, end)), restricted(frame->outer, first, last)});
}

SampleFramePtr united(const std::vector<SampleFramePtr>& frames) {
    if (frames.empty() || !frames.front()) return nullptr;
    if (frames.size() == 1) return frames.front();
    SampleSet samples;
    std::vector<SampleFramePtr> outers;
    for (const SampleFramePtr& frame : frames) {
        samples = samples.united(frame->samples);
        outers.push_back(frame->outer);
    }
    return std::make_shared<const SampleFrame>(SampleFrame{std::move(samples), united(outers)});
}

SampleFramePtr whole_frame(std::uint32_t first, std::uint32_t last) {
    return std::make_shared<const SampleFrame>(SampleFrame{SampleSet::range(first, last), nullptr});
}

}  // namespace switchyard::hw
