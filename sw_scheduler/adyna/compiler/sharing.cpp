// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/sharing.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/allocation.h"

namespace switchyard::sched {

namespace {

double mean_of(const SizeChances& chances) {
    double sum = 0, all = 0;
    for (std::size_t samples = 0; samples < chances.size(); ++samples) {
        sum += static_cast<double>(samples) * chances[samples];
        all += chances[samples];
    }
    return all > 0 ? sum / all : 0;
}

std::vector<unsigned> tiles_of(const std::vector<SharingOperator>& operators) {
    std::vector<unsigned> tiles(operators.size());
    std::transform(operators.begin(), operators.end(), tiles.begin(),
                   [](const SharingOperator& one) { return one.tiles; });
    return tiles;
}

}  // namespace

SizeChances binomial_sizes(std::uint32_t unit_samples, double share) {
    SizeChances chances(unit_samples + std::size_t{1}, 0.0);
    if (share <= 0 || share >= 1) {
        chances[share <= 0 ? 0 : unit_samples] = 1;
        return chances;
    }
    const double n = unit_samples;
    for (std::uint32_t k = 0; k <= unit_samples; ++k) {
        const double factors = std::lgamma(n + 1) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1);
        chances[k] = std::exp(factors + k * std::log(share) + (n - k) * std::log1p(-share));
    }
    return chances;
}

PairSizes::PairSizes(const SizeChances& first, const SizeChances& second, PairSizesAre how)
    : width_(static_cast<std::uint32_t>(first.size())), chances_(first.size() * first.size(), 0.0) {
    if (first.empty() || first.size() != second.size())
        throw std::invalid_argument(fmt::format("expected sizes of one micro-batch for both branches, found {} and {}",
                                                first.size(), second.size()));
    const std::uint32_t unit = width_ - 1;
    double sum = 0;
    for (std::uint32_t a = 0; a < width_; ++a) {
        for (std::uint32_t b = 0; b < width_; ++b) {
            double& chance = chances_[a * width_ + b];
            if (how == PairSizesAre::the_unit) {
                chance = a + b == unit ? first[a] : 0;
            } else if (how == PairSizesAre::independent || a + b <= unit) {
                chance = first[a] * second[b];
            }
            sum += chance;
        }
    }
    if (!(sum > 0)) throw std::invalid_argument("expected sizes that occur, found chances of 0");
    for (double& chance : chances_) chance /= sum;
}

PairSizes::PairSizes(const std::vector<const std::vector<std::uint64_t>*>& masks, std::uint32_t unit_samples,
                     unsigned first, unsigned second)
    : width_(unit_samples + 1), chances_(std::size_t{width_} * width_, 0.0) {
    double units = 0;
    for (const std::vector<std::uint64_t>* batch : masks) {
        if (batch->empty()) continue;
        batches_.emplace_back();
        for (std::size_t begin = 0; begin < batch->size(); begin += unit_samples, ++units) {
            std::uint32_t a = 0, b = 0;
            for (std::size_t id = begin; id < std::min(begin + unit_samples, batch->size()); ++id) {
                a += (*batch)[id] >> first & 1U;
                b += (*batch)[id] >> second & 1U;
            }
            batches_.back().push_back({a, b});
            ++chances_[std::size_t{a} * width_ + b];
        }
    }
    if (units == 0) throw std::invalid_argument("expected a micro-batch or more, found none");
    for (double& chance : chances_) chance /= units;
}

double PairSizes::both_active() const {
    SizeChances first(width_, 0.0), second(width_, 0.0);
    for_each([&](std::uint32_t a, std::uint32_t b, double chance) {
        first[a] += chance;
        second[b] += chance;
    });
    const double first_mean = mean_of(first), second_mean = mean_of(second);
    double both = 0;
    for_each([&](std::uint32_t a, std::uint32_t b, double chance) {
        if (a > 0 && b > 0 && a >= first_mean && b >= second_mean) both += chance;
    });
    return both;
}

PairMoments PairSizes::moments_of(const std::vector<std::pair<double, Values>>& weighted) {
    PairMoments result;
    double all = 0;
    for (const auto& [weight, values] : weighted) {
        all += weight;
        for (std::size_t i = 0; i < 2; ++i) result.mean[i] += weight * values[i];
    }
    for (double& mean : result.mean) mean /= all;
    for (const auto& [weight, values] : weighted) {
        const double first = values[0] - result.mean[0], second = values[1] - result.mean[1];
        result.variance[0] += weight / all * first * first;
        result.variance[1] += weight / all * second * second;
        result.covariance += weight / all * first * second;
    }
    return result;
}

SharedTiles shared_tiles(unsigned tiles, double a, double b) {
    SharedTiles result{};
    const std::array<std::array<double, 2>, 3> ratios{{{a, b}, {2 * a, b}, {a, 2 * b}}};
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        const std::vector<unsigned> shares = allocate_proportional(tiles, {ratios[i][0], ratios[i][1]});
        result[i] = {shares[0], shares[1]};
    }
    return result;
}

std::vector<unsigned> grown(const std::vector<SharingOperator>& operators, unsigned more) {
    std::vector<unsigned> tiles = tiles_of(operators);
    for (;;) {
        std::size_t busiest = 0;
        for (std::size_t i = 1; i < operators.size(); ++i) {
            if (operators[i].load * tiles[busiest] > operators[busiest].load * tiles[i]) busiest = i;
        }
        if (operators.empty() || operators[busiest].step > more) return tiles;
        tiles[busiest] += operators[busiest].step;
        more -= operators[busiest].step;
    }
}

std::vector<unsigned> shrunk(const std::vector<SharingOperator>& operators, unsigned fewer) {
    std::vector<unsigned> tiles = tiles_of(operators);
    for (unsigned given = 0; given < fewer;) {
        std::size_t idlest = operators.size();
        double min = 0;
        for (std::size_t i = 0; i < operators.size(); ++i) {
            if (tiles[i] < 2 * operators[i].step) continue;
            const double after = operators[i].load / (tiles[i] - operators[i].step);
            if (idlest < operators.size() && after >= min) continue;
            idlest = i;
            min = after;
        }
        if (idlest == operators.size()) return {};
        tiles[idlest] -= operators[idlest].step;
        given += operators[idlest].step;
    }
    return tiles;
}

}  // namespace switchyard::sched
