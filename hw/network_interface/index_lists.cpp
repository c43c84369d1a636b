// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/index_lists.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace switchyard::hw {

namespace {

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

/// `unit`: of the consumer, which is `pops` levels further out; null beyond it.
SampleIndexListPtr packed_levels(const SampleIndexListPtr& whole, const SampleSet* unit, unsigned pops,
                                 std::size_t number, std::uint32_t unit_samples) {
    if (!whole) return nullptr;
    SampleIndexList level;
    level.samples = unit ? members(whole->samples, *unit) : unit_of(whole->samples, number, unit_samples);
    level.outer = packed_levels(whole->outer, pops > 0 ? unit : nullptr, pops > 0 ? pops - 1 : 0, number, unit_samples);
    level.batch_samples = static_cast<std::uint32_t>(whole->samples.size());
    level.whole = whole;
    return std::make_shared<const SampleIndexList>(std::move(level));
}

}  // namespace

SampleSet members(const SampleSet& set, const SampleSet& other) {
    std::vector<std::uint32_t> ids;
    std::set_intersection(set.ids().begin(), set.ids().end(), other.ids().begin(), other.ids().end(),
                          std::back_inserter(ids));
    return SampleSet(std::move(ids));
}

SampleSet unit_of(const SampleSet& all, std::size_t unit, std::uint32_t unit_samples) {
    const std::size_t first = std::min(all.size(), unit * unit_samples),
                      last = std::min(all.size(), first + unit_samples);
    return SampleSet({all.ids().begin() + static_cast<std::ptrdiff_t>(first),
                      all.ids().begin() + static_cast<std::ptrdiff_t>(last)});
}

SampleIndexListPtr packed_unit(const SampleIndexListPtr& whole, unsigned pops, std::size_t unit,
                               std::uint32_t unit_samples) {
    const SampleSet consumers = unit_of(popped(*whole, pops).samples, unit, unit_samples);
    return packed_levels(whole, &consumers, pops, unit, unit_samples);
}

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
