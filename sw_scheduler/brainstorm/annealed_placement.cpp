// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/brainstorm/placement.h"

namespace switchyard::sched::brainstorm {

namespace {

/// What moves as one: a branch, or a group that must share a device.
struct Unit {
    std::vector<std::size_t> branches;
    std::vector<std::size_t> layer_count;  ///< sorted layers of the branches
    std::vector<std::pair<std::uint32_t, double>> neighbours;
};

class Annealing {
public:
    Annealing(const PlacementProblem& problem, const AnnealingConfig& config)
        : problem_(problem), config_(config), unit_of_(problem.layer.size()) {
        make_units();
        join_flows();
    }

    Placement run() {
        Placement best;
        double best_cost = 0;
        for (unsigned restart = 0; restart < std::max(1u, config_.restarts); ++restart) {
            RandomSource random(config_.seed, restart);
            if (!start(restart, random)) continue;
            anneal(random);
            const Placement placement = present();
            const double cost = crossing_cells(problem_, placement);
            if (best.empty() || cost < best_cost) {
                best = placement;
                best_cost = cost;
            }
        }
        if (best.empty()) throw InputError("expected a placement that keeps the constraints, found none");
        return best;
    }

private:
    void make_units() {
        std::vector<std::size_t> parent(problem_.layer.size());
        std::iota(parent.begin(), parent.end(), 0);
        const auto root = [&](std::size_t b) {
            while (parent[b] != b) b = parent[b] = parent[parent[b]];
            return b;
        };
        for (const std::vector<std::size_t>& group : problem_.together)
            for (const std::size_t b : group)
                parent[std::max(root(b), root(group[0]))] = std::min(root(b), root(group[0]));
        for (std::size_t b = 0; b < parent.size(); ++b) {
            if (root(b) == b) {
                unit_of_[b] = static_cast<std::uint32_t>(units_.size());
                units_.emplace_back();
            } else {
                unit_of_[b] = unit_of_[root(b)];
            }
            units_[unit_of_[b]].branches.push_back(b);
            units_[unit_of_[b]].layer_count.push_back(problem_.layer[b]);
        }
        for (Unit& unit : units_) std::sort(unit.layer_count.begin(), unit.layer_count.end());
        singles_.resize(problem_.per_device.size());
        for (std::uint32_t u = 0; u < units_.size(); ++u)
            if (units_[u].branches.size() == 1) singles_[units_[u].layer_count[0]].push_back(u);
        for (std::uint32_t u = 0; u < units_.size(); ++u) by_layers_.push_back(u);
        std::stable_sort(by_layers_.begin(), by_layers_.end(),
                         [&](auto a, auto b) { return units_[a].layer_count < units_[b].layer_count; });
        kind_begin_.resize(units_.size());
        kind_end_.resize(units_.size());
        for (std::size_t i = 0; i < by_layers_.size();) {
            std::size_t end = i;
            while (end < by_layers_.size() && units_[by_layers_[end]].layer_count == units_[by_layers_[i]].layer_count)
                ++end;
            for (std::size_t k = i; k < end; ++k) {
                kind_begin_[by_layers_[k]] = static_cast<unsigned>(i);
                kind_end_[by_layers_[k]] = static_cast<unsigned>(end);
            }
            i = end;
        }
    }

    void join_flows() {
        for (const Flow& flow : problem_.flows) {
            const std::uint32_t a = unit_of_[flow.from], b = unit_of_[flow.to];
            if (a == b || flow.cells == 0) continue;
            units_[a].neighbours.emplace_back(b, flow.cells);
            units_[b].neighbours.emplace_back(a, flow.cells);
        }
    }

    bool fits(const Unit& unit, std::size_t device) const {
        for (std::size_t i = 0; i < unit.layer_count.size(); ++i) {
            const std::size_t l = unit.layer_count[i];
            const auto many = static_cast<std::size_t>(std::count(unit.layer_count.begin(), unit.layer_count.end(), l));
            if (used_[device][l] + many > problem_.per_device[l]) return false;
        }
        return true;
    }
    void count(const Unit& unit, std::size_t device, bool add) {
        for (const std::size_t l : unit.layer_count) used_[device][l] += add ? 1 : std::size_t(-1);
    }

    /// Large units first; the first start in blocks, others in random order. False if one found no room.
    bool start(unsigned restart, RandomSource& random) {
        used_.assign(problem_.devices, std::vector<std::size_t>(problem_.per_device.size()));
        device_.assign(units_.size(), 0);
        std::vector<std::uint32_t> order(units_.size());
        std::iota(order.begin(), order.end(), 0);
        if (restart > 0)
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[random.integer(0, static_cast<unsigned>(i - 1))]);
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return units_[a].branches.size() > units_[b].branches.size(); });
        for (const std::uint32_t u : order) {
            std::size_t d = 0;
            while (d < problem_.devices && !fits(units_[u], d)) ++d;
            if (d == problem_.devices) return false;
            device_[u] = static_cast<std::uint32_t>(d);
            count(units_[u], d, true);
        }
        affinity_.assign(units_.size() * problem_.devices, 0);
        for (std::size_t u = 0; u < units_.size(); ++u)
            for (const auto& [v, cells] : units_[u].neighbours) affinity(u, device_[v]) += cells;
        return true;
    }

    double& affinity(std::size_t unit, std::size_t device) { return affinity_[unit * problem_.devices + device]; }

    void move(std::uint32_t u, std::uint32_t to) {
        const std::uint32_t from = device_[u];
        gained_ += affinity(u, to) - affinity(u, from);
        for (const auto& [v, cells] : units_[u].neighbours) {
            affinity(v, from) -= cells;
            affinity(v, to) += cells;
        }
        count(units_[u], from, false);
        count(units_[u], to, true);
        device_[u] = to;
    }

    /// Of two units that are no neighbours, or whose common flow `between` stays between devices.
    double exchange_gain(std::uint32_t u, std::uint32_t v) {
        const std::uint32_t a = device_[u], b = device_[v];
        double between = 0;
        if (units_[u].branches.size() > 1)
            for (const auto& [w, cells] : units_[u].neighbours) between += w == v ? cells : 0;
        return affinity(u, b) - affinity(u, a) + affinity(v, a) - affinity(v, b) - 2 * between;
    }

    /// Moves a unit, and returns the cells that no longer cross.
    double gain_of_move(std::uint32_t u, std::uint32_t to) {
        const double before = gained_;
        move(u, to);
        return gained_ - before;
    }

    /// Exchanges a group against as many single branches of device `to` as stand in its way. False, and nothing is
    /// moved, if others than single branches stand there or `accept` refuses the cells gained.
    template <class Accept>
    bool exchange_group(std::uint32_t group, std::uint32_t to, RandomSource& random, const Accept& accept) {
        const std::uint32_t from = device_[group];
        moved_.assign(1, group);
        double gain = gain_of_move(group, to);
        bool possible = true;
        for (const std::size_t l : units_[group].layer_count) {
            const std::vector<std::uint32_t>& single = singles_[l];
            if (used_[to][l] <= problem_.per_device[l]) continue;
            const std::size_t first = single.empty() ? 0 : random.integer(0, static_cast<unsigned>(single.size()) - 1);
            std::size_t i = 0;
            while (i < single.size() && device_[single[(first + i) % single.size()]] != to) ++i;
            possible = i < single.size();
            if (!possible) break;
            moved_.push_back(single[(first + i) % single.size()]);
            gain += gain_of_move(moved_.back(), from);
        }
        if (possible && accept(gain)) return true;
        for (std::size_t i = moved_.size(); i-- > 0;) move(moved_[i], i == 0 ? from : to);
        return false;
    }

    void propose(double temperature, RandomSource& random) {
        const std::uint32_t u = random.integer(0, static_cast<unsigned>(units_.size()) - 1);
        const std::uint32_t v = by_layers_[random.integer(kind_begin_[u], kind_end_[u] - 1)];
        const auto accept = [&](double gain) {
            return gain > 0 || (temperature > 0 && random.uniform() < std::exp(gain / temperature));
        };
        if (units_[u].branches.size() > 1 && random.chance(0.5)) {
            const std::uint32_t to = random.integer(0, static_cast<unsigned>(problem_.devices) - 1);
            if (to != device_[u]) exchange_group(u, to, random, accept);
            return;
        }
        if (random.chance(0.25)) {
            const std::uint32_t to = random.integer(0, static_cast<unsigned>(problem_.devices) - 1);
            if (to != device_[u] && fits(units_[u], to) && accept(affinity(u, to) - affinity(u, device_[u])))
                move(u, to);
            return;
        }
        if (device_[u] == device_[v] || !accept(exchange_gain(u, v))) return;
        const std::uint32_t a = device_[u], b = device_[v];
        move(u, b);
        move(v, a);
    }

    void anneal(RandomSource& random) {
        double flow = 0, largest = 0;
        for (const Flow& f : problem_.flows) {
            flow += f.cells;
            largest = std::max(largest, f.cells);
        }
        if (flow == 0 || problem_.devices == 1) return;
        const double mean = flow / static_cast<double>(units_.size());
        const double hot = 0.5 * std::max(mean, largest), cold = 1e-3 * mean;
        const auto moves = std::min<std::uint64_t>(
            config_.max_moves,
            static_cast<std::uint64_t>(config_.moves_per_branch * static_cast<double>(units_.size())));
        // The last tenth is descent.
        const auto cooling = std::max<std::uint64_t>(1, moves - moves / 10);
        // Short runs cool in steps as fine as long ones do.
        const std::uint64_t same_temperature = std::clamp<std::uint64_t>(moves / 256, 1, 1024);
        double temperature = hot, best_gained = 0;
        gained_ = 0;
        best_ = device_;
        for (std::uint64_t i = 0; i < moves; ++i) {
            if (i % same_temperature == 0)
                temperature =
                    i < cooling ? hot * std::pow(cold / hot, static_cast<double>(i) / static_cast<double>(cooling)) : 0;
            propose(temperature, random);
            if (gained_ <= best_gained + 1e-9 * flow) continue;
            best_gained = gained_;
            best_ = device_;
        }
        device_ = best_;
    }

    Placement present() const {
        Placement placement(problem_.layer.size());
        for (std::size_t b = 0; b < placement.size(); ++b) placement[b] = device_[unit_of_[b]];
        return placement;
    }

    const PlacementProblem& problem_;
    AnnealingConfig config_;
    std::vector<std::uint32_t> unit_of_;  ///< of each branch
    std::vector<Unit> units_;
    std::vector<std::uint32_t> by_layers_;             ///< units; those with the same layers beside each other
    std::vector<unsigned> kind_begin_, kind_end_;      ///< of each unit: where those are
    std::vector<std::vector<std::uint32_t>> singles_;  ///< by layer: units of one branch
    std::vector<std::uint32_t> moved_;                 ///< by exchange_group()
    std::vector<std::vector<std::size_t>> used_;       ///< [device][layer] branches
    std::vector<std::uint32_t> device_;                ///< of each unit
    double gained_ = 0;                                ///< cells that cross no longer, since the start
    std::vector<std::uint32_t> best_;                  ///< device_ when `gained_` was largest
    std::vector<double> affinity_;                     ///< [unit][device] cells to neighbours there
};

}  // namespace

Placement annealed_placement(const PlacementProblem& problem, const AnnealingConfig& config) {
    if (const std::string message = validation_error(problem); !message.empty()) throw InputError(message);
    return Annealing(problem, config).run();
}

}  // namespace switchyard::sched::brainstorm
