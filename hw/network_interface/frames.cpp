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

/// In as many passes as a merge of so few sources needs.
SampleSet merged(const std::vector<const SampleSet*>& sets, RoutingBlocks& blocks) {
    const std::size_t most = blocks.limits().sources;
    std::vector<std::uint32_t> ids;
    for (std::size_t next = 0; next < sets.size();) {
        RoutingBlocks::Lists sources;
        if (next > 0) sources.push_back(std::move(ids));
        while (next < sets.size() && sources.size() < most) {
            if (!sets[next]->empty()) sources.push_back(sets[next]->ids());
            ++next;
        }
        ids = blocks.merge(sources).ids;
    }
    return SampleSet(std::move(ids));
}

}  // namespace

SampleFramePtr restricted(const SampleFramePtr& frame, const SampleSet& unit) {
    if (!frame) return nullptr;
    return std::make_shared<const SampleFrame>(
        SampleFrame{members(frame->samples, unit), restricted(frame->outer, unit), members(frame->partner, unit)});
}

SampleFramePtr united(const std::vector<SampleFramePtr>& frames, RoutingBlocks& blocks) {
    if (frames.empty() || !frames.front()) return nullptr;
    if (frames.size() == 1) return frames.front();
    std::vector<const SampleSet*> samples, partners;
    std::vector<SampleFramePtr> outers;
    for (const SampleFramePtr& frame : frames) {
        samples.push_back(&frame->samples);
        partners.push_back(&frame->partner);
        outers.push_back(frame->outer);
    }
    return std::make_shared<const SampleFrame>(
        SampleFrame{merged(samples, blocks), united(outers, blocks), merged(partners, blocks)});
}

SampleFramePtr whole_frame(std::uint32_t first, std::uint32_t last) {
    return std::make_shared<const SampleFrame>(SampleFrame{SampleSet::range(first, last), nullptr});
}

}  // namespace switchyard::hw
