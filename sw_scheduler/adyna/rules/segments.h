// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/program.h"

/// Rules for how a tile of Adyna uses its scratchpad and goes from segment to segment: where slots and weights are,
/// and which weights it fetches when.
namespace switchyard::rules {

/// A range of bytes of a scratchpad, `last` excluded.
struct Region {
    std::uint64_t first = 0, last = 0;
    bool overlaps(const Region& other) const { return first < other.last && other.first < last; }
};

/// Where the weights of an edge are.
Region weights_region(const Edge& edge);
/// Where the slot of a unit begins: of an input, of an operator's outputs.
std::uint64_t input_slot(const Edge& edge, unsigned unit);
std::uint64_t output_slot(const TileOperator& op, unsigned unit);
/// All that an operator uses of the scratchpad of its tile: output slots, weights, input slots.
std::vector<Region> regions_of(const TileOperator& op, const TileProgram& program);

/// The segment that a tile runs after `segment`, among the segments of its operators: the next one, or the first one of
/// the next batch. -1 if there are none.
int segment_after(const std::vector<std::uint16_t>& segments, std::uint16_t segment);

/// When a tile fetches the weights of an operator of its next segment.
enum class WeightsFetch : std::uint8_t {
    when_own_are_there,  ///< while the running segment computes, once it has its own weights
    after_segment        ///< when it has ended: its operators use the region
};
/// `next` of the next segment, `running` of the segment that runs; both of the same tile.
WeightsFetch fetch_of_weights(const TileOperator& next, const TileProgram& next_program,
                              const std::vector<const TileOperator*>& running, const TileProgram& running_program);

/// Whether weights that a tile has are kept when their segment has ended.
bool weights_stay(const Edge& edge);

/// Whether the samples of an edge depend on a gate's masks: an output waits for them before it leaves.
bool waits_for_masks(const Edge& edge);

}  // namespace switchyard::rules
