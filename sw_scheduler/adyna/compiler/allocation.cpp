// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

namespace switchyard::sched {

std::vector<unsigned> allocate_proportional(unsigned tiles, const std::vector<double>& loads,
                                            const std::vector<unsigned>& minimum) {
    const std::size_t count = loads.size();
    std::vector<unsigned> min = minimum.empty() ? std::vector<unsigned>(count, 1) : minimum;
    if (min.size() != count) throw std::invalid_argument("one minimum for each load");
    if (std::accumulate(min.begin(), min.end(), 0u) > tiles) {
        throw std::invalid_argument("more tiles needed than there are");
    }
    if (std::any_of(loads.begin(), loads.end(), [](double load) { return !(load >= 0); })) {
        throw std::invalid_argument("negative load");
    }

    // Operators whose share is below their minimum get the minimum; the others share the rest.
    std::vector<char> pinned(count, 0);
    std::vector<double> share(count, 0);
    for (bool changed = true; changed;) {
        changed = false;
        double load_sum = 0;
        unsigned free_tiles = tiles;
        for (std::size_t i = 0; i < count; ++i) {
            if (pinned[i])
                free_tiles -= min[i];
            else
                load_sum += loads[i];
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (pinned[i]) continue;
            share[i] = load_sum > 0 ? free_tiles * loads[i] / load_sum : 0;
            if (share[i] < min[i]) {
                pinned[i] = 1;
                changed = true;
            }
        }
    }

    std::vector<unsigned> result(count);
    unsigned given = 0;
    for (std::size_t i = 0; i < count; ++i) {
        result[i] = pinned[i] ? min[i] : static_cast<unsigned>(share[i]);
        given += result[i];
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto remainder = [&](std::size_t i) { return pinned[i] ? -1.0 : share[i] - std::floor(share[i]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainder(a) > remainder(b); });
    for (std::size_t next = 0; given < tiles && count > 0; next = (next + 1) % count, ++given) ++result[order[next]];
    return result;
}

void refine(std::vector<unsigned>& allocation, const std::vector<unsigned>& minimum,
            const std::function<double(std::size_t, unsigned)>& stage_cycles) {
    const std::size_t count = allocation.size();
    if (count < 2) return;
    struct Cycles {
        double now, with_one_fewer;
    };
    const auto one_fewer = [&](std::size_t i, unsigned tiles) {
        return tiles > minimum[i] ? stage_cycles(i, tiles - 1) : kNever;
    };
    std::vector<Cycles> cycles(count);
    for (std::size_t i = 0; i < count; ++i) cycles[i] = {stage_cycles(i, allocation[i]), one_fewer(i, allocation[i])};
    std::vector<unsigned> trial = allocation;
    for (;;) {
        const auto slowest =
            static_cast<std::size_t>(std::max_element(cycles.begin(), cycles.end(),
                                                      [](const Cycles& a, const Cycles& b) { return a.now < b.now; }) -
                                     cycles.begin());
        const double limit = cycles[slowest].now;
        // Tiles that the others can spare and stay below the slowest stage, taken from whoever has most time left.
        do {
            std::size_t donor = slowest;
            double donor_cycles = limit;
            for (std::size_t i = 0; i < count; ++i) {
                if (i == slowest || cycles[i].with_one_fewer >= donor_cycles) continue;
                donor = i;
                donor_cycles = cycles[i].with_one_fewer;
            }
            if (donor == slowest) return;
            cycles[donor].now = cycles[donor].with_one_fewer;
            cycles[donor].with_one_fewer = one_fewer(donor, --trial[donor]);
            cycles[slowest].now = stage_cycles(slowest, ++trial[slowest]);
        } while (cycles[slowest].now >= limit);
        cycles[slowest].with_one_fewer = one_fewer(slowest, trial[slowest]);
        allocation = trial;
    }
}

}  // namespace switchyard::sched
