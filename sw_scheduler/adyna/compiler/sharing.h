// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchyard::sched {

/// Tile sharing (Adyna, section V-B): two branches of a switch have tiles that either of them may use, as the real
/// sizes of a micro-batch demand.

/// What is known of the sizes of two branches together.
enum class PairSizesAre : std::uint8_t {
    independent,
    at_most_the_unit,  ///< a sample takes one of several branches
    the_unit           ///< each sample takes one of the two
};

/// How likely a micro-batch brings a branch N samples: index = samples, up to those of the unit.
using SizeChances = std::vector<double>;
/// Each of `unit_samples` samples takes the branch with the probability `share`.
SizeChances binomial_sizes(std::uint32_t unit_samples, double share);

/// Two quantities that depend on the sizes of a micro-batch, each as the average over two units that follow each
/// other: N units are in the slots between two stages, so that these do not wait for each other unit by unit.
struct PairMoments {
    std::array<double, 2> mean{}, variance{};
    double covariance = 0;
};

/// Sizes of two branches in micro-batches.
class PairSizes {
public:
    /// From those of each branch, of one length; units are independent of each other. Where the branches exclude each
    /// other, sizes that add up to more than the unit do not occur, and the others keep their proportions.
    PairSizes(const SizeChances& first, const SizeChances& second, PairSizesAre how);
    /// As they were in micro-batches of `unit_samples`: of each sample its mask at the branches' switch, 0 if it did
    /// not reach it. `masks`: of whole batches, at least one.
    PairSizes(const std::vector<const std::vector<std::uint64_t>*>& masks, std::uint32_t unit_samples, unsigned first,
              unsigned second);

    /// visit(first, second, probability) for all sizes that occur.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::uint32_t first = 0; first < width_; ++first) {
            for (std::uint32_t second = 0; second < width_; ++second) {
                const double chance = chances_[std::size_t{first} * width_ + second];
                if (chance > 0) visit(first, second, chance);
            }
        }
    }
    /// Probability that both branches have samples, and as many as they are expected to have at least.
    double both_active() const;
    /// quantities(first, second): std::array of two.
    template <class Quantities>
    PairMoments moments(Quantities&& quantities) const;

private:
    using Values = std::array<double, 2>;
    static PairMoments moments_of(const std::vector<std::pair<double, Values>>& weighted);

    std::uint32_t width_;
    std::vector<double> chances_;
    std::vector<std::vector<std::array<std::uint32_t, 2>>> batches_;  ///< sizes unit after unit, if they are known
};

template <class Quantities>
PairMoments PairSizes::moments(Quantities&& quantities) const {
    std::vector<std::pair<double, Values>> weighted;
    if (batches_.empty()) {
        for_each([&](std::uint32_t a, std::uint32_t b, double chance) {
            weighted.push_back({chance, quantities(a, b)});
        });
        PairMoments result = moments_of(weighted);
        for (double& variance : result.variance) variance /= 2;
        result.covariance /= 2;
        return result;
    }
    for (const auto& batch : batches_) {
        Values before = quantities(batch.front()[0], batch.front()[1]);
        if (batch.size() == 1) weighted.push_back({1, before});
        for (std::size_t unit = 1; unit < batch.size(); ++unit) {
            const Values here = quantities(batch[unit][0], batch[unit][1]);
            weighted.push_back({1, {(before[0] + here[0]) / 2, (before[1] + here[1]) / 2}});
            before = here;
        }
    }
    return moments_of(weighted);
}

/// Tiles of the two branches in each of the three allocations: a : b, 2a : b and a : 2b.
using SharedTiles = std::array<std::array<unsigned, 2>, 3>;
/// Of `tiles` tiles, by largest remainder, at least one for each branch; a and b: the branches' expected loads.
SharedTiles shared_tiles(unsigned tiles, double a, double b);

/// An operator of one of the branches: its load, and its tiles, which come in multiples of `step`.
struct SharingOperator {
    double load = 0;
    unsigned tiles = 1, step = 1;
};
/// Tiles of each operator when a branch has up to `more` tiles more than now: the one with most load a tile gets `step`
/// tiles, as long as it can.
std::vector<unsigned> grown(const std::vector<SharingOperator>& operators, unsigned more);
/// Tiles of each operator when a branch gives up `fewer` tiles or, for the sake of the steps, a few more: the one with
/// least load a tile afterwards first. Each keeps `step` tiles; empty if that leaves too many.
std::vector<unsigned> shrunk(const std::vector<SharingOperator>& operators, unsigned fewer);

}  // namespace switchyard::sched
