#pragma once

#include <string>
#include <vector>

#include "switchyard/sw_scheduler/backend/kernel_search.h"
#include "switchyard/sw_scheduler/backend/segmentation.h"
#include "switchyard/sw_scheduler/formats/image.h"
#include "switchyard/sw_scheduler/formats/program.h"
#include "switchyard/sw_scheduler/sampling/kernel_sampling.h"

namespace switchyard::sched {

/// How a design uses the chip.
struct Design {
    const char* name;
    bool frequency_weighted;  ///< loads from expected dyn_dims (section V-A); otherwise from the largest
    bool multi_kernel;        ///< kernels for several dyn_dims (section VI-B); otherwise one, for the largest
    bool resamples;           ///< may have kernels for the dyn_dims of a profile (section VII)
    bool every_kernel;        ///< a kernel for each dyn_dim, however many a tile can hold (section VIII, full-kernel)
    bool groups_branches;     ///< rare branches may share tiles (section V-B)
    bool shares_tiles;        ///< two branches may share tiles, as the sizes of each unit demand (section V-B)
    bool compacts_batches;    ///< samples may be sorted by routes that are known
    bool routes_samples;      ///< the hardware switches and merges; otherwise every sample takes every branch
};
const std::vector<Design>& designs();
/// Throws InputError that lists the known ones.
const Design& find_design(const std::string& name);

/// What a design has and can do without, for ablations.
struct Mechanism {
    const char* name;
    bool Design::*flag;
};
const std::vector<Mechanism>& mechanisms();
/// The design without the mechanisms of these names, and without those that need one of them. Throws InputError: an
/// unknown one (lists the known ones), or one that the design does not have.
Design without(Design design, const std::vector<std::string>& names);
/// The one that an image was compiled for. Throws InputError, as find_design() and without().
Design design_of(const ImageMeta& meta);
bool has_mechanism(const Design& design, const std::string& name);

/// Tile ids in an order in which neighbours are one hop apart: columns, every second one backwards. Memory interfaces
/// stand at the ends of the rows, so operators that take a few columns can reach all of them without crowding a row.
std::vector<std::uint16_t> snake_order(const HardwareDescription& hardware);

/// An operator with everything decided: tiles, partitions, kernels.
struct PlacedOperator {
    int op = 0;
    std::uint16_t segment = 0;
    std::size_t lane = 0;   ///< SegmentPlan::lanes, or the first of those that share tiles with each other
    std::size_t layer = 0;  ///< operators of one lane and layer have no tile in common
    OperatorPlacement placement;
    std::vector<Kernel> kernels;  ///< one a partition
    Depths depths;
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

/// Segments, places and generates kernels for a workload. Throws InputError (Segmenter::best, make_kernel).
Schedule make_schedule(const Workload& workload, const HardwareDescription& hardware, const Design& design,
                       const KernelChoice& choice, unsigned tiles, std::uint32_t unit_samples, const Margins& margins);

}  // namespace switchyard::sched
