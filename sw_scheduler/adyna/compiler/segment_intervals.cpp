// SPDX-License-Identifier: Apache-2.0
// Segmenter::Bounds: the higher bound of a trial's interval between units.

#include <algorithm>
#include <cmath>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_setups.h"

namespace switchyard::sched {

namespace {

constexpr double kIntervalStep = 1.06;  ///< of a search for an interval, at first

/// The longest interval that is known to be too short, within 3 % of one that is not. `least` is too short. `enough`:
/// where to begin; from there on in growing steps. kNever if all are too short.
template <class TooShort>
double just_too_short(const TooShort& too_short, double least, double enough) {
    constexpr double kCloseEnough = 1.03;
    if (too_short(enough)) {
        double step = kIntervalStep;
        for (least = enough, enough *= step; too_short(enough); step *= step) {
            least = enough;
            enough *= step;
            if (enough > 1e15) return kNever;
        }
    } else {
        for (double step = kIntervalStep; enough / step > least; step *= step) {
            if (too_short(enough / step)) {
                least = enough / step;
                break;
            }
            enough /= step;
        }
    }
    while (enough > kCloseEnough * least) {
        const double middle = std::sqrt(least * enough);
        (too_short(middle) ? least : enough) = middle;
    }
    return least;
}

}  // namespace

unsigned Segmenter::Bounds::tiles_for(const Times& times, unsigned from, double interval) const {
    const auto quick = [&](unsigned tiles) {
        const Stage& stage = segmenter_.search_.best(times.known, times.query, tiles);
        return stage.fits && times.active * stage.cycles() <= interval;
    };
    for (const SlotWork& slot : times.slots) {  // (latency + work / tiles) / slots is no longer than the interval
        const double time = interval * slot.slots - slot.latency;
        if (time * times.most <= slot.work) return times.most;
        from = std::max(from, static_cast<unsigned>(slot.work / time));
    }
    from = std::min(std::max(from, times.least), times.most);
    if (!times.never_slower) {
        while (from < times.most && !quick(from)) ++from;
        return from;
    }
    if (from >= times.most || quick(from)) return from;
    unsigned slow = from, step = 1;
    while (slow + step < times.most && !quick(slow + step)) {
        slow += step;
        step *= 2;
    }
    unsigned enough = std::min(slow + step, times.most);
    while (enough - slow > 1) {
        const unsigned middle = slow + (enough - slow) / 2;
        (quick(middle) ? enough : slow) = middle;
    }
    return enough;
}

double Segmenter::Bounds::stepped_interval(std::size_t size, const Trial& trial, const Buffers& buffers, double least) {
    const std::vector<Share>& own = own_[size];
    const std::size_t copies = trial.weight_copies - 1;
    times_.clear();
    double rest = 0;  // tiles at least of those that are left out, times the interval
    unsigned fewest = 0;
    for (const Share& share : own) {
        const Operator& one = workload_.graph.operators[static_cast<std::size_t>(share.op)];
        if (one.shape.kind == OpKind::attention || one.shape.joined > 1) {  // need not fit on more tiles
            rest += share.work;
            fewest += share.tiles[copies];
            continue;
        }
        const auto i = static_cast<std::size_t>(share.op - first_);
        const BufferSlots& slots = buffers.slots[i];
        const StageQuery query{share.op, trial.unit_samples, slots, trial.weight_copies, 1};
        // With all samples in every unit nothing takes longer where blocks shrink. A unit with fewer samples may be cut
        // like a whole one though another cut is a little faster.
        Times& times =
            times_.emplace_back(Times{query,
                                      segmenter_.search_.known(query),
                                      workload_.share_on(share.op, slots.decided_switches),
                                      share.work,
                                      {},
                                      share.tiles[copies],
                                      workload_.items[static_cast<std::size_t>(share.op)].expected_share == 1,
                                      0,
                                      segmenter_.tiles_ + 1});
        const SlotTimes& taken = buffers.slot_times[i];
        const Work& work = works_[static_cast<std::size_t>(share.op)];
        for (const SlotTime& in : taken.in)
            times.slots.push_back(
                {times.active * in.latency, share.samples * (work.in + work.compute), double{1} * in.slots});
        times.slots.push_back(
            {times.active * taken.out.latency, share.samples * (work.compute + work.out), double{1} * taken.out.slots});
    }
    for (const Together& together : together_[size]) {
        if (together.operators == 0) continue;
        const Share share = together.share();
        rest += share.work;
        fewest += share.tiles[copies];
    }
    const auto too_short = [&](double interval) {
        double tiles = std::max<double>(fewest, rest / interval);
        std::size_t found = 0;
        for (; found < times_.size() && tiles <= segmenter_.tiles_; ++found) {
            Times& times = times_[found];
            const auto at_least =
                static_cast<unsigned>(std::min<double>(segmenter_.tiles_ + 1.0, times.work / interval));
            times.needed = tiles_for(times, std::max({times.fewest, at_least, 1u}), interval);
            tiles += times.needed;
        }
        const bool too_many = tiles > segmenter_.tiles_;
        for (std::size_t i = 0; i < found; ++i) (too_many ? times_[i].most : times_[i].least) = times_[i].needed;
        return too_many;
    };
    if (least <= 0 || !too_short(least)) return least;
    // Most often it is longer by about as much as it was for another segment.
    return just_too_short(too_short, least, std::max(kIntervalStep, expected_steps_[size]) * least);
}

double Segmenter::Bounds::shortest_interval(std::size_t size, const Trial& trial, Setups& setups) {
    const double least = interval(size, trial.weight_copies);
    if (least == kNever || segmenter_.search_.by_batch() || !segmenter_.search_.hardware().multicast_reads)
        return least;
    const double shortest = stepped_interval(size, trial, setups.buffers(trial), least);
    if (least > 0 && shortest < kNever) expected_steps_[size] = shortest / least;
    return shortest;
}

}  // namespace switchyard::sched
