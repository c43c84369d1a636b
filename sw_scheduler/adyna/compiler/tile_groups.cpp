// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/tile_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace switchyard::sched {

BranchOperators operators_on_branches(const DynGraph& graph, int first, int last) {
    BranchOperators members;
    for (int op = first; op < last; ++op) {
        const BranchPath& path = graph.operators[op].path;
        if (!path.empty())
            members[path.back().switch_id][path.back().branch].push_back(static_cast<std::size_t>(op - first));
    }
    return members;
}

std::vector<TileGroup> separate_tile_groups(std::size_t operators) {
    std::vector<TileGroup> tile_groups;
    tile_groups.reserve(operators);
    for (std::size_t i = 0; i < operators; ++i) tile_groups.emplace_back(1, i);
    return tile_groups;
}

std::size_t longest(const std::vector<TileGroup>& tile_groups) {
    std::size_t max = 0;
    for (const TileGroup& tile_group : tile_groups) max = std::max(max, tile_group.size());
    return max;
}

std::vector<TileGroup> shared_tile_groups(const Workload& workload, int first, int last, std::uint32_t unit_samples,
                                          std::size_t max_branches, const std::vector<int>& order) {
    return shared_tile_groups(workload, operators_on_branches(workload.graph, first, last), first, last, unit_samples,
                              max_branches, order);
}

std::vector<TileGroup> shared_tile_groups(const Workload& workload, const BranchOperators& on_branches, int first,
                                          int last, std::uint32_t unit_samples, std::size_t max_branches,
                                          const std::vector<int>& order) {
    std::vector<TileGroup> shared;
    constexpr std::size_t kAlone = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> places(static_cast<std::size_t>(last - first), kAlone);  // by operator: in `shared`
    const auto close = [&](std::vector<const TileGroup*>& group) {
        std::size_t max_operators = 0;
        for (const TileGroup* branch : group) max_operators = std::max(max_operators, branch->size());
        for (std::size_t position = 0; position < max_operators; ++position) {
            const std::size_t place = shared.size();
            TileGroup& tile_group = shared.emplace_back();
            for (const TileGroup* branch : group) {
                if (position < branch->size()) tile_group.push_back((*branch)[position]);
            }
            std::sort(tile_group.begin(), tile_group.end());
            for (const std::size_t i : tile_group) places[i] = place;
        }
        group.clear();
    };
    for (const auto& [switch_id, branches] : on_branches) {
        std::vector<const TileGroup*> group;
        double samples = 0;
        const bool in_turn = workload.graph.switches[static_cast<std::size_t>(switch_id)].exclusive &&
                             std::find(order.begin(), order.end(), switch_id) != order.end();
        for (const auto& [branch, operators] : branches) {
            const int front = first + static_cast<int>(operators.front());
            const double expected = workload.items[front].expected_share * unit_samples;
            if (expected >= 1 && !in_turn) continue;
            group.push_back(&operators);
            samples += expected;
            if ((samples < 1 || in_turn) && group.size() < max_branches) continue;
            close(group);
            samples = 0;
        }
        close(group);
    }
    std::vector<TileGroup> tile_groups;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] == kAlone) {
            tile_groups.emplace_back(1, i);
        } else if (shared[places[i]].front() == i) {
            tile_groups.push_back(shared[places[i]]);
        }
    }
    return tile_groups;
}

namespace {

TileGroupSamples samples_of(const Workload& workload, int first, const std::size_t* members, std::size_t count,
                            std::uint32_t unit_samples, unsigned decided) {
    const auto id = [first, members](std::size_t m) { return first + static_cast<int>(members[m]); };
    const int front = id(0);
    const BranchPath& path = workload.graph.operators[front].path;
    double share = 0;
    for (std::size_t m = 0; m < count; ++m) share += workload.items[id(m)].expected_share;
    TileGroupSamples samples;
    if (share <= 0) return samples;
    if (decided > 0 && decided >= path.size()) {  // whole units, for one member after another
        samples.active = std::min(1.0, share);
        samples.mean = samples.usual = unit_samples;
        return samples;
    }
    samples.active = workload.share_on(front, decided);
    share = 0;
    double variance = 0;  // of one sample
    for (std::size_t m = 0; m < count; ++m) {
        const double one = std::min(1.0, workload.items[id(m)].expected_share / samples.active);
        share += one;
        variance += one * (1 - one);
    }
    double max = static_cast<double>(count) * unit_samples;
    if (count == 1 || workload.graph.switches[path.back().switch_id].exclusive) {  // one of the members at most
        share = std::min(share, 1.0);
        samples.relative_variance = (1 - share) / (share * unit_samples);
        max = unit_samples;
    } else {
        samples.relative_variance = variance / (share * share * unit_samples);
    }
    samples.mean = share * unit_samples;
    samples.usual =
        (samples.mean + std::min(max, samples.mean + samples.mean * std::sqrt(samples.relative_variance))) / 2;
    return samples;
}

}  // namespace

TileGroupSamples tile_group_samples(const Workload& workload, int first, const TileGroup& tile_group,
                                    std::uint32_t unit_samples, unsigned decided) {
    return samples_of(workload, first, tile_group.data(), tile_group.size(), unit_samples, decided);
}

TileGroupSamples tile_group_samples(const Workload& workload, int first, std::size_t i, std::uint32_t unit_samples,
                                    unsigned decided) {
    return samples_of(workload, first, &i, 1, unit_samples, decided);
}

}  // namespace switchyard::sched
