#include "switchyard/sw_scheduler/backend/lanes.h"

#include <algorithm>
#include <cmath>

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

std::vector<Lane> separate_lanes(std::size_t operators) {
    std::vector<Lane> lanes;
    for (std::size_t i = 0; i < operators; ++i) lanes.push_back({i});
    return lanes;
}

std::size_t longest(const std::vector<Lane>& lanes) {
    std::size_t most = 0;
    for (const Lane& lane : lanes) most = std::max(most, lane.size());
    return most;
}

std::vector<Lane> grouped_lanes(const Workload& workload, int first, int last, std::uint32_t unit_samples,
                                std::size_t most_branches, const std::vector<int>& order) {
    std::vector<Lane> lanes;
    std::vector<char> placed(static_cast<std::size_t>(last - first), 0);
    const auto close = [&](std::vector<const Lane*>& group) {
        std::size_t most_operators = 0;
        for (const Lane* branch : group) most_operators = std::max(most_operators, branch->size());
        for (std::size_t position = 0; position < most_operators; ++position) {
            Lane lane;
            for (const Lane* branch : group) {
                if (position < branch->size()) lane.push_back((*branch)[position]);
            }
            std::sort(lane.begin(), lane.end());
            for (const std::size_t i : lane) placed[i] = 1;
            lanes.push_back(std::move(lane));
        }
        group.clear();
    };
    for (const auto& [switch_id, branches] : operators_on_branches(workload.graph, first, last)) {
        std::vector<const Lane*> group;
        double samples = 0;
        const bool in_turn = workload.graph.switches[static_cast<std::size_t>(switch_id)].exclusive &&
                             std::find(order.begin(), order.end(), switch_id) != order.end();
        for (const auto& [branch, operators] : branches) {
            const int front = first + static_cast<int>(operators.front());
            const double expected = workload.items[front].expected_share * unit_samples;
            if (expected >= 1 && !in_turn) continue;
            group.push_back(&operators);
            samples += expected;
            if ((samples < 1 || in_turn) && group.size() < most_branches) continue;
            close(group);
            samples = 0;
        }
        close(group);
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (!placed[i]) lanes.push_back({i});
    }
    std::sort(lanes.begin(), lanes.end());
    return lanes;
}

LaneSamples lane_samples(const Workload& workload, int first, const Lane& lane, std::uint32_t unit_samples,
                         unsigned decided) {
    const int front = first + static_cast<int>(lane.front());
    const BranchPath& path = workload.graph.operators[front].path;
    double share = 0;
    for (const std::size_t i : lane) share += workload.items[first + static_cast<int>(i)].expected_share;
    LaneSamples samples;
    if (share <= 0) return samples;
    if (decided > 0 && decided >= path.size()) {  // whole units, for one member after another
        samples.active = std::min(1.0, share);
        samples.mean = samples.usual = unit_samples;
        return samples;
    }
    samples.active = workload.share_on(front, decided);
    share = 0;
    double variance = 0;  // of one sample
    for (const std::size_t i : lane) {
        const double one = std::min(1.0, workload.items[first + static_cast<int>(i)].expected_share / samples.active);
        share += one;
        variance += one * (1 - one);
    }
    double most = static_cast<double>(lane.size()) * unit_samples;
    if (lane.size() == 1 || workload.graph.switches[path.back().switch_id].exclusive) {  // one of the members at most
        share = std::min(share, 1.0);
        samples.relative_variance = (1 - share) / (share * unit_samples);
        most = unit_samples;
    } else {
        samples.relative_variance = variance / (share * share * unit_samples);
    }
    samples.mean = share * unit_samples;
    samples.usual =
        (samples.mean + std::min(most, samples.mean + samples.mean * std::sqrt(samples.relative_variance))) / 2;
    return samples;
}

}  // namespace switchyard::sched
