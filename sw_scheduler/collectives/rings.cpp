// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::sched {
namespace {

/// [from][to]: rings that may still pass from one device to another.
using Units = std::vector<std::vector<unsigned>>;
using Orders = std::vector<std::vector<unsigned>>;

Units units_of(const LinkTopology& topology) {
    Units units(topology.devices(), std::vector<unsigned>(topology.devices()));
    for (const LinkTopology::Link& link : topology.links()) {
        if (link.a >= topology.devices() || link.b >= topology.devices()) continue;
        units[link.a][link.b] += link.count;
        units[link.b][link.a] += link.count;
    }
    return units;
}

/// Rings that the links of the device with the fewest of them allow.
unsigned bound(const Units& units) {
    unsigned smallest = ~0u;
    for (const auto& row : units) smallest = std::min(smallest, std::accumulate(row.begin(), row.end(), 0u));
    return smallest;
}

/// `wanted` rings by depth first search with backtracking.
class Search {
public:
    Search(Units units, unsigned wanted) : units_(std::move(units)), wanted_(wanted) {}

    bool run() {
        start_ring();
        return extend();
    }
    const Orders& rings() const { return rings_; }

private:
    static constexpr unsigned kSteps = 100000;

    void start_ring() {
        rings_.push_back({0});
        used_.assign(units_.size(), false);
        used_[0] = true;
    }

    bool extend() {
        if (++steps_ > kSteps) return false;
        const unsigned here = rings_.back().back();
        if (rings_.back().size() == units_.size()) {
            if (units_[here][0] == 0) return false;
            --units_[here][0];
            if (rings_.size() == wanted_) return true;
            start_ring();
            if (extend()) return true;
            rings_.pop_back();
            used_.assign(units_.size(), true);
            ++units_[here][0];
            return false;
        }
        // First the devices with the most links left: what is scarce is kept for the rings to come.
        std::vector<unsigned> order(units_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](unsigned a, unsigned b) { return units_[here][a] > units_[here][b]; });
        for (const unsigned next : order) {
            if (used_[next] || units_[here][next] == 0) continue;
            --units_[here][next];
            used_[next] = true;
            rings_.back().push_back(next);
            if (extend()) return true;
            rings_.back().pop_back();
            used_[next] = false;
            ++units_[here][next];
            if (steps_ > kSteps) return false;
        }
        return false;
    }

    Units units_;
    unsigned wanted_, steps_ = 0;
    Orders rings_;
    std::vector<bool> used_;
};

/// Rings device, device + stride, device + 2 * stride and so on, as often as the links allow.
Orders strides(Units units) {
    const auto n = static_cast<unsigned>(units.size());
    Orders rings;
    for (unsigned stride = 1; stride < n; ++stride) {
        if (std::gcd(stride, n) != 1) continue;
        while (true) {
            bool free = true;
            for (unsigned i = 0; i < n; ++i) free = free && units[i][(i + stride) % n] > 0;
            if (!free) break;
            rings.emplace_back();
            for (unsigned i = 0, at = 0; i < n; ++i, at = (at + stride) % n) {
                rings.back().push_back(at);
                --units[at][(at + stride) % n];
            }
        }
    }
    return rings;
}

Orders maximum_rings(const Units& units) {
    constexpr std::size_t kSearched = 16;
    Orders best = strides(units);
    if (units.size() > kSearched && !best.empty()) return best;
    for (unsigned wanted = bound(units); wanted > best.size(); --wanted) {
        Search search(units, wanted);
        if (search.run()) return search.rings();
    }
    return best;
}

}  // namespace

Rings find_rings(const LinkTopology& topology) {
    Units units = units_of(topology);
    Rings rings;
    rings.direct = true;
    rings.orders = maximum_rings(units);
    if (rings.orders.size() < bound(units) && topology.devices() > 2) {
        // Two rings share a link, each at half of its rate: four devices have 12 channels, but no three disjoint rings.
        Units twice = units;
        for (auto& row : twice)
            for (unsigned& count : row) count *= 2;
        Orders halves = maximum_rings(twice);
        if (halves.size() > 2 * rings.orders.size()) rings.orders = std::move(halves);
    }
    if (rings.orders.empty()) {
        rings.direct = false;
        rings.orders.emplace_back(topology.devices());
        std::iota(rings.orders[0].begin(), rings.orders[0].end(), 0u);
    }
    return rings;
}

}  // namespace switchyard::sched
