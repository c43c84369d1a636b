// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

namespace switchyard::sched {

std::vector<unsigned> allocate_proportional(unsigned tiles, const std::vector<double>& loads,
                                            const std::vector<unsigned>& minimum) {
    const std::size_t count = loads.size();
    std::vector<unsigned> min = minimum.empty() ? std::vector<unsigned>(count, 1) : minimum;
    if (min.size() != count)
        throw std::invalid_argument(fmt::format("expected {} minimums, one a load, found {}", count, min.size()));
    if (const unsigned needed = std::accumulate(min.begin(), min.end(), 0u); needed > tiles)
        throw std::invalid_argument(fmt::format("expected minimums of at most {} tiles, found {}", tiles, needed));
    const auto negative = std::find_if(loads.begin(), loads.end(), [](double load) { return !(load >= 0); });
    if (negative != loads.end())
        throw std::invalid_argument(fmt::format("expected loads of 0 or more, found {}", *negative));

    // Operators whose share is below their minimum get the minimum; the others share the rest.
    struct Share {
        double tiles = 0, remainder = -1;  ///< without the minimum: what is over whole tiles
        bool pinned = false;               ///< to the minimum
    };
    boost::container::small_vector<Share, 32> shares(count);
    for (bool changed = true; changed;) {
        changed = false;
        double load_sum = 0;
        unsigned free_tiles = tiles;
        for (std::size_t i = 0; i < count; ++i) {
            if (shares[i].pinned)
                free_tiles -= min[i];
            else
                load_sum += loads[i];
        }
        for (std::size_t i = 0; i < count; ++i) {
            Share& share = shares[i];
            if (share.pinned) continue;
            share.tiles = load_sum > 0 ? free_tiles * loads[i] / load_sum : 0;
            share.pinned = share.tiles < min[i];
            changed = changed || share.pinned;
        }
    }

    std::vector<unsigned> result(count);
    unsigned left = tiles;
    for (std::size_t i = 0; i < count; ++i) {
        Share& share = shares[i];
        result[i] = share.pinned ? min[i] : static_cast<unsigned>(share.tiles);
        if (!share.pinned) share.remainder = share.tiles - result[i];
        left -= result[i];
    }
    if (left == 0 || count == 0) return result;
    // The rest goes to the largest remainders, of equal ones the first.
    for (unsigned& operator_tiles : result) operator_tiles += static_cast<unsigned>(left / count);
    boost::container::small_vector<std::size_t, 32> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto next = order.begin() + static_cast<std::ptrdiff_t>(left % count);
    std::nth_element(order.begin(), next, order.end(), [&shares](std::size_t a, std::size_t b) {
        return std::tuple(-shares[a].remainder, a) < std::tuple(-shares[b].remainder, b);
    });
    for (auto more = order.begin(); more != next; ++more) ++result[*more];
    return result;
}

namespace {

/// Operators by what they would take with a tile less: the quickest first, of several the first of the list. Those for
/// which that is infinite are left out.
class Donors {
public:
    explicit Donors(std::size_t count) : values_(count, kNever) {
        std::vector<Entry> room;  // most operators enter once or twice
        room.reserve(2 * count);
        entries_ = Queue(std::greater<>(), std::move(room));
    }

    void set(std::size_t index, double value) {
        if (value == values_[index]) return;
        values_[index] = value;
        if (value < kNever) entries_.push({value, index});
    }
    double operator[](std::size_t index) const { return values_[index]; }
    /// The number of operators if there is none.
    std::size_t quickest() {
        while (!entries_.empty() && values_[entries_.top().second] != entries_.top().first) entries_.pop();
        return entries_.empty() ? values_.size() : entries_.top().second;
    }

private:
    using Entry = std::pair<double, std::size_t>;
    using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
    std::vector<double> values_;
    Queue entries_;  ///< with some that are out of date
};

}  // namespace

void refine(std::vector<unsigned>& allocation, const std::vector<unsigned>& minimum,
            const std::function<double(std::size_t, unsigned)>& stage_cycles) {
    const std::size_t count = allocation.size();
    if (count < 2) return;
    const auto one_fewer = [&](std::size_t i, unsigned tiles) {
        return tiles > minimum[i] ? stage_cycles(i, tiles - 1) : kNever;
    };
    std::vector<double> cycles(count);
    Donors donors(count);
    for (std::size_t i = 0; i < count; ++i) {
        cycles[i] = stage_cycles(i, allocation[i]);
        donors.set(i, one_fewer(i, allocation[i]));
    }
    std::vector<unsigned> trial = allocation;
    for (;;) {
        const auto slowest = static_cast<std::size_t>(std::max_element(cycles.begin(), cycles.end()) - cycles.begin());
        const double limit = cycles[slowest];
        donors.set(slowest, kNever);
        // Tiles that the others can spare and stay below the slowest stage, taken from whoever has most time left.
        do {
            const std::size_t donor = donors.quickest();
            if (donor == count || donors[donor] >= limit) return;
            cycles[donor] = donors[donor];
            donors.set(donor, one_fewer(donor, --trial[donor]));
            cycles[slowest] = stage_cycles(slowest, ++trial[slowest]);
        } while (cycles[slowest] >= limit);
        donors.set(slowest, one_fewer(slowest, trial[slowest]));
        allocation = trial;
    }
}

}  // namespace switchyard::sched
