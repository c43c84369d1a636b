// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/branch_sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <boost/container/small_vector.hpp>

namespace switchyard::sched {

std::vector<double> inclusion_probabilities(const std::vector<double>& weights, double count) {
    std::vector<double> result(weights.size(), 0);
    std::vector<bool> certain(weights.size(), false);
    for (;;) {
        double rest = count, sum = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (certain[i]) {
                rest -= 1;
            } else {
                sum += weights[i];
            }
        }
        bool more = false;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            result[i] = certain[i] ? 1 : (sum > 0 ? weights[i] * rest / sum : 0);
            if (result[i] > 1) certain[i] = more = true;
        }
        if (!more) return result;
    }
}

std::vector<double> zipf_shares(std::size_t branches, double exponent) {
    std::vector<double> shares;
    for (std::size_t rank = 1; rank <= branches; ++rank)
        shares.push_back(std::pow(static_cast<double>(rank), -exponent));
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return shares;
}

std::vector<double> tilted(const std::vector<double>& probability, double tilt) {
    boost::container::small_vector<double, 16> room;  // that a probability has on both sides
    room.reserve(probability.size());
    for (const double p : probability) room.push_back(std::min(p, 1 - p));
    const double all = std::accumulate(room.begin(), room.end(), 0.0);
    // Early and late are told apart where most can move.
    std::size_t split = 0;
    double early = 0, max = 0, sum = 0;
    for (std::size_t i = 0; i < room.size(); ++i) {
        sum += room[i];
        if (std::min(sum, all - sum) <= max) continue;
        max = std::min(sum, all - sum);
        early = sum;
        split = i + 1;
    }
    std::vector<double> result = probability;
    if (max == 0) return result;
    for (std::size_t i = 0; i < room.size(); ++i)
        result[i] += tilt * room[i] * (i < split ? -max / early : max / (all - early));
    return result;
}

std::uint64_t fixed_size_sample(std::vector<double> probability, const std::function<double()>& uniform) {
    boost::container::small_vector<std::size_t, 16> order(probability.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<std::size_t>(uniform() * static_cast<double>(i))]);

    constexpr double kRounding = 1e-9;
    std::uint64_t mask = 0;
    const auto decided = [&](std::size_t branch) {
        if (probability[branch] > 1 - kRounding) mask |= std::uint64_t{1} << branch;
        return probability[branch] < kRounding || probability[branch] > 1 - kRounding;
    };
    std::size_t open = probability.size();  // the one branch that is not decided yet; none at first
    for (const std::size_t next : order) {
        if (decided(next)) continue;
        if (open == probability.size()) {
            open = next;
            continue;
        }
        double &a = probability[open], &b = probability[next];
        const double sum = a + b;
        const bool first = sum < 1 ? uniform() * sum < a : uniform() * (2 - sum) < 1 - b;
        double &winner = first ? a : b, &loser = first ? b : a;
        winner = std::min(sum, 1.0);
        loser = std::max(sum - 1, 0.0);
        const std::size_t pair[] = {open, next};
        open = probability.size();
        for (const std::size_t branch : pair)
            if (!decided(branch)) open = branch;
    }
    if (open < probability.size() && uniform() < probability[open]) mask |= std::uint64_t{1} << open;
    return mask;
}

}  // namespace switchyard::sched
