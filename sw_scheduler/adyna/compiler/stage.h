// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory_resource>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/functional/hash.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/adyna/compiler/workload.h"

namespace switchyard::sched {

/// Bytes that tiles keep for one operator in one segment; each is 64-byte aligned and the largest over all ranks.
struct Footprint {
    std::uint32_t weights = 0;                                    ///< one slice
    boost::container::small_vector<std::uint32_t, 8> slot_bytes;  ///< one input slot, by source
    std::uint32_t out_slot_bytes = 0;                             ///< one output slot
    std::uint64_t buffers = 0;                                    ///< all input and output slots
    std::uint64_t total(unsigned weight_copies = 1) const { return std::uint64_t{weight_copies} * weights + buffers; }
};

/// An operator on some tiles: one stage of a segment's pipeline.
struct Stage {
    bool fits = false;
    unsigned k_factor = 1;
    Partition largest;                     ///< of the kernel for a whole micro-batch
    double compute_cycles = 0;             ///< mean over Workload::usual_samples, as are the next two
    double in_cycles = 0, out_cycles = 0;  ///< on a tile's link
    double memory_cycles = 0;              ///< of all HBM, for a unit's share of OwnReads
    /// Between two units in the steady state: transfers are double-buffered.
    double cycles() const { return std::max({compute_cycles, in_cycles, out_cycles, memory_cycles}); }
    Footprint footprint;
};

/// What an operator's tiles each read from HBM for themselves: nothing on a chip with multicast reads.
struct OwnReads {
    static constexpr std::size_t kMax = 64;
    std::uint64_t inputs = 0;        ///< sources, a bit each; those from the 65th on are left out
    std::uint32_t weight_units = 0;  ///< micro-batches for which weights are loaded once; 0: they stay
};

/// Slots of a buffer at least, where there are as many micro-batches.
inline constexpr std::uint16_t kFewestSlots = 2;

/// Slots of an operator's buffers, each for a micro-batch, and what its units have in common.
struct BufferSlots {
    using Inputs = boost::container::small_vector<std::uint16_t, 8>;
    Inputs in;  ///< by source
    std::uint16_t out = 2;
    /// Switches on its path, from the outermost on, whose branch there all samples of a unit take, or none: those by
    /// whose routes the segment is compacted.
    unsigned decided_switches = 0;
    OwnReads reads = {};
};

/// Of an output slot of an operator that keeps binary32 values, a gate its logits: the first part holds the results,
/// binary16, and the others what is kept.
inline constexpr std::uint32_t kKeptSlotParts = 3;
inline constexpr std::uint32_t kAlignment = 64;  ///< bytes: regions in scratchpads and in HBM
std::uint32_t aligned(std::uint64_t bytes);

/// p factors at most of an operator whose result is pooled on its way to another: each way sends a partial sum, and the
/// consumer's slot has room for all of them.
inline constexpr unsigned kMaxPooledParts = 32;

/// Bytes of the largest input slot that a tile needs for a source when it computes a block of n, k, p (sizes): the
/// input's channels and rows that partition.h's input_box asks for; of a pooled tensor one value a channel and partial
/// sum. What the block does not change is worked out once.
class InputBytes {
public:
    /// `shape`: the consumer's; it must outlive this if it is an attention.
    InputBytes(const OperatorShape& shape, const Source& source);
    /// Bytes, not aligned.
    std::uint64_t operator()(const TileWork& block) const {
        const std::uint64_t channels = by_channels_ ? block.size[kK] : heads_ ? channels_of_heads(block.size[kK]) : 1;
        const std::uint32_t rows = (std::uint32_t{block.size[kP]} - 1) * row_step_ + first_rows_;
        return bytes_ * block.size[kN] * channels * std::min(rows, max_rows_);
    }

private:
    std::uint64_t channels_of_heads(std::uint32_t channels) const;

    std::uint64_t bytes_;  ///< of a sample's row and channel; of all channels that each block needs
    bool by_channels_ = false;
    const OperatorShape* heads_ = nullptr;  ///< an attention, which needs the channels of whole heads
    // Input rows that the first output row needs, each further one, and all of them at most.
    std::uint32_t first_rows_ = 1, row_step_ = 0, max_rows_ = 0xFFFFFFFF;
};
inline std::uint64_t input_bytes(const OperatorShape& shape, const Source& source, const TileWork& block) {
    return InputBytes(shape, source)(block);
}

/// Bytes of `source` that an operator's tiles read from HBM for a micro-batch of partition.dyn_dim samples: input
/// slots of all tiles (halo included), with `multicast` those that need the same bytes counted once.
double unit_read_bytes(const OperatorShape& shape, const Source& source, const Partition& partition, unsigned k_factor,
                       bool multicast = true);

/// An operator, and the conditions under which partition factors are chosen for it.
struct StageQuery {
    int op = 0;
    std::uint32_t unit_samples = 1;  ///< of a micro-batch
    const BufferSlots& slots;
    unsigned weight_copies = 1;  ///< of the weight slice; 2: the next segment's can be prefetched
    unsigned sharers = 1;        ///< operators that have equal parts of a tile's data area
};

/// Chooses k, n and p factors for an operator on a number of tiles.
class StageSearch {
    struct Series;

public:
    StageSearch(const Workload& workload, const HardwareDescription& hardware,
                Invocation invocation = Invocation::micro_batch);

    /// The partition factors with the fewest cycles a unit, the mean over Workload::usual_samples,
    ///   max(compute, bytes into a tile / link, bytes out of a tile / link, OwnReads / HBM's bandwidth),
    /// of those that fit this operator's part of a tile's data area, and of those that are about as quick one that
    /// reads less. Stage::fits is false if none does.
    const Stage& best(const StageQuery& query, unsigned tiles) { return best(series(query), query, tiles); }
    /// What is known of operators of a class under the same conditions; valid as long as the search.
    class Known {
    public:
        Known() = default;

    private:
        friend class StageSearch;
        explicit Known(Series& series) : series_(&series) {}
        Series* series_ = nullptr;
    };
    Known known(const StageQuery& query) { return Known(series(query)); }
    /// The same with known(query), looked up before.
    const Stage& best(const Known& known, const StageQuery& query, unsigned tiles) {
        return best(*known.series_, query, tiles);
    }

    /// The stage with these factors; `largest` is for a whole micro-batch.
    Stage spread(const StageQuery& query, unsigned k_factor, const Partition& largest);
    /// The next larger number of k factors with smaller slices; more than the operator's channels if there is none.
    unsigned more_slices(int op, unsigned k_factor) const;
    /// n and p factors without those that have nothing to do.
    Partition tight(const Partition& partition, int op) const;

    /// The smallest number of tiles (up to the chip's) on which it fits, or 0.
    unsigned min_tiles(const StageQuery& query) { return min_tiles(series(query), query); }
    unsigned min_tiles(const Known& known, const StageQuery& query) { return min_tiles(*known.series_, query); }

    /// Best n and p for `dyn_dim` samples on at most `factor` = n x p tiles for each slice, whose boxes fit the
    /// footprint. `rows_like`: the p factors of a whole unit's kernel, kept where they are hardly slower, because the
    /// neighbours' boxes fit them.
    Partition best_partition(int op, unsigned k_factor, unsigned factors, std::uint16_t dyn_dim, const Footprint& limit,
                             std::uint16_t rows_like);

    /// The stage when the kernel for `kernel` runs `samples` of its dyn_dim; without a footprint.
    Stage fitted(int op, unsigned k_factor, const Partition& kernel, std::uint16_t samples);

    /// A lower bound of min_tiles(), whatever buffers it has: beyond the chip's tiles if it fits nowhere.
    unsigned tiles_bound(int op, std::uint32_t unit_samples, unsigned weight_copies, unsigned sharers);

    /// The smallest footprint on `tiles` tiles, whether it fits or not.
    Footprint smallest_footprint(const StageQuery& query, unsigned tiles) const;

    /// Cycles of a kernel before it has been searched for: passes over the array, each as long as its reduction, its
    /// operand reads or its drain. At most the cost of the best blocking with one output a PE.
    double estimated_cycles(const TileWork& work);
    /// The same of a whole micro-batch on one tile.
    double cycles_on_one_tile(int op, std::uint32_t unit_samples);
    /// Operators of one class are alike: same shape, weights, neighbours' shapes and shares.
    int class_of(int op) const;
    const Workload& workload() const { return workload_; }
    const HardwareDescription& hardware() const { return hardware_; }
    bool by_batch() const { return invocation_ == Invocation::batch; }

private:
    TileWork tile_work(int op, const Partition& partition, unsigned k_factor) const;
    unsigned max_k_factor(int op) const;
    unsigned max_p_factor(int op) const;
    /// Passes over the array's rows that n x p x q outputs need, each PE one output.
    std::uint32_t row_passes(std::uint16_t n, std::uint16_t p, std::uint16_t q);
    double memory_cycles(int op, unsigned k_factor, const Partition& largest, const OwnReads& reads) const;
    Footprint footprint(int op, unsigned k_factor, const Partition& largest, const BufferSlots& slots) const;
    /// The same without a list: all bytes of a tile.
    std::uint64_t bytes(const StageQuery& query, unsigned k_factor, const Partition& largest) const;
    /// Of that the weights.
    std::uint32_t slice_bytes(int op, unsigned k_factor) const;
    Stage timed(int op, unsigned k_factor, const Partition& partition);
    /// Of a stage; how many slots it has does not matter, so that few stages are timed anew.
    struct UsualTimes {
        bool fits = false;
        double compute_cycles = 0, in_cycles = 0, out_cycles = 0;
        double slowest() const { return std::max({compute_cycles, in_cycles, out_cycles}); }
    };
    /// `limit`: sizes of one slot of each kind, which follow from the other arguments.
    const UsualTimes& usual_times(int op, unsigned k_factor, const Partition& largest, const Footprint& limit,
                                  unsigned decided);

    /// The best of some partitions of an operator.
    struct Choice {
        Partition cut;
        double cycles = std::numeric_limits<double>::infinity();
        std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
        /// Takes the other if it is quicker, or as quick with fewer bytes.
        bool take(const Choice& other) {
            const bool better = other.cycles < cycles || (other.cycles == cycles && other.bytes < bytes);
            if (better) *this = other;
            return better;
        }
    };

    using Allocator = std::pmr::polymorphic_allocator<std::byte>;
    /// By a few numbers that are packed into 64 bits.
    template <class Value>
    using ByNumbers = std::pmr::unordered_map<std::uint64_t, Value>;
    /// A container in memory that is released as a whole: it is never destroyed, which would visit all its elements.
    template <class T>
    static T& create_in(const Allocator& memory) {
        std::pmr::memory_resource& resource = *memory.resource();
        return *new (resource.allocate(sizeof(T), alignof(T))) T(&resource);
    }

    /// The quickest n and p factors, all as quick as each other; none if nothing may fit.
    struct TimedCuts {
        using allocator_type = Allocator;
        explicit TimedCuts(const Allocator& memory) : cuts(memory) {}
        double cycles = std::numeric_limits<double>::infinity();  ///< of a unit
        std::pmr::vector<Partition> cuts;
    };
    /// The same with the k factors beside them.
    struct SlicedCuts {
        using allocator_type = Allocator;
        explicit SlicedCuts(const Allocator& memory) : cuts(memory) {}
        double cycles = std::numeric_limits<double>::infinity();
        std::pmr::vector<std::pair<unsigned, Partition>> cuts;
    };
    /// Of the operators of a class, with units of some samples of which some switches have decided, whatever slots they
    /// have.
    struct ClassTimes {
        using allocator_type = Allocator;
        explicit ClassTimes(const Allocator& memory) : usual(memory), splits(memory), quickest(memory) {}
        ByNumbers<UsualTimes> usual;     ///< by k, n and p factors
        ByNumbers<TimedCuts> splits;     ///< as Series::splits; without OwnReads
        ByNumbers<SlicedCuts> quickest;  ///< by tiles: of all k factors, in the order of the search
    };
    struct Series {
        using allocator_type = Allocator;
        explicit Series(const Allocator& memory)
            : by_tiles(memory), stages(memory), splits(create_in<ByNumbers<Choice>>(memory)) {}
        ClassTimes* times = nullptr;              ///< times_of_cuts()
        std::pmr::vector<const Stage*> by_tiles;  ///< null: not asked for yet
        std::pmr::deque<Stage> stages;            ///< those of by_tiles that no other series has, each once
        std::optional<unsigned> min_tiles;
        /// By k factors and the most n x p factors beside them, which are the same for many numbers of tiles.
        ByNumbers<Choice>& splits;
    };

    Series& series(const StageQuery& query);
    const Stage& best(Series& known, const StageQuery& query, unsigned tiles) {
        const Stage* const stage = tiles < known.by_tiles.size() ? known.by_tiles[tiles] : nullptr;
        return stage ? *stage : find_best(known, query, tiles);
    }
    const Stage& find_best(Series& known, const StageQuery& query, unsigned tiles);
    unsigned min_tiles(Series& known, const StageQuery& query);
    const Choice& best_split(Series& known, const StageQuery& query, unsigned k_factor, unsigned factors);
    /// Calls visit(cut) for n and p factors beside `k_factor`, those that differ in block size.
    template <class Visit>
    void for_each_cut(const StageQuery& query, unsigned factors, Visit&& visit) const;
    const TimedCuts& quickest_splits(ClassTimes& known, const StageQuery& query, unsigned k_factor, unsigned factors);
    /// What a micro-batch takes with a cut, without OwnReads; infinite for one that is not worth a try, since not even
    /// the fewest slots fit.
    double cut_cycles(const ClassTimes& known, const StageQuery& query, unsigned k_factor, const Partition& cut);
    const SlicedCuts& quickest_cuts(ClassTimes& known, const StageQuery& query, unsigned tiles);
    ClassTimes& class_times(int op, std::uint32_t unit_samples, unsigned decided);
    /// Null where a cut's times depend on more: tiles read from HBM for themselves, or there are fewer slots than
    /// fewest_slots().
    ClassTimes* times_of_cuts(const StageQuery& query);
    /// The fewest slots that a segment gives its operators.
    BufferSlots fewest_slots(int op, std::uint32_t unit_samples) const;
    static std::uint64_t cut_key(unsigned k_factor, const Partition& cut) {
        return std::uint64_t{k_factor} << 32 | std::uint64_t{cut.n} << 16 | cut.p;
    }
    static std::uint64_t split_key(unsigned k_factor, unsigned factors) {
        return std::uint64_t{k_factor} << 32 | factors;
    }
    const Stage& search(Series& known, const StageQuery& query, unsigned tiles);
    /// Whether best() fits, without looking for it.
    bool fits(const Series& known, const StageQuery& query, unsigned tiles);
    /// Calls visit(k_factor) for the k factors that are worth a try on a number of tiles.
    template <class Visit>
    void for_each_k_factor(const StageQuery& query, unsigned tiles, Visit&& visit) const;
    /// Of n and p factors beside `k_factor`; with more, no block gets smaller.
    unsigned useful_factors(const StageQuery& query, unsigned tiles, unsigned k_factor) const;
    /// unit_samples; of BufferSlots out, decided_switches, reads.inputs, reads.weight_units; weight_copies, sharers.
    using Conditions =
        std::tuple<std::uint32_t, std::uint16_t, unsigned, std::uint64_t, std::uint32_t, unsigned, unsigned>;
    /// An operator is mostly asked for under the same few conditions again.
    static constexpr std::size_t kRecent = 8;
    struct Recent {
        Conditions rest;
        BufferSlots::Inputs in_slots;
        Series* series = nullptr;
    };
    /// Its weights, by themselves, fit with these k factors.
    bool weights_fit(const StageQuery& query, unsigned k_factor) const;
    /// Its bytes, by themselves, fit in this cut.
    bool bytes_fit(const StageQuery& query, unsigned k_factor, const Partition& largest) const;
    unsigned search_tiles_bound(const StageQuery& query) const;

    /// Samples for which the kernel of a batch with the expected samples lays out a unit of `unit_samples`.
    std::uint16_t laid_out(int op, std::uint16_t unit_samples) const;

    const Workload& workload_;
    HardwareDescription hardware_;
    Invocation invocation_;
    std::vector<int> class_;                            ///< by operator, as is the next one
    std::vector<TileWork> sample_work_;                 ///< one sample on one tile
    std::vector<std::vector<InputBytes>> input_bytes_;  ///< by source
    struct SeriesKey {
        int of_class = 0;
        Conditions conditions;
        BufferSlots::Inputs in_slots;
        bool operator==(const SeriesKey& o) const {
            return of_class == o.of_class && conditions == o.conditions && in_slots == o.in_slots;
        }
    };
    struct SeriesHash {
        std::size_t operator()(const SeriesKey& key) const;
    };
    std::pmr::monotonic_buffer_resource memory_;  ///< of what is known, which is never forgotten
    std::pmr::unordered_map<SeriesKey, Series, SeriesHash> series_{&memory_};
    /// Class, unit_samples, decided_switches.
    using TimesKey = std::array<std::uint32_t, 3>;
    using TimesByKey = std::pmr::unordered_map<TimesKey, ClassTimes, boost::hash<TimesKey>>;
    TimesByKey& class_times_ = create_in<TimesByKey>(&memory_);
    std::pair<TimesKey, ClassTimes*> recent_times_{};  ///< what was asked for last
    std::vector<Recent> recent_;                       ///< by operator, kRecent of each
    /// cycles_on_one_tile() by unit_samples and operator; 0: not known yet.
    using ByUnit = std::map<std::uint32_t, std::vector<double>>;
    ByUnit on_one_tile_;
    ByUnit::value_type* recent_on_one_tile_ = nullptr;  ///< what was asked for last
    /// By class; 0: not known yet.
    struct TileBounds {
        std::uint32_t unit_samples;
        unsigned weight_copies, sharers;
        std::vector<unsigned> by_class;
    };
    std::vector<TileBounds> tile_bounds_;
    std::size_t recent_bound_ = 0;  ///< of tile_bounds_, what was asked for last
    /// row_passes(), by its arguments.
    ByNumbers<std::uint32_t>& passes_ = create_in<ByNumbers<std::uint32_t>>(&memory_);
};

}  // namespace switchyard::sched
