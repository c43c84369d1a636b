// Segmenter: how many tiles each lane of a segment gets.

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/backend/allocation.h"
#include "switchyard/sw_scheduler/backend/segmentation.h"

namespace switchyard::sched {

unsigned Segmenter::least_tiles(const SegmentPlan& plan, const Lane& lane, unsigned weight_copies) {
    unsigned most = 0;
    for (const std::size_t i : lane) {
        const unsigned tiles = search_.least_tiles(plan.first + static_cast<int>(i), plan.unit_samples, plan.slots[i],
                                                   weight_copies, static_cast<unsigned>(lane.size()));
        if (tiles == 0) return 0;
        most = std::max(most, tiles);
    }
    return most;
}

bool Segmenter::allocate(SegmentPlan& plan, unsigned weight_copies) {
    std::vector<unsigned> least;
    std::vector<double> loads;
    unsigned sum = 0;
    for (const Lane& lane : plan.lanes) {
        const unsigned tiles = least_tiles(plan, lane, weight_copies);
        if (tiles == 0 || (sum += tiles) > tiles_) return false;
        double load = 0;
        for (const std::size_t i : lane) load += search_.workload().load(plan.first + static_cast<int>(i));
        least.push_back(tiles);
        loads.push_back(load);
    }
    const auto cycles = [&](std::size_t lane, unsigned tiles) {
        return pace(plan, plan.lanes[lane], stages(plan, plan.lanes[lane], tiles, weight_copies));
    };
    std::vector<unsigned> tiles = allocate_proportional(tiles_, loads, least);
    refine(tiles, least, cycles);
    return take(plan, tiles, weight_copies);
}

std::vector<const Stage*> Segmenter::stages(const SegmentPlan& plan, const Lane& lane, unsigned tiles,
                                            unsigned weight_copies) {
    std::vector<const Stage*> best;
    for (const std::size_t i : lane) {
        best.push_back(&search_.best(plan.first + static_cast<int>(i), tiles, plan.unit_samples, plan.slots[i],
                                     weight_copies, static_cast<unsigned>(lane.size())));
    }
    return best;
}

bool Segmenter::take(SegmentPlan& plan, const Lane& lane, unsigned tiles, unsigned weight_copies) {
    const std::vector<const Stage*> best = stages(plan, lane, tiles, weight_copies);
    bool fits = true;
    for (std::size_t m = 0; m < best.size(); ++m) {
        plan.tiles[lane[m]] = tiles;
        plan.stages[lane[m]] = *best[m];
        fits &= best[m]->fits;
    }
    return fits;
}

bool Segmenter::take(SegmentPlan& plan, const std::vector<unsigned>& tiles, unsigned weight_copies) {
    plan.tiles.resize(plan.slots.size());
    plan.stages.resize(plan.slots.size());
    for (std::size_t l = 0; l < plan.lanes.size(); ++l) {
        if (!take(plan, plan.lanes[l], tiles[l], weight_copies)) return false;
    }
    return true;
}

std::optional<SegmentPlan> Segmenter::with_tiles(SegmentPlan plan, const std::vector<unsigned>& tiles) {
    if (!take(plan, tiles, plan.prefetchable ? 2 : 1)) return std::nullopt;
    add_all_cycles(plan);
    return plan;
}

namespace {

/// Of the lanes, so many are tried as those that get tiles, and for each of them as those that give them.
constexpr std::size_t kTried = 6;

template <class Value>
std::vector<std::size_t> least(std::vector<std::size_t> lanes, std::size_t count, Value&& value) {
    std::stable_sort(lanes.begin(), lanes.end(), [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
    if (lanes.size() > count) lanes.resize(count);
    return lanes;
}

}  // namespace

/// Tiles by lane while a plan is improved.
class Segmenter::TileExchange {
public:
    TileExchange(Segmenter& segmenter, SegmentPlan& plan)
        : segmenter_(segmenter),
          plan_(plan),
          packets_(segmenter.packets(plan)),
          copies_(plan.prefetchable ? 2 : 1),
          free_(segmenter.tiles_) {
        for (std::size_t l = 0; l < plan.lanes.size(); ++l) {
            all_.push_back(l);
            given_.push_back(plan.tiles[plan.lanes[l].front()]);
            least_.push_back(segmenter.least_tiles(plan, plan.lanes[l], copies_));
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
            free_ += given_[change.lane] - change.tiles;
            given_[change.lane] = change.tiles;
        }
        return true;
    }

private:
    struct Change {
        std::size_t lane;
        unsigned tiles;
    };

    double pace(std::size_t lane, unsigned tiles) const {
        return segmenter_.pace(plan_, plan_.lanes[lane], segmenter_.stages(plan_, plan_.lanes[lane], tiles, copies_));
    }
    double compute(std::size_t lane, unsigned tiles) const {
        double sum = 0;
        for (const Stage* stage : segmenter_.stages(plan_, plan_.lanes[lane], tiles, copies_))
            sum += stage->compute_cycles;
        return sum;
    }

    /// The slowest, which the others wait for, and those that the first unit waits for longest.
    std::vector<std::size_t> receivers() const {
        std::vector<std::size_t> lanes = least(all_, kTried / 2, [&](std::size_t l) { return -pace(l, given_[l]); });
        for (const std::size_t l : least(all_, kTried / 2, [&](std::size_t i) { return -compute(i, given_[i]); })) {
            if (std::find(lanes.begin(), lanes.end(), l) == lanes.end()) lanes.push_back(l);
        }
        return lanes;
    }

    /// Tiles more with which the lane gets faster, or 0.
    unsigned next_step(std::size_t lane) const {
        constexpr unsigned kFarthest = 8;
        const double now = pace(lane, given_[lane]), computes = compute(lane, given_[lane]);
        for (unsigned more = 1; more <= kFarthest && given_[lane] + more <= segmenter_.tiles_; ++more) {
            if (pace(lane, given_[lane] + more) < now || compute(lane, given_[lane] + more) < computes) return more;
        }
        return 0;
    }

    /// Ways to find the tiles with which `to` gets faster: free ones, those of one other lane, one each of several.
    std::vector<std::vector<Change>> exchanges(std::size_t to) const {
        const unsigned more = next_step(to);
        if (more == 0) return {};
        const Change gets{to, given_[to] + more};
        if (more <= free_) return {{gets}};
        const unsigned missing = more - free_;
        const auto able = [&](unsigned tiles) {
            std::vector<std::size_t> lanes;
            for (const std::size_t l : all_) {
                if (l != to && given_[l] >= least_[l] + tiles) lanes.push_back(l);
            }
            return lanes;
        };
        const auto donors = [&](unsigned tiles, std::size_t count) {
            return least(able(tiles), count, [&](std::size_t l) { return pace(l, given_[l] - tiles); });
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
            fits &= segmenter_.take(plan_, plan_.lanes[change.lane], change.tiles, copies_);
        return fits;
    }

    /// Infinite if something does not fit, or if packets become more.
    double cycles_with(const std::vector<Change>& changes, double limit) {
        std::vector<std::pair<std::size_t, Stage>> before;
        for (const Change& change : changes) {
            for (const std::size_t i : plan_.lanes[change.lane]) before.emplace_back(i, plan_.stages[i]);
        }
        double cycles = std::numeric_limits<double>::infinity();
        if (apply(changes)) {
            segmenter_.add_all_cycles(plan_);
            if (plan_.cycles < limit && segmenter_.packets(plan_) <= packets_) cycles = plan_.cycles;
        }
        for (auto& [i, stage] : before) plan_.stages[i] = std::move(stage);
        for (const Change& change : changes) {
            for (const std::size_t i : plan_.lanes[change.lane]) plan_.tiles[i] = given_[change.lane];
        }
        return cycles;
    }

    Segmenter& segmenter_;
    SegmentPlan& plan_;
    std::uint64_t packets_;  ///< of the plan to begin with
    unsigned copies_;
    unsigned free_;
    std::vector<std::size_t> all_;
    std::vector<unsigned> given_, least_;
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
