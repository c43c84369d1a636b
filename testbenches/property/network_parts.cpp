// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/network_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace switchyard::testing {

std::vector<std::string> random_shares(RandomSource& random, unsigned count) {
    constexpr unsigned kParts = 1'000'000;
    std::vector<double> weights(count);
    for (double& weight : weights) weight = -std::log(random.uniform());
    if (random.chance(0.1)) {
        std::fill(weights.begin(), weights.end(), 0);
        weights[random.integer(0, count - 1)] = 1;
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::string> shares;
    unsigned rest = kParts;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned part = i + 1 == count ? rest : std::min(rest, static_cast<unsigned>(weights[i] / sum * kParts));
        rest -= part;
        shares.push_back(fmt::format("{}.{:06}", part / kParts, part % kParts));
    }
    return shares;
}

}  // namespace switchyard::testing
