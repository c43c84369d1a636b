// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/adyna/image/program.h"
#include "switchyard/sw_scheduler/adyna/sampling/kernel_sampling.h"

namespace switchyard::sched {

/// Tile ids in an order in which neighbours are one hop apart: columns, every second one backwards. Memory interfaces
/// stand at the ends of the rows, so operators that take a few columns can reach all of them without crowding a row.
std::vector<std::uint16_t> snake_order(const HardwareDescription& hardware);

/// An operator with everything decided: tiles, partitions, kernels.
struct PlacedOperator {
    int op = 0;
    std::uint16_t segment = 0;
    std::size_t tile_group = 0;  ///< SegmentPlan::tile_groups, or the first of those that share tiles with each other
    std::size_t layer = 0;       ///< operators of one tile group and layer have no tile in common
    OperatorPlacement placement;
    std::vector<Kernel> kernels;  ///< one a partition
    BufferSlots slots;
    Footprint footprint;
    bool prefetched = false;  ///< its weights can be loaded while the segment before runs
};

struct Schedule {
    std::vector<SegmentPlan> segments;
    std::vector<PlacedOperator> operators;  ///< index = operator id
    Partners partners;
    /// The branch with which a switch's branch shares tiles, or kNone.
    std::uint16_t partner(int switch_id, unsigned branch) const {
        const auto found = partners.find({switch_id, branch});
        return found == partners.end() ? kNone : static_cast<std::uint16_t>(found->second);
    }
};

/// How dynamic operators of a design with several kernels get their dyn_dims.
struct KernelChoice {
    Sampling sampling = Sampling::uniform;
    const Profile* profile = nullptr;  ///< of all operators; not needed for Sampling::uniform
};

/// Gives the operators of the schedule's segments their tiles.
void place(Schedule& schedule, const Workload& workload, const HardwareDescription& hardware);
/// Gives them their kernels. Throws InputError if a tile's store has no room (make_kernel).
void generate_kernels(Schedule& schedule, const Segmenter& segmenter, StageSearch& stages, const Design& design,
                      const KernelChoice& choice);

/// Segments, places and generates kernels for a workload. `profile`: of all operators, says which branches may share
/// tiles; or nullptr. Throws InputError (Segmenter::best, make_kernel).
Schedule make_schedule(const Workload& workload, const HardwareDescription& hardware, const Design& design,
                       const Profile* profile, const KernelChoice& choice, unsigned tiles, std::uint32_t unit_samples,
                       const Margins& margins);

}  // namespace switchyard::sched
