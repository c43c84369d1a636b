// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/rules/segments.h"

#include "switchyard/sw_scheduler/adyna/rules/micro_batches.h"

namespace switchyard::rules {

Region weights_region(const Edge& edge) {
    return {edge.slot_offset, std::uint64_t{edge.slot_offset} + edge.weight_bytes};
}

std::uint64_t input_slot(const Edge& edge, unsigned unit) {
    return edge.slot_offset + std::uint64_t{slot_of(unit, edge.slots)} * edge.slot_bytes;
}

std::uint64_t output_slot(const TileOperator& op, unsigned unit) {
    return op.out_offset + std::uint64_t{slot_of(unit, op.out_slots)} * op.out_slot_bytes;
}

std::vector<Region> regions_of(const TileOperator& op, const TileProgram& program) {
    std::vector<Region> regions{{op.out_offset, op.out_offset + std::uint64_t{op.out_slots} * op.out_slot_bytes}};
    for (const std::uint16_t id : op.in_edges) {
        const Edge& edge = program.edge(id);
        if (edge.path == EdgePath::weights)
            regions.push_back(weights_region(edge));
        else if (!carries_decisions(edge.path))
            regions.push_back({edge.slot_offset, edge.slot_offset + std::uint64_t{edge.slots} * edge.slot_bytes});
    }
    return regions;
}

int segment_after(const std::vector<std::uint16_t>& segments, std::uint16_t segment) {
    int next = -1, first = -1;
    for (const int candidate : segments) {
        if (first < 0 || candidate < first) first = candidate;
        if (candidate > segment && (next < 0 || candidate < next)) next = candidate;
    }
    return next >= 0 ? next : first;
}

WeightsFetch fetch_of_weights(const TileOperator& next, const TileProgram& next_program,
                              const std::vector<const TileOperator*>& running, const TileProgram& running_program) {
    for (const TileOperator* const op : running) {
        for (const Region& used : regions_of(*op, running_program)) {
            for (const std::uint16_t id : next.in_edges) {
                const Edge& edge = next_program.edge(id);
                if (edge.path == EdgePath::weights && used.overlaps(weights_region(edge)))
                    return WeightsFetch::after_segment;
            }
        }
    }
    return WeightsFetch::when_own_are_there;
}

bool weights_stay(const Edge& edge) {
    return edge.resident;
}

bool waits_for_masks(const Edge& edge) {
    return edge.switch_id != kNone && !carries_decisions(edge.path);
}

}  // namespace switchyard::rules
