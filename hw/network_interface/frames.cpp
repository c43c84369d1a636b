#include "switchyard/hw/network_interface/frames.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace switchyard::hw {

namespace {

SampleSet members(const SampleSet& set, const SampleSet& unit) {
    std::vector<std::uint32_t> ids;
    std::set_intersection(set.ids().begin(), set.ids().end(), unit.ids().begin(), unit.ids().end(),
                          std::back_inserter(ids));
    return SampleSet(std::move(ids));
}

}  // namespace

std::optional<SampleSet> branch_members(const SampleSet& samples, const std::map<std::uint32_t, std::uint64_t>& masks,
                                        unsigned branch) {
    std::vector<std::uint32_t> taken;
    for (const std::uint32_t id : samples.ids()) {
        const auto mask = masks.find(id);
        if (mask == masks.end()) return std::nullopt;
        if (mask->second >> branch & 1U) taken.push_back(id);
    }
    return SampleSet(std::move(taken));
}

SampleFramePtr restricted(const SampleFramePtr& frame, const SampleSet& unit) {
    if (!frame) return nullptr;
    return std::make_shared<const SampleFrame>(
        SampleFrame{members(frame->samples, unit), restricted(frame->outer, unit), members(frame->partner, unit)});
}

SampleFramePtr united(const std::vector<SampleFramePtr>& frames) {
    if (frames.empty() || !frames.front()) return nullptr;
    if (frames.size() == 1) return frames.front();
    SampleSet samples, partner;
    std::vector<SampleFramePtr> outers;
    for (const SampleFramePtr& frame : frames) {
        samples = samples.united(frame->samples);
        partner = partner.united(frame->partner);
        outers.push_back(frame->outer);
    }
    return std::make_shared<const SampleFrame>(SampleFrame{std::move(samples), united(outers), std::move(partner)});
}

SampleFramePtr whole_frame(std::uint32_t first, std::uint32_t last) {
    return std::make_shared<const SampleFrame>(SampleFrame{SampleSet::range(first, last), nullptr});
}

}  // namespace switchyard::hw
