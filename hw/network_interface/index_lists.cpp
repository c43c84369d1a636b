// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/index_lists.h"

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
    const std::size_t max = blocks.limits().sources;
    std::vector<std::uint32_t> ids;
    for (std::size_t next = 0; next < sets.size();) {
        RoutingBlocks::Lists sources;
        if (next > 0) sources.push_back(std::move(ids));
        while (next < sets.size() && sources.size() < max) {
            if (!sets[next]->empty()) sources.push_back(sets[next]->ids());
            ++next;
        }
        ids = blocks.merge(sources).ids;
    }
    return SampleSet(std::move(ids));
}

}  // namespace

SampleIndexListPtr restricted(const SampleIndexListPtr& index_list, const SampleSet& unit, bool of_batch) {
    if (!index_list) return nullptr;
    SampleIndexList result{members(index_list->samples, unit), restricted(index_list->outer, unit, of_batch),
                           members(index_list->partner, unit)};
    if (of_batch) {
        result.batch_samples = static_cast<std::uint32_t>(index_list->samples.size());
        result.batch_partner = static_cast<std::uint32_t>(index_list->partner.size());
    }
    return std::make_shared<const SampleIndexList>(std::move(result));
}

SampleIndexListPtr united(const std::vector<SampleIndexListPtr>& index_lists, RoutingBlocks& blocks) {
    if (index_lists.empty() || !index_lists.front()) return nullptr;
    if (index_lists.size() == 1) return index_lists.front();
    std::vector<const SampleSet*> samples, partners;
    std::vector<SampleIndexListPtr> outers;
    for (const SampleIndexListPtr& index_list : index_lists) {
        samples.push_back(&index_list->samples);
        partners.push_back(&index_list->partner);
        outers.push_back(index_list->outer);
    }
    return std::make_shared<const SampleIndexList>(
        SampleIndexList{merged(samples, blocks), united(outers, blocks), merged(partners, blocks)});
}

SampleIndexListPtr whole_index_list(std::uint32_t first, std::uint32_t last, std::uint32_t batch_samples) {
    return std::make_shared<const SampleIndexList>(
        SampleIndexList{SampleSet::range(first, last), nullptr, {}, batch_samples});
}

}  // namespace switchyard::hw
