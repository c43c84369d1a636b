// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/program.h"

namespace switchyard::platform {

/// Index of a set of samples: those that took certain branches of certain switches. 0: every sample.
using SetId = std::uint32_t;

/// What a unit is of the batch's invocation, where kernels are invoked once a batch.
struct UnitOfBatch {
    std::uint32_t samples = 0;  ///< of the batch; 0: none, or kernels are invoked for each unit
    bool later = false;         ///< the invocation began with another unit
};

/// An operator on all of its tiles.
struct Stage {
    const OperatorPlacement* placement = nullptr;
    const TileOperator* share = nullptr;   ///< rank 0's; what does not depend on the rank is the same in all of them
    const TileProgram* program = nullptr;  ///< rank 0's
    std::vector<std::uint16_t> inputs, weights, outputs;  ///< edge ids; masks are no inputs
    SetId samples = 0;

    std::uint16_t segment() const { return placement->segment; }
    unsigned units() const { return placement->units; }
};

/// The sets of samples at both ends of an edge and on it, as EdgeSets has them for one unit.
struct EdgeEnds {
    const Edge* edge = nullptr;
    const OperatorPlacement *source = nullptr, *destination = nullptr;  ///< no source: weights
    SetId source_samples = 0, samples = 0, destination_samples = 0;
    int source_stage = -1, destination_stage = -1;  ///< -1: a tensor in HBM, or weights
};

/// What all tiles have been told, seen as one program: stages, edges, and which samples reach them.
class ProgramMap {
public:
    /// Samples of `outer` whose mask has bit `branch`.
    struct Set {
        SetId outer = 0;
        std::uint16_t switch_id = kNone, branch = 0;
        SetId partner = 0;  ///< of the branch that shares tiles with this one; 0: none
    };

    /// `programs`: of every tile that has one; they must outlive the map. Throws InputError if an operator has no rank
    /// 0, an edge an unknown end, or an operator's inputs bring different samples.
    explicit ProgramMap(const std::vector<const TileProgram*>& programs);

    const std::vector<Stage>& stages() const { return stages_; }
    const std::vector<std::vector<unsigned>>& segments() const { return segments_; }  ///< stages by segment
    int stage_of(std::uint16_t op_id) const { return stage_of_.at(op_id); }
    const EdgeEnds& edge(std::uint16_t id) const { return edges_[id]; }
    const std::vector<EdgeEnds>& edges() const { return edges_; }  ///< by id; edge == nullptr where there is none
    /// Null: by sample id.
    const SegmentOrder* order(unsigned segment) const {
        return stages_[segments_.at(segment).front()].program->order(static_cast<std::uint16_t>(segment));
    }
    const std::vector<Set>& sets() const { return sets_; }  ///< outer sets come before those inside them

private:
    void collect(const std::vector<const TileProgram*>& programs);
    void derive_sets();
    SetId inside(SetId outer, std::uint16_t switch_id, std::uint16_t branch);

    std::vector<Stage> stages_;
    std::vector<std::vector<unsigned>> segments_;
    std::vector<EdgeEnds> edges_;
    std::vector<Set> sets_{Set{}};
    std::map<std::uint16_t, const OperatorPlacement*> placements_;
    std::map<std::uint16_t, int> stage_of_;
};

/// Positions of samples in the order in which a segment takes them: [first, last).
struct Positions {
    std::uint32_t first = 0, last = 0;
};

/// How many samples are in each set, in the order in which a segment takes them.
class SampleCounts {
public:
    /// `samples`: of all batches that the chip is given together.
    SampleCounts(const ProgramMap& map, std::uint32_t samples);

    std::uint32_t samples() const { return samples_; }

    /// Forgets the masks of the batch before.
    void begin_batch();
    /// The recorded masks of a switch, one a sample id. Sets inside the switch can be counted from now on.
    void set_masks(std::uint16_t switch_id, std::vector<std::uint64_t> masks);
    /// Those that were set. Throws std::out_of_range if there are none.
    const std::vector<std::uint64_t>& masks(std::uint16_t switch_id) const { return masks_.at(switch_id); }
    /// From now on positions are those of a segment: `order` has the sample id at each; empty: ids are positions.
    void begin_segment(std::vector<std::uint32_t> order);
    /// Until the next segment operators pack their samples (SegmentOrder::packs): a unit has consecutive samples of the
    /// operator's own.
    void pack() { packs_ = true; }
    bool packs() const { return packs_; }
    /// Samples of the set at the positions [first, last), which may lie beyond the batch.
    std::uint32_t count(SetId set, std::uint32_t first, std::uint32_t last) const;
    std::uint32_t count(SetId set, const Positions& at) const { return count(set, at.first, at.last); }
    /// The positions of the set's first and last sample of those. There must be one.
    Positions ends(SetId set, const Positions& at) const;
    /// Where a micro-batch lies of an operator whose samples are `set`.
    Positions positions(SetId set, const OperatorPlacement& placement, unsigned unit) const {
        if (packs_) return packed_positions(set, placement, unit);
        return {unit * placement.unit_samples, (unit + 1) * placement.unit_samples};
    }
    /// From the lowest id of the set's samples at those positions to beyond the highest, as if the blocks of `block`
    /// ids between them in which none of the samples lies were left out. Empty if there are no samples.
    Positions ids(SetId set, const Positions& at, std::uint32_t block = UINT32_MAX) const;
    /// Its samples.
    std::uint32_t count(SetId set, const OperatorPlacement& placement, unsigned unit) const {
        return count(set, positions(set, placement, unit));
    }
    /// EdgeAllocations: samples of the unit's batch where the operator's kernels are invoked once a batch, otherwise 0.
    std::uint32_t of_batch(SetId set, const OperatorPlacement& placement, unsigned unit) const {
        const unsigned units = placement.units_of_invocation();
        if (units == 1) return 0;
        const std::uint32_t samples = units * placement.unit_samples, first = unit / units * samples;
        return count(set, first, first + samples);
    }
    UnitOfBatch unit_of_batch(SetId set, const OperatorPlacement& placement, unsigned unit) const {
        return {of_batch(set, placement, unit), unit % placement.units_of_invocation() > 0};
    }
    /// The allocation that an operator whose samples are `set` has for a unit.
    unsigned allocation(SetId set, const OperatorPlacement& placement, unsigned unit) const;

private:
    const std::vector<std::uint32_t>& before(SetId set) const;
    Positions packed_positions(SetId set, const OperatorPlacement& placement, unsigned unit) const;

    const ProgramMap& map_;
    std::uint32_t samples_;
    bool packs_ = false;
    std::map<std::uint16_t, std::vector<std::uint64_t>> masks_;
    std::vector<std::uint32_t> order_;
    /// [set][position]: members before it; empty: not asked for yet.
    mutable std::vector<std::vector<std::uint32_t>> before_;
};

}  // namespace switchyard::platform
