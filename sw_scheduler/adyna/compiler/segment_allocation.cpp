// SPDX-License-Identifier: Apache-2.0
// Segmenter: how many tiles each tile group of a segment gets.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/allocation.h"
#include "switchyard/sw_scheduler/adyna/compiler/segment_trials.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"

namespace switchyard::sched {

StageQuery Segmenter::query(const SegmentPlan& plan, std::size_t i, unsigned weight_copies, std::size_t sharers) {
    return {plan.first + static_cast<int>(i), plan.unit_samples, plan.slots[i], weight_copies,
            static_cast<unsigned>(sharers)};
}

/// The best stages of a plan's tile groups on any number of tiles. What does not depend on the number is looked up
/// once: the plan keeps its slots.
class Segmenter::TileOptions {
public:
    TileOptions(Segmenter& segmenter, const SegmentPlan& plan, unsigned weight_copies)
        : segmenter_(segmenter),
          plan_(plan),
          copies_(weight_copies),
          known_(plan.slots.size()),
          turns_(plan.tile_groups.size()),
          last_(plan.tile_groups.size()) {
        for (std::size_t l = 0; l < plan.tile_groups.size(); ++l) {
            const TileGroup& tile_group = plan.tile_groups[l];
            turns_[l] = segmenter.turns(plan, tile_group);
            for (const std::size_t i : tile_group) {
                known_[i] = segmenter.search_.known(query(plan, i, copies_, tile_group.size()));
            }
        }
    }

    /// On which all members of the tile group fit, or 0.
    unsigned min_tiles(std::size_t tile_group) {
        const TileGroup& members = plan_.tile_groups[tile_group];
        unsigned max = 0;
        for (const std::size_t i : members) {
            const unsigned tiles = segmenter_.search_.min_tiles(known_[i], query(plan_, i, copies_, members.size()));
            if (tiles == 0) return 0;
            max = std::max(max, tiles);
        }
        return max;
    }
    double initiation_interval(std::size_t tile_group, unsigned tiles) {
        const TileGroup& members = plan_.tile_groups[tile_group];
        if (members.size() > 1) {
            const StageList& all = stages(tile_group, tiles);
            return Segmenter::initiation_interval(turns_[tile_group], plan_.slot_times, members, all);
        }
        Last& last = last_[tile_group];  // a tile more or less mostly leaves the stage as it is
        const Stage& stage = this->stage(members.front(), 1, tiles);
        if (last.stage != &stage)
            last = {&stage,
                    Segmenter::initiation_interval(plan_.slot_times[members.front()], stage, stage.compute_cycles)};
        return last.interval;
    }
    /// Gives the tile groups of `plan`, the one from the constructor, these tiles. False if something does not fit.
    bool take(SegmentPlan& plan, const std::vector<unsigned>& tiles) {
        plan.tiles.resize(plan.slots.size());
        plan.stages.resize(plan.slots.size());
        for (std::size_t l = 0; l < plan.tile_groups.size(); ++l) {
            const TileGroup& members = plan.tile_groups[l];
            for (const std::size_t i : members) {
                plan.tiles[i] = tiles[l];
                plan.stages[i] = stage(i, members.size(), tiles[l]);
                if (!plan.stages[i].fits) return false;
            }
        }
        return true;
    }
    double compute_cycles(std::size_t tile_group, unsigned tiles) {
        double sum = 0;
        for (const Stage* stage : stages(tile_group, tiles)) sum += stage->compute_cycles;
        return sum;
    }

private:
    /// Valid until it is called again.
    const StageList& stages(std::size_t tile_group, unsigned tiles) {
        const TileGroup& members = plan_.tile_groups[tile_group];
        stages_.clear();
        for (const std::size_t i : members) stages_.push_back(&stage(i, members.size(), tiles));
        return stages_;
    }
    const Stage& stage(std::size_t i, std::size_t sharers, unsigned tiles) {
        return segmenter_.search_.best(known_[i], query(plan_, i, copies_, sharers), tiles);
    }

    /// Of a tile group with one member, the stage that was asked for last.
    struct Last {
        const Stage* stage = nullptr;
        double interval = 0;
    };
    Segmenter& segmenter_;
    const SegmentPlan& plan_;
    unsigned copies_;
    std::vector<StageSearch::Known> known_;  ///< by operator
    std::vector<Turns> turns_;               ///< by tile group, as is the next one
    std::vector<Last> last_;
    StageList stages_;
};

std::vector<unsigned> Segmenter::allocate(const SegmentPlan& plan, TileOptions& options) {
    std::vector<unsigned> min(plan.tile_groups.size());
    std::vector<double> loads(min.size(), 0);
    unsigned sum = 0;
    for (std::size_t l = 0; l < min.size(); ++l) {
        min[l] = options.min_tiles(l);
        if (min[l] == 0 || (sum += min[l]) > tiles_) return {};
        for (const std::size_t i : plan.tile_groups[l])
            loads[l] += search_.workload().load(plan.first + static_cast<int>(i));
    }
    std::vector<unsigned> tiles = allocate_proportional(tiles_, loads, min);
    refine(tiles, min, [&options](std::size_t l, unsigned count) { return options.initiation_interval(l, count); });
    return tiles;
}

bool Segmenter::allocate(SegmentPlan& plan, const Trial& trial, std::size_t number) {
    std::vector<unsigned>* known = nullptr;
    if (shared_ && trial.weight_copies > 1) {  // with one copy only one of them tries it
        const auto [place, added] =
            shared_->tiles.try_emplace({trial.first, trial.last, trial.unit_samples, trial.order, number});
        if (!added) return take(plan, place->second, trial.weight_copies);
        known = &place->second;
    }
    TileOptions options(*this, plan, trial.weight_copies);
    std::vector<unsigned> tiles = allocate(plan, options);
    const bool fits = !tiles.empty() && options.take(plan, tiles);
    if (known) *known = std::move(tiles);
    return fits;
}

bool Segmenter::take(SegmentPlan& plan, const TileGroup& tile_group, unsigned tiles, unsigned weight_copies) {
    bool fits = true;
    for (const std::size_t i : tile_group) {
        plan.tiles[i] = tiles;
        plan.stages[i] = search_.best(query(plan, i, weight_copies, tile_group.size()), tiles);
        fits &= plan.stages[i].fits;
    }
    return fits;
}

bool Segmenter::take(SegmentPlan& plan, const std::vector<unsigned>& tiles, unsigned weight_copies) {
    if (tiles.empty()) return false;
    plan.tiles.resize(plan.slots.size());
    plan.stages.resize(plan.slots.size());
    for (std::size_t l = 0; l < plan.tile_groups.size(); ++l) {
        if (!take(plan, plan.tile_groups[l], tiles[l], weight_copies)) return false;
    }
    return true;
}

std::optional<SegmentPlan> Segmenter::with_tiles(SegmentPlan plan, const std::vector<unsigned>& tiles) {
    if (!take(plan, tiles, plan.prefetchable ? 2 : 1)) return std::nullopt;
    add_all_cycles(plan);
    return plan;
}

namespace {

/// Of the tile groups, kTried are tried as those that get tiles, and for each of them as those that give them.
constexpr std::size_t kTried = 6;

/// Those with the smallest values.
template <class Value>
std::vector<std::size_t> min(const std::vector<std::size_t>& tile_groups, std::size_t count, Value&& value) {
    std::vector<std::pair<double, std::size_t>> by_value;
    by_value.reserve(tile_groups.size());
    for (const std::size_t l : tile_groups) by_value.emplace_back(value(l), l);
    std::stable_sort(by_value.begin(), by_value.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (by_value.size() > count) by_value.resize(count);
    std::vector<std::size_t> result;
    result.reserve(by_value.size());
    for (const auto& one : by_value) result.push_back(one.second);
    return result;
}

}  // namespace

/// Tiles by tile group while a plan is improved.
class Segmenter::TileExchange {
public:
    TileExchange(Segmenter& segmenter, SegmentPlan& plan)
        : segmenter_(segmenter),
          plan_(plan),
          packets_(segmenter.packets(plan)),
          copies_(plan.prefetchable ? 2 : 1),
          options_(segmenter, plan, copies_),
          free_(segmenter.tiles_) {
        for (std::size_t l = 0; l < plan.tile_groups.size(); ++l) {
            all_.push_back(l);
            given_.push_back(plan.tiles[plan.tile_groups[l].front()]);
            min_.push_back(options_.min_tiles(l));
            free_ -= given_.back();
        }
    }

    /// Makes the best of the exchanges that it tries; false if none makes the segment faster.
    bool step() {
        constexpr double kWorthwhile = 1 - 1e-6;
        const double before = plan_.cycles;
        double fewest = before * kWorthwhile;
        std::vector<Change> best;
        for (const std::size_t to : receivers()) {
            for (std::vector<Change>& changes : exchanges(to)) {
                const double cycles = cycles_with(changes, fewest);
                if (cycles >= fewest) continue;
                fewest = cycles;
                best = std::move(changes);
            }
        }
        if (best.empty()) return false;
        apply(best);
        segmenter_.add_all_cycles(plan_);
        for (const Change& change : best) {
            free_ += given_[change.tile_group] - change.tiles;
            given_[change.tile_group] = change.tiles;
        }
        return true;
    }

private:
    struct Change {
        std::size_t tile_group;
        unsigned tiles;
    };

    /// The slowest, which the others wait for, and those that the first unit waits for longest.
    std::vector<std::size_t> receivers() {
        std::vector<std::size_t> tile_groups =
            min(all_, kTried / 2, [&](std::size_t l) { return -options_.initiation_interval(l, given_[l]); });
        const auto negative_compute = [&](std::size_t l) { return -options_.compute_cycles(l, given_[l]); };
        for (const std::size_t l : min(all_, kTried / 2, negative_compute)) {
            if (std::find(tile_groups.begin(), tile_groups.end(), l) == tile_groups.end()) tile_groups.push_back(l);
        }
        return tile_groups;
    }

    /// Tiles more with which the tile group gets faster, or 0.
    unsigned next_step(std::size_t tile_group) {
        constexpr unsigned kFarthest = 8;
        const double now = options_.initiation_interval(tile_group, given_[tile_group]),
                     computes = options_.compute_cycles(tile_group, given_[tile_group]);
        for (unsigned more = 1; more <= kFarthest && given_[tile_group] + more <= segmenter_.tiles_; ++more) {
            if (options_.initiation_interval(tile_group, given_[tile_group] + more) < now ||
                options_.compute_cycles(tile_group, given_[tile_group] + more) < computes)
                return more;
        }
        return 0;
    }

    /// Candidates for the tiles with which `to` gets faster: free ones, those of one other tile group, one each of
    /// several.
    std::vector<std::vector<Change>> exchanges(std::size_t to) {
        const unsigned more = next_step(to);
        if (more == 0) return {};
        const Change gets{to, given_[to] + more};
        if (more <= free_) return {{gets}};
        const unsigned missing = more - free_;
        const auto able = [&](unsigned tiles) {
            std::vector<std::size_t> tile_groups;
            for (const std::size_t l : all_) {
                if (l != to && given_[l] >= min_[l] + tiles) tile_groups.push_back(l);
            }
            return tile_groups;
        };
        const auto donors = [&](unsigned tiles, std::size_t count) {
            const auto without = [&](std::size_t l) { return options_.initiation_interval(l, given_[l] - tiles); };
            return min(able(tiles), count, without);
        };
        std::vector<std::vector<Change>> result;
        for (const std::size_t from : donors(missing, kTried)) result.push_back({gets, {from, given_[from] - missing}});
        if (missing > 1) {
            std::vector<Change> together{gets};
            for (const std::size_t from : donors(1, missing)) together.push_back({from, given_[from] - 1});
            if (together.size() == missing + 1) result.push_back(std::move(together));
        }
        return result;
    }

    bool apply(const std::vector<Change>& changes) {
        bool fits = true;
        for (const Change& change : changes)
            fits &= segmenter_.take(plan_, plan_.tile_groups[change.tile_group], change.tiles, copies_);
        return fits;
    }

    /// Infinite if something does not fit, or if packets become more.
    double cycles_with(const std::vector<Change>& changes, double limit) {
        std::vector<std::pair<std::size_t, Stage>> before;
        for (const Change& change : changes) {
            for (const std::size_t i : plan_.tile_groups[change.tile_group]) before.emplace_back(i, plan_.stages[i]);
        }
        double cycles = std::numeric_limits<double>::infinity();
        if (apply(changes)) {
            segmenter_.add_all_cycles(plan_);
            if (plan_.cycles < limit && segmenter_.packets(plan_) <= packets_) cycles = plan_.cycles;
        }
        for (auto& [i, stage] : before) plan_.stages[i] = std::move(stage);
        for (const Change& change : changes) {
            for (const std::size_t i : plan_.tile_groups[change.tile_group]) plan_.tiles[i] = given_[change.tile_group];
        }
        return cycles;
    }

    Segmenter& segmenter_;
    SegmentPlan& plan_;
    std::uint64_t packets_;  ///< of the plan to begin with
    unsigned copies_;
    TileOptions options_;
    unsigned free_;
    std::vector<std::size_t> all_;
    std::vector<unsigned> given_, min_;
};

void Segmenter::improve(SegmentPlan& plan) {
    add_all_cycles(plan);
    SegmentPlan better = plan;
    TileExchange exchange(*this, better);
    while (exchange.step()) {
    }
    add_all_cycles(better);
    if (better.cycles <= margins_.exchanged * plan.cycles) plan = std::move(better);
}

}  // namespace switchyard::sched
