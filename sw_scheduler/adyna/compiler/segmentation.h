// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"
#include "switchyard/sw_scheduler/adyna/compiler/tile_groups.h"
#include "switchyard/sw_scheduler/workload/profile.h"

namespace switchyard::sched {

/// Two branches of a switch of which each may use tiles of the other (Adyna section V-B, sharing.h).
struct BranchPair {
    int switch_id = 0;
    std::array<unsigned, 2> branches{};
    std::array<TileGroup, 2> operators;  ///< op - first of those that stand on each
    std::size_t allocations = 1;         ///< between which a micro-batch's sizes choose
};
/// The branch with which a switch's branch shares tiles: the same in all segments, as sample-index lists name it.
using Partners = std::map<std::pair<int, unsigned>, unsigned>;

/// How long a slot is taken beside the kernel and the transfer, and how many slots take turns.
struct SlotTime {
    double latency = 0;  ///< cycles
    std::uint16_t slots = 1;
};
/// Of an operator's buffers; of inputs with as many slots the one with the longest latency.
struct SlotTimes {
    boost::container::small_vector<SlotTime, 2> in;
    SlotTime out;
};

/// Operators [first, last) on the chip together, each tile group on its own tiles, one micro-batch after another.
struct SegmentPlan {
    int first = 0, last = 0;
    std::uint32_t unit_samples = 1;
    std::uint16_t units = 1;  ///< of all batches that the chip is given together
    std::uint16_t units_of_batch = 1;
    /// Switches by whose routes its samples are sorted, outer before inner: their gates stand in front of the segment.
    std::vector<int> order;
    std::vector<TileGroup> tile_groups;
    std::vector<unsigned>
        tiles;  ///< by operator - first, as are the next three; the same for all members of a tile group
    std::vector<BufferSlots> slots;
    std::vector<SlotTimes> slot_times;
    std::vector<Stage> stages;
    std::vector<BranchPair> pairs;
    /// By operator - first: tiles in each allocation of its pair, `tiles` or a few less first; empty without a pair.
    std::vector<std::vector<unsigned>> shared;
    bool prefetchable = false;   ///< a second set of weight slices fits beside this segment's data
    double weight_cycles = 0;    ///< loading the weights
    double pipeline_cycles = 0;  ///< a batch through the stages
    double memory_cycles = 0;    ///< a batch's HBM traffic, at the interface with most of it
    double cycles = 0;           ///< what the dynamic programme adds up

    /// Bytes of a tile's data area that the members of a tile group take together.
    std::uint64_t tile_group_bytes(const TileGroup& tile_group) const;
    /// Weights and buffers on a tile: of a tile group, or of a pair, of each branch the largest.
    struct TileBytes {
        std::uint64_t weights = 0, buffers = 0;
        std::uint64_t total() const { return weights + buffers; }
    };
    TileBytes pair_bytes(const BranchPair& pair) const;
    /// Bytes that a tile keeps at most.
    std::uint64_t max_bytes() const;
    /// Bytes of weights that a tile keeps at most.
    std::uint32_t max_weight_bytes() const;
};

/// What the formulas leave out, as margins on what they say. Calibrated: testbenches/calibration compares these values
/// with others in the simulator.
struct Margins {
    /// A smaller micro-batch must promise at most this share of the cycles: control packets, memory latency and
    /// kernels for more samples than there are cost something once a unit.
    double smaller_units = 0.85;
    /// Cutting all operators of a segment alike may cost this much: packets cost something too.
    double alike = 1.06;
    /// Exchanged tiles must promise at most this share of the cycles: less is within the formulas' error.
    double exchanged = 0.95;
    /// Cutting a reduction into slices must promise at most this share of the cycles: partial sums are rounded, and an
    /// operator more takes its part in packets and barriers.
    double slices = 0.85;
    double busy = 0.7;  ///< an operator that keeps this share of the PEs busy stays whole
    /// Slots that an input gets beyond what the pipeline needs, where scratchpads have room.
    std::uint16_t deepest = 4;
    /// Shared tiles must promise at most this share of the time between units: units take turns on them, and they get
    /// weights and control packets for both branches.
    double sharing = 0.97;
    /// A running chip gets another schedule once more than this share of the load has moved to other operators: below
    /// that the formulas cannot tell which of two schedules is faster.
    double moved = 0.05;
};

/// Micro-batches that slots hold between two stages, so that these do not wait for each other unit by unit.
inline constexpr double kUnitsBetween = 2;

/// A normal variable.
struct Normal {
    double mean = 0, variance = 0;
};
/// The larger of two, as if it were normal.
Normal larger_of(const Normal& a, const Normal& b, double covariance);

/// What a segment's plan says of its weights.
enum class Weights {
    loaded,   ///< each batch loads them, but for those of a network that is one segment
    resident  ///< those of all segments stay on their tiles from one batch to the next
};

/// Cuts the topological order into segments and gives tiles to their operators (Adyna section V-A, Tangram's
/// inter-layer pipelining). Costs and constraints: docs/scheduler.md.
class Segmenter {
public:
    /// `tiles`: how many of the chip's to use. `unit_samples`: 0, or the only size of a micro-batch to consider.
    /// `search` must outlive it; several segmenters may use one. Throws Infeasible if the batch cannot be cut into such
    /// micro-batches.
    ///
    /// Of the design's mechanisms counts pipelining (a segment has as many operators as pay, otherwise as few as must
    /// be together), grouping (rare branches may share tiles, tile_groups.h, where that makes a segment faster) and
    /// compaction (samples may be sorted by routes that are known when a segment begins).
    Segmenter(StageSearch& search, const Design& design, unsigned tiles, std::uint32_t unit_samples,
              const Margins& margins = {}, Weights weights = Weights::loaded);
    /// As `other`, but for the weights. From then on the two share what they find out.
    Segmenter(Segmenter& other, Weights weights);
    ~Segmenter();

    /// The cut points with the smallest sum of segment cycles. Throws InputError that names the operator which does not
    /// fit, and the bytes.
    std::vector<SegmentPlan> best();
    /// The same, or nothing where a network does not fit: room for as many weights again may be too much to ask for.
    std::vector<SegmentPlan> best_or_nothing();
    /// Operators [first, last) as one segment in the best micro-batch, or nothing if they do not fit.
    std::optional<SegmentPlan> segment(int first, int last);
    /// A lower bound of what that costs, which is found without planning it; infinite only where nothing fits.
    double min_cycles(int first, int last);
    /// True if they fit in the smallest micro-batch, weights of one segment at a time.
    bool fits(int first, int last);
    /// The same segment with N tiles for each of its tile groups, or nothing if they do not fit; the plan as segment()
    /// makes it, before tiles are shared.
    std::optional<SegmentPlan> with_tiles(SegmentPlan plan, const std::vector<unsigned>& tiles);
    /// Where it hardly slows the segment down, cuts samples and rows of all its operators alike, so that what a tile
    /// makes is what few others need: of such plans the one with the fewest packets. Tile groups stay as they are.
    void align(SegmentPlan& plan);
    /// Exchanges tiles between tile groups for as long as that takes off cycles: the slowest tile group is not all that
    /// counts, the first unit passes through all of them and sizes fluctuate. Packets, which the formulas leave out, do
    /// not get more.
    void improve(SegmentPlan& plan);
    /// Of a micro-batch, over all operators.
    std::uint64_t packets(const SegmentPlan& plan) const;
    /// More slots where operators are dynamic and scratchpads have room beside the weights of the segments before and
    /// after, `other_weights` bytes at most on a tile: stages that fluctuate wait less for each other.
    void deepen(SegmentPlan& plan, std::uint32_t other_weights);
    /// Lets branches share tiles where that makes the segment faster by the formulas. Of each switch the pairs that are
    /// least likely to be active together come first; a branch has one partner. `profile`: of all operators, or
    /// nullptr. `weights_beside`, `bytes_beside`: what the segments before and after keep on a tile at most.
    void share(SegmentPlan& plan, const Profile* profile, std::uint64_t weights_beside, std::uint64_t bytes_beside,
               Partners& partners);
    /// Cycles between two units of operator plan.first + i on `stage`: transfers are double-buffered, but a slot is
    /// taken from the first probe until the kernel ends.
    double initiation_interval(const SegmentPlan& plan, std::size_t i, const Stage& stage) const;
    bool may_cut(int op) const { return search_.workload().may_cut(op); }

private:
    /// How a segment of operators [first, last) is tried.
    struct Trial {
        int first, last;
        std::uint32_t unit_samples;
        unsigned weight_copies;
        std::vector<int> order;
    };
    /// Of a trial, by operator - first.
    struct Buffers {
        std::vector<BufferSlots> slots;
        std::vector<SlotTimes> slot_times;
    };
    /// Of a source of an operator in a segment: it passes a switch whose gate is inside.
    bool switched_inside(const Source& source, int first, int last) const;
    /// By operator - first: gates inside the segment that it waits for one after another. Where samples are packed each
    /// of them waits for the whole batch; otherwise kernels that are invoked once a batch have none.
    std::vector<unsigned> gates_in_front(int first, int last) const;
    /// Cycles between units, added up over the parts of a packed segment that wait for each other.
    double packed_interval(const SegmentPlan& plan) const;
    class Setups;
    /// Whether a trial fits with any of its tile groups.
    bool fits(const Trial& trial, Setups& setups);
    /// The faster one of a plan with separate tile groups and one with the largest shared ones that fit.
    std::optional<SegmentPlan> plan(const Trial& trial, Setups& setups);
    /// With the tile groups of this number.
    std::optional<SegmentPlan> plan(const Trial& trial, const Buffers& buffers,
                                    const std::vector<TileGroup>& tile_groups, std::size_t number);
    /// False if the operators, in these tile groups, fit with no number of slots.
    bool may_fit(const Trial& trial, const std::vector<TileGroup>& tile_groups) const;
    /// Orders that are worth a try: by the switches that are decided before the segment; by sample id as well where
    /// that would let branches with tiles of their own work one after another instead of side by side.
    std::vector<std::vector<int>> orders(int first, int last) const;
    class TileOptions;
    /// By tile group: in proportion to their loads, then from the others to the slowest. Nothing if one does not fit.
    std::vector<unsigned> allocate(const SegmentPlan& plan, TileOptions& options);
    /// Gives a trial's tile groups with this number their tiles: the same, looked up where the other segmenter has
    /// found it. False if something does not fit.
    bool allocate(SegmentPlan& plan, const Trial& trial, std::size_t number);
    class TileExchange;
    class Bounds;
    class Trials;
    class PathSearch;
    struct Shared;
    Bounds& bounds();
    /// False if operators [first, last) are no segment, whatever they need.
    bool refused(int first, int last) const;
    /// Copies of the weights, the best first.
    std::vector<unsigned> copies_tried(int first, int last) const;
    /// A batch that is one unit, and need not be sorted.
    bool is_batch(std::uint32_t unit_samples) const { return unit_samples == search_.workload().graph.batch_samples(); }
    std::vector<std::vector<int>> orders_tried(int first, int last, std::uint32_t unit_samples) const;
    /// Whether segment(first, last) is something.
    bool has_plan(int first, int last);
    /// The same with setups of this segment.
    bool has_plan(int first, int last, Setups& setups);
    /// True only if the operators fit, each on tiles of its own.
    bool surely_fits(const Trial& trial, Setups& setups);
    /// Where a prefix that can be scheduled ends from which no segment leads on: of several the last one.
    int stuck();
    /// For operator plan.first + i.
    static StageQuery query(const SegmentPlan& plan, std::size_t i, unsigned weight_copies, std::size_t sharers);
    using StageList = boost::container::small_vector<const Stage*, 4>;
    /// Gives each tile group its tiles. False if something does not fit.
    bool take(SegmentPlan& plan, const std::vector<unsigned>& tiles, unsigned weight_copies);
    bool take(SegmentPlan& plan, const TileGroup& tile_group, unsigned tiles, unsigned weight_copies);
    /// n and p factors for each operator that needs more than one tile, as many k factors as its initiation interval
    /// needs; the plan's times follow. False if it does not fit.
    bool cut_alike(SegmentPlan& plan, std::uint32_t n, std::uint32_t p);
    /// Of a micro-batch: into and, to memory, out of operator plan.first + i.
    std::uint64_t packets(const SegmentPlan& plan, std::size_t i) const;
    /// Cycles between two units of a tile group whose members run on `stages`, in order: they take turns.
    double initiation_interval(const SegmentPlan& plan, const TileGroup& tile_group, const StageList& stages) const;
    double initiation_interval(const SegmentPlan& plan, const TileGroup& tile_group) const;
    TileGroupSamples samples(const SegmentPlan& plan, const TileGroup& tile_group) const;
    /// What the members of a tile group have of a usual unit; empty for one member.
    struct Turns {
        boost::container::small_vector<double, 4> means;  ///< by member, to what its stage is for
        double usual = 0;                                 ///< of all members, to the mean
    };
    Turns turns(const SegmentPlan& plan, const TileGroup& tile_group) const;
    /// Of an operator in a segment from operator `first` on.
    SlotTimes slot_times(int op, int first, bool compacted, const BufferSlots& slots) const;
    /// Of an operator on `stage` whose kernel, with those of others in between, takes `compute_cycles`.
    static double initiation_interval(const SlotTimes& slots, const Stage& stage, double compute_cycles);
    /// Of a tile group whose members' slots are slots[member].
    static double initiation_interval(const Turns& turns, const std::vector<SlotTimes>& slots,
                                      const TileGroup& tile_group, const StageList& stages);
    /// Cycles of all members for a usual unit: compute and both directions of a tile's link.
    static Stage together(const Turns& turns, const StageList& stages);
    /// Expected cycles between two units: of the slowest stage, when dynamic stages vary around their means.
    double usual_initiation_interval(const SegmentPlan& plan) const { return usual_initiation_interval(plan, {}); }
    /// The same where the operators of plan.pairs take `pairs` together.
    double usual_initiation_interval(const SegmentPlan& plan, const std::vector<Normal>& pairs) const;
    /// Stages with the same samples: those that wait for each other at every unit.
    struct Group {
        int path;       ///< Workload::Item::path
        double active;  ///< share of the units that bring them samples
        double relative_variance, cycles;
    };
    /// Without the first `pairs` of plan.pairs.
    std::vector<Group> groups(const SegmentPlan& plan, std::size_t pairs) const;
    /// segment_sharing.cpp
    struct Candidate;
    std::vector<Candidate> candidates(const SegmentPlan& plan, const Profile* profile, const Partners& partners) const;
    bool add_pair(SegmentPlan& plan, BranchPair pair, std::uint64_t weights_beside, std::uint64_t bytes_beside) const;
    /// Of the batch or of a micro-batch: what sizes of shared tiles are chosen by.
    std::uint32_t invocation_samples(const SegmentPlan& plan) const {
        return plan.unit_samples * (search_.by_batch() ? plan.units_of_batch : 1);
    }
    /// Of a unit, by the samples of its invocation.
    std::vector<double> branch_cycles(const SegmentPlan& plan, const TileGroup& operators,
                                      std::size_t allocation) const;
    /// Bytes a batch from HBM to the tiles, by operand that comes from outside the segment, in the operators' order.
    using LoadedBytes = boost::container::small_vector<double, 64>;
    LoadedBytes loaded_bytes(const SegmentPlan& plan) const;
    void add_pipeline_cycles(SegmentPlan& plan, const LoadedBytes& all_loaded) const;
    void add_memory_cycles(SegmentPlan& plan, const LoadedBytes& all_loaded) const;
    /// The sum of what the others added.
    void add_cycles(SegmentPlan& plan) const;
    void add_all_cycles(SegmentPlan& plan) const;
    /// Control packets at both ends of a segment.
    double barrier_cycles() const;
    double transfer_cycles() const;
    /// `compacted`: the reader waits for the order of the samples first.
    double load_latency(const Source& source, bool compacted) const;
    double store_latency() const;
    /// Bytes a batch of an operator's result to HBM; `last`: the segment's end.
    double stored_bytes(int last, int op) const;
    /// The same, counted from the operator's consumers.
    double count_stored_bytes(int last, int op) const;
    void look_up_stored_bytes();  ///< sets stored_bytes_
    bool loads_weights(int first, int last) const;
    std::vector<BufferSlots> slots_of(const Trial& trial);
    [[noreturn]] void fail(int first, int last);

    StageSearch& search_;
    unsigned tiles_;
    Margins margins_;
    bool pipelining_, grouping_, compaction_, packing_;
    Weights weights_;
    std::vector<std::uint32_t> unit_sizes_;  ///< candidates, largest first
    /// By operator: the ends of segments up to which stored_bytes() is the same, in order.
    std::vector<std::vector<std::pair<int, double>>> stored_bytes_;
    SegmentPlan spare_;               ///< a plan that is not needed any more
    std::unique_ptr<Bounds> bounds_;  ///< made when they are asked for first
    std::shared_ptr<Shared> shared_;  ///< null without another segmenter
};

}  // namespace switchyard::sched
