// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/segment_trials.h"

#include <algorithm>
#include <utility>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"

namespace switchyard::sched {

bool Segmenter::refused(int first, int last) const {
    if (!grouping_ && last - first > static_cast<int>(tiles_)) return true;
    if (!search_.by_batch() || packing_) return false;
    // Which way a batch's samples go is known when the gate has seen them all.
    const std::vector<unsigned> gates = gates_in_front(first, last);
    return std::any_of(gates.begin(), gates.end(), [](unsigned count) { return count > 0; });
}

std::vector<unsigned> Segmenter::copies_tried(int first, int last) const {
    const bool whole_network = first == 0 && last == static_cast<int>(search_.workload().items.size());
    if (whole_network) return {1};                  // nothing follows
    if (weights_ == Weights::resident) return {2};  // those of other segments need room
    return {2, 1};
}

std::vector<std::vector<int>> Segmenter::orders_tried(int first, int last, std::uint32_t unit_samples) const {
    if (is_batch(unit_samples)) return {{}};
    return orders(first, last);
}

Segmenter::Trials::Trials(Segmenter& segmenter, Bounds::Segment segment)
    : segmenter_(segmenter), segment_(std::move(segment)), setups_(segmenter, segment_.first, segment_.last) {
    const int first = segment_.first, last = segment_.last;
    if (segmenter.refused(first, last)) return;
    orders_ = segmenter.orders(first, last);
    const std::vector<unsigned> all_copies = segmenter.copies_tried(first, last);
    const bool bounded = !segment_.sizes.empty();
    for (std::size_t size = 0; size < segmenter.unit_sizes_.size(); ++size) {
        for (const unsigned copies : all_copies) {
            const double cycles = bounded ? segment_.sizes[size].cycles[copies - 1] : 0;
            const std::size_t orders = segmenter.is_batch(segmenter.unit_sizes_[size]) ? 1 : orders_.size();
            for (std::size_t order = 0; order < orders; ++order) {
                all_.push_back({static_cast<std::uint8_t>(size), static_cast<std::uint8_t>(copies),
                                static_cast<std::uint8_t>(order), bounded ? Known::bound : Known::higher_bound,
                                cycles});
            }
        }
    }
}

Segmenter::Trials::Trials(Segmenter& segmenter, int first, int last)
    : Trials(segmenter,
             segmenter.bounds_ ? segmenter.bounds_->segment(first, last) : Bounds::Segment{first, last, 0, 0, {}}) {}

double Segmenter::Trials::cycles() const {
    double least = kNever;
    for (const Attempt& one : all_) least = std::min(least, one.cycles);
    return least;
}

Segmenter::Trials::Attempt* Segmenter::Trials::cheapest() {
    const auto least = std::min_element(all_.begin(), all_.end(),
                                        [](const Attempt& a, const Attempt& b) { return a.cycles < b.cycles; });
    return least == all_.end() || least->cycles == kNever ? nullptr : &*least;
}

bool Segmenter::Trials::cheapest_planned() {
    const Attempt* const one = cheapest();
    return one == nullptr || one->known == Known::plan;
}

Segmenter::Trial Segmenter::Trials::trial(const Attempt& one) const {
    const std::uint32_t unit_samples = segmenter_.unit_sizes_[one.size];
    return {segment_.first, segment_.last, unit_samples, one.copies,
            segmenter_.is_batch(unit_samples) ? std::vector<int>() : orders_[one.order]};
}

double Segmenter::Trials::shortest_interval(const Attempt& one) {
    Bounds& bounds = *segmenter_.bounds_;
    Trial of = trial(one);
    // As good for more copies of the weights, and found once.
    of.weight_copies = segmenter_.shared_ ? 1 : bounds.fewest_copies(segment_.first, segment_.last);
    const auto find = [&] {
        bounds.begin(segment_.first, one.size);
        while (bounds.last() < segment_.last) bounds.add();
        return bounds.shortest_interval(one.size, of, setups_);
    };
    if (!segmenter_.shared_) return find();
    const auto [known, added] =
        segmenter_.shared_->shortest_intervals.try_emplace({of.first, of.last, of.unit_samples, of.order, 0});
    if (added) known->second = find();
    return known->second;
}

void Segmenter::Trials::raise_bound(Attempt& one) {
    const Bounds& bounds = *segmenter_.bounds_;
    const double interval = shortest_interval(one);
    for (Attempt& same : all_) {
        if (same.size != one.size || same.order != one.order || same.known != Known::bound) continue;
        same.cycles = std::max(same.cycles, bounds.cycles(segment_, same.size, same.copies, interval));
        same.known = Known::higher_bound;
    }
}

void Segmenter::Trials::raise_bounds() {
    for (Attempt* one = cheapest(); one && one->known == Known::bound; one = cheapest()) raise_bound(*one);
}

std::optional<SegmentPlan> Segmenter::Trials::plan(Attempt& one) {
    std::optional<SegmentPlan> plan = segmenter_.plan(trial(one), setups_);
    one.known = Known::plan;
    one.cycles = plan ? plan->cycles : kNever;
    return plan;
}

void Segmenter::Trials::plan_cheapest() {
    Attempt* const one = cheapest();
    if (one == nullptr) return;
    if (std::optional<SegmentPlan> planned = plan(*one)) segmenter_.spare_ = std::move(*planned);
}

Segmenter::Trials::Attempt* Segmenter::Trials::find_best(std::optional<SegmentPlan>& kept) {
    Attempt* best = nullptr;
    for (Attempt& one : all_) {
        const double share = best == nullptr || best->size == one.size ? 1 : segmenter_.margins_.smaller_units;
        const double limit = best ? share * best->cycles : kNever;
        if (one.known == Known::bound && one.cycles < limit) raise_bound(one);
        std::optional<SegmentPlan> planned;
        if (one.known != Known::plan && one.cycles < limit) planned = plan(one);
        if (one.cycles < limit) {
            best = &one;
            kept.swap(planned);
        }
        if (planned) segmenter_.spare_ = std::move(*planned);
    }
    return best;
}

std::optional<SegmentPlan> Segmenter::Trials::best() {
    std::optional<SegmentPlan> kept;
    Attempt* const best = find_best(kept);
    if (best && !kept) kept = plan(*best);
    return kept;
}

double Segmenter::Trials::best_cycles() {
    std::optional<SegmentPlan> kept;
    const Attempt* const best = find_best(kept);
    if (kept) segmenter_.spare_ = std::move(*kept);
    return best ? best->cycles : kNever;
}

std::optional<SegmentPlan> Segmenter::segment(int first, int last) {
    return Trials(*this, first, last).best();
}

double Segmenter::min_cycles(int first, int last) {
    bounds();
    Trials trials(*this, first, last);
    trials.raise_bounds();
    return trials.cycles();
}

}  // namespace switchyard::sched
