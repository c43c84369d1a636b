// SPDX-License-Identifier: Apache-2.0
// Not part of the interface of the compiler: what Segmenter leaves out.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <boost/functional/hash.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_setups.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

namespace switchyard::sched {

/// What two segmenters have found out of trials, which is the same whatever becomes of the weights.
struct Segmenter::Shared {
    /// First operator, last, unit_samples, order, number of the tile groups.
    using Key = std::tuple<int, int, std::uint32_t, std::vector<int>, std::size_t>;
    /// By tile group, with two copies of the weights; empty if something does not fit.
    std::unordered_map<Key, std::vector<unsigned>, boost::hash<Key>> tiles;
    std::unordered_map<Key, double, boost::hash<Key>> shortest_intervals;  ///< as Bounds finds them; number is 0
};

/// The trials of operators [first, last) as a segment: each with a size of the micro-batch, copies of the weights and
/// an order of the samples. A trial costs a lower bound until it is planned; most never are, because what the segment
/// costs at least is all that somebody asks for.
class Segmenter::Trials {
public:
    /// With the segmenter's bounds, if it has been asked for them; otherwise all bounds are 0.
    Trials(Segmenter& segmenter, int first, int last);
    /// With what is known of the segment.
    Trials(Segmenter& segmenter, Bounds::Segment segment);

    Setups& setups() { return setups_; }
    /// A lower bound of what the segment costs: of its cheapest trial. Infinite if none can fit.
    double cycles() const;
    /// Whether the cheapest trial is planned: nothing but best() makes the bound higher.
    bool cheapest_planned();
    /// Raises the bounds until the cheapest trial's is as high as it gets without a plan.
    void raise_bounds();
    /// Plans the cheapest trial.
    void plan_cheapest();
    /// The segment's plan, as if all trials were planned, largest micro-batches first: a smaller one must promise
    /// Margins::smaller_units.
    std::optional<SegmentPlan> best();
    /// Of that plan; infinite if there is none.
    double best_cycles();

private:
    /// What a trial's cycles are.
    enum class Known : std::uint8_t { bound, higher_bound, plan };
    /// A trial, and what it costs.
    struct Attempt {
        std::uint8_t size;  ///< number among the segmenter's unit_sizes_
        std::uint8_t copies;
        std::uint8_t order;
        Known known;
        double cycles;
    };
    Attempt* cheapest();
    Trial trial(const Attempt& one) const;
    void raise_bound(Attempt& one);
    double shortest_interval(const Attempt& one);
    std::optional<SegmentPlan> plan(Attempt& one);
    /// The trial of the segment's plan, or nullptr; the plan goes to `kept` if it was made for this.
    Attempt* find_best(std::optional<SegmentPlan>& kept);

    Segmenter& segmenter_;
    Bounds::Segment segment_;  ///< no sizes if there are no bounds
    Setups setups_;
    std::vector<std::vector<int>> orders_;
    std::vector<Attempt> all_;
};

}  // namespace switchyard::sched
