// SPDX-License-Identifier: Apache-2.0
// Not part of the interface of the compiler: what Segmenter leaves out.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

namespace switchyard::sched {

/// Lower bounds of what Segmenter::segment() costs, in cycles, found without tiles or tile groups. They follow from the
/// formulas of segment_costs.cpp:
/// - An operator with w cycles of work for a unit takes w / t or more on t tiles, and it needs the fewest tiles on
///   which it fits. Tile groups have the chip's tiles together, so the interval between units is not below the one for
///   which the tiles that all of them need are as many as there are.
/// - A unit passes one operator after another. On operators with the works w1, w2, ... and the tiles t1, t2, ... that
///   takes w1 / t1 + w2 / t2 + ..., which is at least (sqrt(w1) + sqrt(w2) + ...)^2 / tiles (Cauchy and Schwarz).
/// - Tensors and weights pass the HBM.
/// Those of a trial also take its slots, and partitions over whole numbers of tiles.
class Segmenter::Bounds {
public:
    explicit Bounds(Segmenter& segmenter);

    /// An empty segment in front of operator `first`, which add() makes longer by an operator.
    void begin(int first);
    /// The same, but add() looks at the micro-batch with this number alone.
    void begin(int first, std::size_t size);
    void add();
    int last() const { return last_; }
    /// What is known of a segment before its trials are looked at one by one.
    struct Segment {
        int first, last;
        double weights, operands;  ///< bytes
        struct Size {
            double fill;                   ///< cycles of the first unit
            std::array<double, 2> cycles;  ///< by copies of the weights - 1; infinite if it cannot fit or is not tried
        };
        std::vector<Size> sizes;  ///< by micro-batch, as the segmenter's unit_sizes_
        /// Of the best; infinite if none can fit.
        double cycles() const;
    };
    Segment segment() const;
    /// The same of operators [first, last).
    Segment segment(int first, int last);
    /// Cycles between units, at least, of a trial of this segment: with the times that operators have on whole numbers
    /// of tiles, and the time that slots are taken. Infinite if it cannot fit; more copies of the weights never need
    /// less.
    double shortest_interval(std::size_t size, const Trial& trial, Setups& setups);
    /// Of the weights, with which a segment is tried.
    unsigned fewest_copies(int first, int last) const;
    /// Of a segment, at least, with a known interval.
    double cycles(const Segment& segment, std::size_t size, unsigned weight_copies, double shortest_interval) const;
    /// Whether a micro-batch may fit, with more operators as well.
    bool may_fit() const;

private:
    /// Along the way that takes a unit longest.
    struct Way {
        double root = 0;     ///< sum of the square roots of the operators' works
        double latency = 0;  ///< of transfers
    };
    /// Of an operator, for a sample, summed over tiles.
    struct Work {
        double compute = 0, in = 0, out = 0;  ///< cycles, the last two on tiles' links
        double slowest() const { return std::max({compute, in, out}); }
    };
    struct Unit {
        double expected = 0, usual = 0;   ///< samples; if no branch is decided
        double rarest = 0;                ///< of its branch, of the operator that the fewest reach
        bool own_tiles = true;            ///< however tiles are grouped
        std::array<unsigned, 2> tiles{};  ///< at least, by copies of the weights - 1
    };
    /// What takes tiles: an operator that shares them with none, or those operators behind a switch that have as many
    /// others before them on their branches, of which some may share tiles.
    struct Share {
        int op = 0;          ///< of the first kind, as is the next
        double samples = 0;  ///< of a unit
        double work = 0;
        std::array<unsigned, 2> tiles{};  ///< at least, by copies of the weights - 1
    };
    /// The second kind, for a unit size.
    struct Together {
        unsigned operators = 0;
        double work = 0, rarest = 1;  ///< samples of the operator with the fewest
        std::array<unsigned, 2> most{}, fewest{};
        bool in_turn = false;  ///< all of them may be in one tile group
        Share share() const;
    };
    /// Of an operator on a branch.
    struct Position {
        std::size_t branch = 0;
        std::size_t first_place = 0;  ///< of at_places_: for the first operators on the branches of its switch
    };
    /// A number that counts while the segment with this number is looked at.
    struct InSegment {
        std::size_t segment = 0, number = 0;
    };
    void look_up_works();
    void look_up_units();
    void look_up_stores();
    void look_up_positions();
    /// Number among together_ of an operator on a branch that comes next in the segment.
    std::size_t place_behind_switch(int op);
    /// Cycles between units, at least; infinite if it does not fit.
    double interval(std::size_t size, unsigned weight_copies) const;
    /// The same from `least` on, with whole numbers of tiles.
    double stepped_interval(std::size_t size, const Trial& trial, const Buffers& buffers, double least);
    /// How long an operator's slots of a buffer are taken: a latency, and work that its tiles share.
    struct SlotWork {
        double latency, work, slots;
    };
    /// An operator's times on numbers of tiles, under the same conditions.
    struct Times {
        StageQuery query;
        StageSearch::Known known;
        double active = 1;  ///< share of the units that bring it samples
        double work = 0;    ///< as Share
        boost::container::small_vector<SlotWork, 3> slots;
        unsigned fewest = 1;
        bool never_slower = false;  ///< on more tiles
        /// Tiles for the shortest interval that has been long enough for all, and for the longest that has not: what an
        /// interval in between needs lies in between.
        unsigned least = 0, most = 0;
        unsigned needed = 0;  ///< for the interval that was asked for last
    };
    /// On which `times` are no longer than an interval, from `from` on; more than there are if there are none.
    unsigned tiles_for(const Times& times, unsigned from, double interval) const;
    const Unit& unit(int op, std::size_t size) const {
        return units_[static_cast<std::size_t>(op) * segmenter_.unit_sizes_.size() + size];
    }
    Way& way(int op, std::size_t size) {
        return ways_[static_cast<std::size_t>(op) * segmenter_.unit_sizes_.size() + size];
    }

    Segmenter& segmenter_;
    const Workload& workload_;
    std::vector<Work> works_;                                  ///< by operator
    std::vector<std::vector<double>> operand_bytes_;           ///< by operator and source, of a batch
    std::vector<int> outer_gate_;                              ///< of the outermost branch; beyond all without one
    std::vector<Unit> units_;                                  ///< by operator and unit size
    std::vector<std::vector<std::pair<int, double>>> stores_;  ///< by a segment's end: operators, the last first
    std::vector<Position> positions_;                          ///< by operator
    // Of the segment.
    int first_ = 0, last_ = 0;
    std::size_t first_size_ = 0, last_size_ = 0;  ///< micro-batches that add() looks at
    double weights_ = 0, operands_ = 0;           ///< bytes
    std::vector<Way> ways_;                       ///< as units_
    std::vector<double> fill_;                    ///< by unit size
    std::vector<std::vector<Share>> own_;
    std::vector<std::vector<Together>> together_;  ///< by unit size and place
    std::size_t segments_ = 0, places_ = 0;        ///< begun until now; places of this one
    std::vector<InSegment> on_branches_;           ///< by branch: operators before
    std::vector<InSegment> at_places_;             ///< behind switches: numbers in together_
    mutable std::vector<Share> shares_;            ///< of interval()
    std::vector<Times> times_;                     ///< of stepped_interval()
    std::vector<double> expected_steps_;           ///< by unit size: by how much it was longer last
};

}  // namespace switchyard::sched
