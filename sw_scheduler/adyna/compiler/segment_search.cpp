// SPDX-License-Identifier: Apache-2.0
// Segmenter: which segments a network is cut into.

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_setups.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_trials.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

bool Segmenter::surely_fits(const Trial& trial, Setups& setups) {
    if (!may_fit(trial, *setups.tile_groups(trial, 0))) return false;
    const std::vector<BufferSlots>& all_slots = setups.buffers(trial).slots;
    unsigned sum = 0;
    for (int op = trial.first; op < trial.last; ++op) {
        const OperatorShape& shape = search_.workload().graph.operators[static_cast<std::size_t>(op)].shape;
        if (shape.kind == OpKind::attention || shape.joined > 1) return false;
        const BufferSlots& slots = all_slots[static_cast<std::size_t>(op - trial.first)];
        const unsigned tiles = search_.min_tiles({op, trial.unit_samples, slots, trial.weight_copies});
        if (tiles == 0 || (sum += tiles) > tiles_) return false;
    }
    return true;
}

bool Segmenter::has_plan(int first, int last) {
    Setups setups(*this, first, last);
    return has_plan(first, last, setups);
}

bool Segmenter::has_plan(int first, int last, Setups& setups) {
    if (refused(first, last)) return false;
    const std::vector<unsigned> all_copies = copies_tried(first, last);
    for (auto size = unit_sizes_.rbegin(); size != unit_sizes_.rend(); ++size) {  // small ones fit where large ones do
        for (const std::vector<int>& order : orders_tried(first, last, *size)) {
            if (surely_fits({first, last, *size, all_copies.back(), order}, setups)) return true;
            for (auto copies = all_copies.rbegin(); copies != all_copies.rend(); ++copies)
                if (fits({first, last, *size, *copies, order}, setups)) return true;
        }
    }
    return false;
}

bool Segmenter::fits(int first, int last) {
    if (!grouping_ && last - first > static_cast<int>(tiles_)) return false;
    Setups setups(*this, first, last);
    return fits({first, last, unit_sizes_.back(), 1, {}}, setups);
}

/// The cheapest path from the first operator to the last in a graph whose edges are segments: to one cut after another,
/// as in a dynamic programme over all plans. An edge to the cut costs its lower bound until it is the last of the
/// cheapest path there. Then the bound is raised, trial by trial, until the edge costs what the segment's plan does or
/// is on the cheapest path no more. Of paths that cost the same the one with the longest last segment is taken.
class Segmenter::PathSearch {
public:
    explicit PathSearch(Segmenter& segmenter)
        : segmenter_(segmenter),
          count_(static_cast<int>(segmenter.search_.workload().items.size())),
          edges_(static_cast<std::size_t>(count_) + 1),
          nodes_(edges_.size()),
          known_(edges_.size()) {}

    /// Begins of the segments and the end of the last one; empty if there is no way.
    std::vector<int> cuts() {
        nodes_[0].cycles = 0;
        for (int at = 0; at < count_; ++at) {
            if (nodes_[index(at)].cycles < kNever) add_edges(at);
            open_.clear();
            for (;;) {
                relax(at + 1);
                if (nodes_[index(at + 1)].cycles == kNever || cheapest(at + 1).state == State::planned) break;
                raise(cheapest(at + 1).first, at + 1);
            }
            edges_[index(at + 1)].clear();
            edges_[index(at + 1)].shrink_to_fit();
        }
        if (nodes_[index(count_)].cycles == kNever) return {};
        std::vector<int> way{count_};
        while (way.back() > 0) way.push_back(nodes_[index(way.back())].first);
        return {way.rbegin(), way.rend()};
    }

private:
    /// What an edge costs.
    enum class State : std::uint8_t { bounded, open, planned };
    /// A segment that ends at a cut.
    struct Edge {
        int first;
        double cycles;
        State state;
        Bounds::Segment segment;
    };
    /// A cut, and the cheapest path to it.
    struct Node {
        double cycles = kNever;
        std::size_t edge = 0;  ///< its last segment,
        int first = 0;         ///< which begins there
    };
    /// Of the segments that begin at an operator.
    struct Known {
        int checked = 0;  ///< ends up to here have been asked for a plan
        bool fitted = false;
    };
    static std::size_t index(int cut) { return static_cast<std::size_t>(cut); }
    Edge& cheapest(int last) { return edges_[index(last)][nodes_[index(last)].edge]; }

    /// The segments that begin at `first`, whose cheapest path is known.
    void add_edges(int first) {
        known_[index(first)].checked = first;
        Bounds& bounds = segmenter_.bounds();
        bounds.begin(first);
        while (bounds.last() < count_) {
            bounds.add();
            if (!segmenter_.may_cut(bounds.last())) continue;
            Bounds::Segment segment = bounds.segment();
            const double cycles = segment.cycles();
            if (cycles == kNever && !bounds.may_fit()) break;
            if (cycles == kNever) continue;
            edges_[index(bounds.last())].push_back({first, cycles, State::bounded, std::move(segment)});
        }
    }

    void relax(int last) {
        Node& node = nodes_[index(last)] = {};
        const std::vector<Edge>& edges = edges_[index(last)];
        for (std::size_t e = 0; e < edges.size(); ++e) {
            const double cycles = nodes_[index(edges[e].first)].cycles + edges[e].cycles;
            if (cycles < node.cycles) node = {cycles, e, edges[e].first};
        }
    }

    /// Makes the cheapest path to a cut, whose last segment begins at `first` and has no plan yet, more expensive, or
    /// that segment planned.
    void raise(int first, int last) {
        Edge& edge = cheapest(last);
        if (edge.state == State::bounded) {
            Trials& trials = open_.try_emplace(first, segmenter_, edge.segment).first->second;
            trials.raise_bounds();
            edge.state = State::open;
            edge.cycles = std::max(edge.cycles, trials.cycles());
            return;
        }
        Known& known = known_[index(first)];
        while (known.checked < last) {
            const int next = known.checked + 1;
            if (segmenter_.may_cut(next)) {
                // More operators need more room: behind an end that does not fit there is none.
                const bool beyond = known.fitted && !segmenter_.pipelining_;
                const bool fits = !beyond && (next == last ? segmenter_.has_plan(first, last, open_.at(first).setups())
                                                           : segmenter_.has_plan(first, next));
                if (known.fitted && !fits) {
                    remove(first, next);
                    return;
                }
                known.fitted |= fits;
            }
            known.checked = next;
        }
        Trials& trials = open_.at(first);
        if (trials.cheapest_planned()) {
            edge.state = State::planned;
            edge.cycles = trials.best_cycles();
            return;
        }
        trials.plan_cheapest();
        trials.raise_bounds();
        edge.cycles = std::max(edge.cycles, trials.cycles());
    }

    /// The segments from `first` that end at `last` or later.
    void remove(int first, int last) {
        for (int at = last; at <= count_; ++at) {
            std::vector<Edge>& edges = edges_[index(at)];
            const auto edge = std::lower_bound(edges.begin(), edges.end(), first,
                                               [](const Edge& one, int value) { return one.first < value; });
            if (edge != edges.end() && edge->first == first) edge->cycles = kNever;
        }
    }

    Segmenter& segmenter_;
    int count_;
    std::vector<std::vector<Edge>> edges_;  ///< by end, the longest first: of cuts behind the one that is looked at
    std::vector<Node> nodes_;               ///< by cut
    std::vector<Known> known_;              ///< by first operator
    std::map<int, Trials> open_;            ///< by first operator: of the segments to the cut that is looked at
};

Segmenter::Bounds& Segmenter::bounds() {
    if (!bounds_) bounds_ = std::make_unique<Bounds>(*this);
    return *bounds_;
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
                fmt::format(
                    "expected at most the {} bytes for data of each of {} tiles, found {} bytes of weights and {} "
                    "bytes of buffers; take more tiles, or raise scratchpad.capacity_bytes",
                    hardware.data_bytes(), tiles_, bytes.weights, bytes.buffers));
        }
        sum += min;
        needs += fmt::format("{}{} ({} tiles)", needs.empty() ? "" : ", ", one.name, min);
    }
    throw Infeasible(work.graph.file, work.graph.operators[first].line, work.graph.operators[first].name,
                     fmt::format("expected at most {} tiles for the operators of the switch, which share a segment, "
                                 "found a need for {} ({}); take more tiles",
                                 tiles_, sum, needs));
}

}  // namespace switchyard::sched
