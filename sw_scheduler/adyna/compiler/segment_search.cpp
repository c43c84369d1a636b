// SPDX-License-Identifier: Apache-2.0
// Segmenter: which segments a network is cut into.

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"
#include "switchyard/sw_scheduler/base/error.h"

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
    // A batch that is one unit need not be sorted.
    if (unit_samples == search_.workload().graph.batch_samples()) return {{}};
    return orders(first, last);
}

std::optional<SegmentPlan> Segmenter::segment(int first, int last) {
    if (refused(first, last)) return std::nullopt;
    const std::vector<std::vector<int>> sorted = orders(first, last), as_they_are{{}};
    const std::vector<unsigned> all_copies = copies_tried(first, last);
    if (bounds_) bounds_->begin(first);
    while (bounds_ && bounds_->last() < last) bounds_->add();
    std::optional<SegmentPlan> best;
    for (std::size_t i = 0; i < unit_sizes_.size(); ++i) {
        const std::uint32_t size = unit_sizes_[i];
        // A batch that is one unit need not be sorted.
        const std::vector<std::vector<int>>& tried =
            size == search_.workload().graph.batch_samples() ? as_they_are : sorted;
        std::vector<Prepared> prepared(tried.size());
        for (const unsigned copies : all_copies) {
            for (std::size_t o = 0; o < tried.size(); ++o) {
                const bool same_units = best && best->unit_samples == size;
                const double limit = best ? (same_units ? 1 : margins_.smaller_units) * best->cycles : kNever;
                if (best && bounds_ &&
                    (bounds_->cycles(i, copies) >= limit || bounds_->higher_cycles(i, copies, tried[o]) >= limit))
                    continue;
                std::optional<SegmentPlan> candidate = plan({first, last, size, copies, tried[o]}, prepared[o]);
                if (candidate && (!best || candidate->cycles < limit)) best.swap(candidate);
                if (candidate) spare_ = std::move(*candidate);
            }
        }
    }
    return best;
}

bool Segmenter::surely_fits(const Trial& trial, Prepared& prepared) {
    if (!may_fit(trial)) return false;
    prepared.slots = slots_of(trial);
    unsigned sum = 0;
    for (int op = trial.first; op < trial.last; ++op) {
        const OperatorShape& shape = search_.workload().graph.operators[static_cast<std::size_t>(op)].shape;
        if (shape.kind == OpKind::attention || shape.joined > 1) return false;
        const BufferSlots& slots = prepared.slots[static_cast<std::size_t>(op - trial.first)];
        const unsigned tiles = search_.min_tiles({op, trial.unit_samples, slots, trial.weight_copies});
        if (tiles == 0 || (sum += tiles) > tiles_) return false;
    }
    return true;
}

bool Segmenter::has_plan(int first, int last) {
    if (refused(first, last)) return false;
    const std::vector<unsigned> all_copies = copies_tried(first, last);
    for (auto size = unit_sizes_.rbegin(); size != unit_sizes_.rend(); ++size) {  // small ones fit where large ones do
        for (const std::vector<int>& order : orders_tried(first, last, *size)) {
            Prepared prepared;
            if (surely_fits({first, last, *size, all_copies.back(), order}, prepared)) return true;
            for (auto copies = all_copies.rbegin(); copies != all_copies.rend(); ++copies) {
                std::optional<SegmentPlan> found = plan({first, last, *size, *copies, order}, prepared);
                if (!found) continue;
                spare_ = std::move(*found);
                return true;
            }
        }
    }
    return false;
}

bool Segmenter::fits(int first, int last) {
    if (!grouping_ && last - first > static_cast<int>(tiles_)) return false;
    Prepared prepared;
    return plan({first, last, unit_sizes_.back(), 1, {}}, prepared).has_value();
}

/// The cheapest way from the first operator to the last in a graph whose edges are segments. An edge costs its lower
/// bound until it is on the cheapest way; then its plan is made, and what that costs takes the bound's place. Once all
/// edges on the cheapest way have plans, no other way is cheaper. Of ways that cost the same it is the one that a
/// dynamic programme over all plans takes: at each cut from the end the longest segment.
class Segmenter::PathSearch {
public:
    explicit PathSearch(Segmenter& segmenter)
        : segmenter_(segmenter),
          count_(static_cast<int>(segmenter.search_.workload().items.size())),
          edges_(static_cast<std::size_t>(count_) + 1),
          nodes_(edges_.size()),
          known_(edges_.size()),
          raised_(edges_.size()) {
        Bounds& bounds = segmenter_.bounds();
        for (int first = 0; first < count_; ++first) {
            known_[index(first)].checked = first;
            if (!segmenter_.may_cut(first)) continue;
            bounds.begin(first);
            while (bounds.last() < count_) {
                bounds.add();
                if (!bounds.may_fit()) break;
                if (!segmenter_.may_cut(bounds.last())) continue;
                const double cycles = bounds.cycles();
                if (cycles < kNever) edges_[index(bounds.last())].push_back({first, cycles, State::bounded});
            }
        }
    }

    /// Begins of the segments and the end of the last one; empty if there is no way.
    std::vector<int> cuts() {
        nodes_[0].cycles = 0;
        for (int at = 1; at <= count_; ++at) relax(at);
        for (;;) {
            if (nodes_[index(count_)].cycles == kNever) return {};
            std::vector<int> way{count_};
            int open = 0;  // the end of the first segment without a plan
            while (way.back() > 0) {
                const Edge& edge = cheapest(way.back());
                if (edge.state != State::planned) open = way.back();
                way.push_back(edge.first);
            }
            if (open == 0) return {way.rbegin(), way.rend()};
            const int first = cheapest(open).first;
            relax_behind(first, make_plan(first, open));
        }
    }

private:
    /// What an edge costs.
    enum class State : std::uint8_t { bounded, bounded_higher, planned };
    /// A segment that ends at a cut.
    struct Edge {
        int first;
        double cycles;
        State state;
    };
    /// A cut, and the cheapest way to it.
    struct Node {
        double cycles = kNever;
        std::size_t edge = 0;
    };
    /// Of the segments that begin at an operator.
    struct Known {
        int checked = 0;  ///< ends up to here have been asked for a plan
        bool fitted = false;
    };
    static std::size_t index(int cut) { return static_cast<std::size_t>(cut); }
    Edge& cheapest(int last) { return edges_[index(last)][nodes_[index(last)].edge]; }

    void relax(int last) {
        Node& node = nodes_[index(last)] = {};
        const std::vector<Edge>& edges = edges_[index(last)];
        for (std::size_t e = 0; e < edges.size(); ++e) {
            const double cycles = nodes_[index(edges[e].first)].cycles + edges[e].cycles;
            if (cycles < node.cycles) node = {cycles, e};
        }
    }

    /// Relaxes what may have changed when edges from `first` to `last` and to later cuts have become more expensive. A
    /// cut keeps its cheapest way unless this uses such an edge or passes a cut that is reached later than before.
    void relax_behind(int first, int last) {
        std::fill(raised_.begin(), raised_.end(), 0);
        raised_[index(first)] = 1;
        for (int at = last; at <= count_; ++at) {
            const double before = nodes_[index(at)].cycles;
            if (before == kNever || raised_[index(cheapest(at).first)] == 0) continue;
            relax(at);
            raised_[index(at)] = nodes_[index(at)].cycles == before ? 0 : 1;
        }
    }

    /// Returns the first cut whose edges have changed: those from `first`, to larger costs.
    int make_plan(int first, int last) {
        Edge& edge = cheapest(last);
        if (edge.state == State::bounded) {
            edge.state = State::bounded_higher;
            Bounds& bounds = segmenter_.bounds();
            bounds.begin(first);
            while (bounds.last() < last) bounds.add();
            edge.cycles = std::max(edge.cycles, bounds.higher_cycles());
            return last;
        }
        Known& known = known_[index(first)];
        while (known.checked < last) {
            const int next = known.checked + 1;
            if (segmenter_.may_cut(next)) {
                // More operators need more room: behind an end that does not fit there is none.
                const bool beyond = known.fitted && !segmenter_.pipelining_;
                const bool fits = !beyond && segmenter_.has_plan(first, next);
                if (known.fitted && !fits) return remove(first, next);
                known.fitted |= fits;
            }
            known.checked = next;
        }
        edge.state = State::planned;
        edge.cycles = kNever;
        if (std::optional<SegmentPlan> plan = segmenter_.segment(first, last)) {
            edge.cycles = plan->cycles;
            segmenter_.spare_ = std::move(*plan);
        }
        return last;
    }

    /// The segments from `first` that end at `last` or later.
    int remove(int first, int last) {
        for (int at = last; at <= count_; ++at) {
            std::vector<Edge>& edges = edges_[index(at)];
            const auto edge = std::lower_bound(edges.begin(), edges.end(), first,
                                               [](const Edge& one, int value) { return one.first < value; });
            if (edge != edges.end() && edge->first == first) edge->cycles = kNever;
        }
        return last;
    }

    Segmenter& segmenter_;
    int count_;
    std::vector<std::vector<Edge>> edges_;  ///< by end, the longest first
    std::vector<Node> nodes_;               ///< by cut
    std::vector<Known> known_;              ///< by first operator
    std::vector<char> raised_;              ///< by cut: whether the cheapest way to it has become longer
};

Segmenter::Bounds& Segmenter::bounds() {
    if (!bounds_) bounds_ = std::make_unique<Bounds>(*this);
    return *bounds_;
}

double Segmenter::min_cycles(int first, int last) {
    bounds().begin(first);
    while (bounds_->last() < last) bounds_->add();
    return bounds_->higher_cycles();
}

std::vector<SegmentPlan> Segmenter::best() {
    std::vector<SegmentPlan> segments = best_or_nothing();
    if (segments.empty()) {
        const int first = stuck();
        int last = first + 1;
        while (!may_cut(last)) ++last;
        fail(first, last);
    }
    return segments;
}

std::vector<SegmentPlan> Segmenter::best_or_nothing() {
    const std::vector<int> cuts = PathSearch(*this).cuts();
    std::vector<SegmentPlan> segments;
    for (std::size_t s = 1; s < cuts.size(); ++s) segments.push_back(segment(cuts[s - 1], cuts[s]).value());
    return segments;
}

int Segmenter::stuck() {
    const int count = static_cast<int>(search_.workload().items.size());
    std::vector<char> reached(static_cast<std::size_t>(count) + 1, 0);
    reached[0] = 1;
    int stuck = 0;
    for (int first = 0; first < count; ++first) {
        if (reached[static_cast<std::size_t>(first)] == 0 || !may_cut(first)) continue;
        stuck = first;
        bool fitted = false;
        for (int last = first + 1; last <= count; ++last) {
            if (!may_cut(last)) continue;
            const bool fits = has_plan(first, last);
            if (fitted && !fits) break;
            fitted |= fits;
            if (fits) reached[static_cast<std::size_t>(last)] = 1;
            if (fits && !pipelining_) break;
        }
    }
    return stuck;
}

void Segmenter::fail(int first, int last) {
    const Workload& work = search_.workload();
    const HardwareDescription& hardware = search_.hardware();
    const std::uint32_t unit = unit_sizes_.back();
    const auto slots = slots_of({first, last, unit, 1, {}});
    unsigned sum = 0;
    std::string needs;
    for (int op = first; op < last; ++op) {
        const Operator& one = work.graph.operators[op];
        const unsigned min = search_.min_tiles({op, unit, slots[op - first]});
        if (min == 0 || min > tiles_) {
            const Footprint bytes = search_.smallest_footprint({op, unit, slots[op - first]}, tiles_);
            throw Infeasible(
                work.graph.file, one.line, one.name,
                fmt::format("does not fit: {} bytes of weights and {} bytes of buffers on each of {} tiles, which have "
                            "{} bytes for data",
                            bytes.weights, bytes.buffers, tiles_, hardware.data_bytes()));
        }
        sum += min;
        needs += fmt::format("{}{} ({} tiles)", needs.empty() ? "" : ", ", one.name, min);
    }
    throw Infeasible(work.graph.file, work.graph.operators[first].line, work.graph.operators[first].name,
                     fmt::format("must share a segment with the switch's other operators, which need {} tiles of {} "
                                 "together: {}",
                                 sum, tiles_, needs));
}

}  // namespace switchyard::sched
