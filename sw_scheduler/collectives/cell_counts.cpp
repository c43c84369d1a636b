// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::sched {

CellCounts skewed_cells(unsigned devices, std::uint64_t cells, double skew, std::uint64_t seed, bool own_ranks) {
    if (devices == 0 || !(skew >= 0))
        throw std::invalid_argument(
            fmt::format("cells: expected a device and a skew of 0 or more, found {} and {}", devices, skew));
    RandomSource random(seed, 0);
    std::vector<unsigned> by_rank(devices);
    std::iota(by_rank.begin(), by_rank.end(), 0u);
    const auto rank_devices = [&] {
        for (unsigned i = devices; i-- > 1;) std::swap(by_rank[i], by_rank[random.integer(0, i)]);
    };
    rank_devices();
    std::vector<double> below(devices);  // share of the ranks up to each
    double sum = 0;
    for (unsigned rank = 0; rank < devices; ++rank) below[rank] = sum += std::pow(rank + 1.0, -skew);

    CellCounts counts(devices, std::vector<std::uint64_t>(devices));
    for (auto& row : counts) {
        if (own_ranks) rank_devices();
        for (std::uint64_t cell = 0; cell < cells; ++cell) {
            const auto rank = std::upper_bound(below.begin(), below.end(), random.uniform() * sum) - below.begin();
            ++row[by_rank[std::min<std::size_t>(static_cast<std::size_t>(rank), devices - 1)]];
        }
    }
    return counts;
}

}  // namespace switchyard::sched
