// SPDX-License-Identifier: Apache-2.0
// Segmenter: which branches share tiles (sharing.h). The formulas are in docs/scheduler.md.

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/adyna/compiler/sharing.h"
#include "switchyard/sw_scheduler/adyna/sampling/kernel_sampling.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

SizeChances sizes_of(const Workload& workload, const Profile* profile, int op, std::uint32_t unit_samples) {
    if (profile == nullptr) return binomial_sizes(unit_samples, workload.items[op].expected_share);
    const Distribution phi = distribution_of(profile->operators[static_cast<std::size_t>(op)], unit_samples);
    if (!(phi.total() > 0)) return binomial_sizes(unit_samples, workload.items[op].expected_share);
    SizeChances chances = phi.frequencies();
    for (double& chance : chances) chance /= phi.total();
    return chances;
}

PairSizesAre known_of(const Switch& one) {
    if (!one.exclusive) return PairSizesAre::independent;
    return one.branches == 2 && one.path.empty() ? PairSizesAre::the_unit : PairSizesAre::at_most_the_unit;
}

/// Of two branches of a switch: as the profile's batches had them; otherwise from what is known of each branch.
PairSizes pair_sizes(const Workload& workload, const Profile* profile, int switch_id,
                     const std::array<unsigned, 2>& branches, const std::array<int, 2>& fronts,
                     std::uint32_t unit_samples) {
    if (profile != nullptr && profile->routes && !profile->routes->empty()) {
        std::vector<const std::vector<std::uint64_t>*> masks;
        for (const BatchRouting& batch : *profile->routes)
            masks.push_back(&batch.masks[static_cast<std::size_t>(switch_id)]);
        return {masks, unit_samples, branches[0], branches[1]};
    }
    return {sizes_of(workload, profile, fronts[0], unit_samples), sizes_of(workload, profile, fronts[1], unit_samples),
            known_of(workload.graph.switches[static_cast<std::size_t>(switch_id)])};
}

/// Cycles of both branches, by allocation, branch and samples.
using PairCycles = std::vector<std::array<std::vector<double>, 2>>;

/// Between units that wait for the slower branch in the allocation that suits their sizes.
Normal shared_interval(const PairSizes& sizes, const PairCycles& cycles) {
    const PairMoments moments = sizes.moments([&](std::uint32_t a, std::uint32_t b) {
        double min = kNever;
        for (const auto& branch : cycles) min = std::min(min, std::max(branch[0][a], branch[1][b]));
        return std::array<double, 2>{min, 0};
    });
    return {moments.mean[0], moments.variance[0]};
}

/// The same when each branch has tiles of its own, so that one may be at the next unit while the other is not.
Normal separate_interval(const PairSizes& sizes, const PairCycles& cycles) {
    const PairMoments moments = sizes.moments([&](std::uint32_t a, std::uint32_t b) {
        return std::array<double, 2>{cycles[0][0][a], cycles[0][1][b]};
    });
    return larger_of({moments.mean[0], moments.variance[0]}, {moments.mean[1], moments.variance[1]},
                     moments.covariance);
}

}  // namespace

struct Segmenter::Candidate {
    BranchPair pair;
    PairSizes sizes;
    double both_active = 0;
};

std::vector<Segmenter::Candidate> Segmenter::candidates(const SegmentPlan& plan, const Profile* profile,
                                                        const Partners& partners) const {
    const DynGraph& graph = search_.workload().graph;
    std::set<std::size_t> grouped;
    for (const TileGroup& tile_group : plan.tile_groups) {
        if (tile_group.size() > 1) grouped.insert(tile_group.begin(), tile_group.end());
    }
    const auto apart = [&grouped](const TileGroup& operators) {
        return std::none_of(operators.begin(), operators.end(), [&](std::size_t i) { return grouped.count(i) > 0; });
    };
    const auto free_for = [&partners](int switch_id, unsigned branch, unsigned other) {
        const auto known = partners.find({switch_id, branch});
        return known == partners.end() || known->second == other;
    };
    std::vector<Candidate> found;
    for (const auto& [switch_id, branches] : operators_on_branches(graph, plan.first, plan.last)) {
        // In a segment that is sorted by the switch its branches are busy one after another.
        if (std::find(plan.order.begin(), plan.order.end(), switch_id) != plan.order.end()) continue;
        const auto front = [&plan](const TileGroup& operators) {
            return plan.first + static_cast<int>(operators.front());
        };
        for (auto a = branches.begin(); a != branches.end(); ++a) {
            for (auto b = std::next(a); b != branches.end(); ++b) {
                if (!apart(a->second) || !apart(b->second) || !free_for(switch_id, a->first, b->first) ||
                    !free_for(switch_id, b->first, a->first))
                    continue;
                const BranchPair pair{switch_id, {a->first, b->first}, {a->second, b->second}, 1};
                PairSizes sizes = pair_sizes(search_.workload(), profile, switch_id, pair.branches,
                                             {front(a->second), front(b->second)}, invocation_samples(plan));
                const double active = sizes.both_active();
                found.push_back({pair, std::move(sizes), active});
            }
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.both_active < b.both_active; });
    return found;
}

bool Segmenter::add_pair(SegmentPlan& plan, BranchPair pair, std::uint64_t weights_beside,
                         std::uint64_t bytes_beside) const {
    const SegmentPlan::TileBytes bytes = plan.pair_bytes(pair);
    const std::uint64_t room = search_.hardware().data_bytes();
    const unsigned copies = plan.prefetchable ? 2 : 1;
    if (copies * bytes.weights + bytes.buffers > room || bytes.total() + weights_beside > room ||
        (plan.prefetchable && bytes.weights + bytes_beside > room))
        return false;

    std::array<std::vector<SharingOperator>, 2> operators;
    std::array<double, 2> load{};
    std::array<unsigned, 2> tiles{};
    for (std::size_t side = 0; side < 2; ++side) {
        for (const std::size_t i : pair.operators[side]) {
            const unsigned step = plan.stages[i].k_factor;
            operators[side].push_back(
                {search_.workload().load(plan.first + static_cast<int>(i)), plan.tiles[i] / step * step, step});
            load[side] += operators[side].back().load;
            tiles[side] += operators[side].back().tiles;
        }
    }
    plan.shared.resize(plan.stages.size());
    const auto add = [&](std::size_t side, const std::vector<unsigned>& counts) {
        for (std::size_t m = 0; m < counts.size(); ++m) plan.shared[pair.operators[side][m]].push_back(counts[m]);
    };
    for (std::size_t side = 0; side < 2; ++side) add(side, grown(operators[side], 0));
    const SharedTiles wanted = shared_tiles(tiles[0] + tiles[1], load[0], load[1]);
    const auto sum = [](const std::vector<unsigned>& counts) {
        unsigned all = 0;
        for (const unsigned count : counts) all += count;
        return all;
    };
    for (std::size_t side = 0; side < 2; ++side) {
        const unsigned max = wanted[side + 1][side];
        if (max <= tiles[side]) continue;
        const std::vector<unsigned> more = grown(operators[side], max - tiles[side]);
        if (sum(more) == tiles[side]) continue;
        const std::vector<unsigned> fewer = shrunk(operators[1 - side], sum(more) - tiles[side]);
        if (fewer.empty()) continue;
        add(side, more);
        add(1 - side, fewer);
        ++pair.allocations;
    }
    const bool shares = pair.allocations > 1;
    plan.pairs.push_back(std::move(pair));
    return shares;
}

std::vector<double> Segmenter::branch_cycles(const SegmentPlan& plan, const TileGroup& operators,
                                             std::size_t allocation) const {
    const std::uint32_t invoked = invocation_samples(plan), units = invoked / plan.unit_samples;
    std::vector<double> cycles(invoked + std::size_t{1}, 0.0);
    for (const std::size_t i : operators) {
        const Stage& stage = plan.stages[i];
        const int op = plan.first + static_cast<int>(i);
        Partition kernel;
        for (std::uint32_t samples = 1; samples <= invoked; ++samples) {
            const auto dyn_dim = static_cast<std::uint16_t>(ceil_div(samples, units));
            const std::uint32_t laid_out = std::min(samples, plan.unit_samples);
            const bool planned = allocation == 0 && laid_out == plan.unit_samples;
            if (samples <= plan.unit_samples) {  // those of more units are alike
                kernel = planned ? stage.largest
                                 : search_.best_partition(
                                       op, stage.k_factor, plan.shared[i][allocation] / stage.k_factor,
                                       static_cast<std::uint16_t>(laid_out), stage.footprint, stage.largest.p);
            }
            cycles[samples] =
                kernel.n == 0
                    ? kNever
                    : std::max(cycles[samples],
                               initiation_interval(plan, i, search_.fitted(op, stage.k_factor, kernel, dyn_dim)));
        }
    }
    return cycles;
}

void Segmenter::share(SegmentPlan& plan, const Profile* profile, std::uint64_t weights_beside,
                      std::uint64_t bytes_beside, Partners& partners) {
    std::vector<Normal> intervals;
    std::set<std::size_t> taken;
    for (const Candidate& candidate : candidates(plan, profile, partners)) {
        const BranchPair& pair = candidate.pair;
        if (taken.count(pair.operators[0].front()) > 0 || taken.count(pair.operators[1].front()) > 0) continue;
        SegmentPlan trial = plan;
        if (!add_pair(trial, pair, weights_beside, bytes_beside)) continue;
        PairCycles cycles(trial.pairs.back().allocations);
        for (std::size_t k = 0; k < cycles.size(); ++k) {
            for (std::size_t side = 0; side < 2; ++side)
                cycles[k][side] = branch_cycles(trial, pair.operators[side], k);
        }
        std::vector<Normal> with = intervals, without = intervals;
        with.push_back(shared_interval(candidate.sizes, cycles));
        without.push_back(separate_interval(candidate.sizes, cycles));
        if (!(usual_initiation_interval(trial, with) < margins_.sharing * usual_initiation_interval(trial, without)))
            continue;
        plan = std::move(trial);
        intervals = std::move(with);
        for (const TileGroup& branch : pair.operators) taken.insert(branch.front());
        partners[{pair.switch_id, pair.branches[0]}] = pair.branches[1];
        partners[{pair.switch_id, pair.branches[1]}] = pair.branches[0];
    }
}

}  // namespace switchyard::sched
