// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/network_interface/packed_parts.h"

#include <utility>

#include "switchyard/hw/network_interface/index_lists.h"

namespace switchyard::hw {

namespace {

/// Cuts `ids` where the unit of `all` in which they lie changes: visit(unit, ids of it).
template <class Visit>
void for_each_unit(const SampleSet& ids, const SampleSet& all, std::uint32_t unit_samples, Visit&& visit) {
    std::vector<std::uint32_t> of_unit;
    std::size_t unit = 0;
    for (const std::uint32_t id : ids.ids()) {
        const std::size_t next = all.index_of(id) / unit_samples;
        if (next != unit && !of_unit.empty()) visit(unit, SampleSet(std::exchange(of_unit, {})));
        unit = next;
        of_unit.push_back(id);
    }
    if (!of_unit.empty()) visit(unit, SampleSet(std::move(of_unit)));
}

/// Packed segments have no operators that share tiles: only the batch's samples count.
EdgeAllocations batch_of(const Edge& edge, const SampleIndexList& whole) {
    const EdgeSets sets = sets_of(edge, whole);
    EdgeAllocations result;
    result.source_batch = static_cast<std::uint32_t>(sets.source->size());
    result.destination_batch = static_cast<std::uint32_t>(sets.destination->size());
    return result;
}

}  // namespace

std::vector<PackedPart> packed_parts_from(const Edge& edge, const OperatorPlacement& destination, const SampleSet& made,
                                          std::uint16_t source_unit, const SampleIndexList& whole) {
    std::vector<PackedPart> parts;
    const SampleSet& all = *sets_of(edge, whole).destination;
    for_each_unit(members(whole.samples, made), all, destination.unit_samples, [&](std::size_t unit, SampleSet ids) {
        parts.push_back({source_unit, static_cast<std::uint16_t>(unit), made, std::move(ids),
                         unit_of(all, unit, destination.unit_samples), batch_of(edge, whole)});
    });
    return parts;
}

std::vector<PackedPart> packed_parts_to(const Edge& edge, const OperatorPlacement& source, const SampleSet& at_source,
                                        const SampleIndexList& whole, const SampleIndexList& wanted) {
    std::vector<PackedPart> parts;
    const SampleSet& destination = *sets_of(edge, wanted).destination;
    for_each_unit(wanted.samples, at_source, source.unit_samples, [&](std::size_t unit, SampleSet ids) {
        parts.push_back({static_cast<std::uint16_t>(unit), 0, unit_of(at_source, unit, source.unit_samples),
                         std::move(ids), destination, batch_of(edge, whole)});
    });
    return parts;
}

}  // namespace switchyard::hw
