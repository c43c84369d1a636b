#include "switchyard/hw/network_interface/frames.h"

#include <algorithm>
#include <iterator>
#include <memory>

namespace switchyard::hw {

SampleFramePtr restricted(const SampleFramePtr& frame, const SampleSet& unit) {
    if (!frame) return nullptr;
    std::vector<std::uint32_t> ids;
    std::set_intersection(frame->samples.ids().begin(), frame->samples.ids().end(), unit.ids().begin(),
                          unit.ids().end(), std::back_inserter(ids));
    return std::make_shared<const SampleFrame>(SampleFrame{SampleSet(std::move(ids)), restricted(frame->outer, unit)});
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
