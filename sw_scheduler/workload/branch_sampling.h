// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace switchyard::sched {

/// Probabilities in proportion to the weights that add up to `count`, none above 1: what would be above is set to 1 and
/// the others get the rest (Tille, Sampling Algorithms, 2006, section 2.10). `count` is at most the number of positive
/// weights.
std::vector<double> inclusion_probabilities(const std::vector<double>& weights, double count);

/// Shares 1, 2^-exponent, 3^-exponent, ..., which add up to 1: Zipf's law. Exponent 0: all alike.
std::vector<double> zipf_shares(std::size_t branches, double exponent);

/// Moves probability from early branches to late ones, `tilt` > 0, or back, `tilt` < 0, and keeps the sum. At a tilt of
/// 1 or -1 as much moves as all probabilities can between 0 and 1; the mean over tilts of mean 0 is `probability`.
std::vector<double> tilted(const std::vector<double>& probability, double tilt);

/// Draws a set of branches that has each with its probability, and the sum of the probabilities in branches, rounded
/// down or up: the pivotal method in random order (Deville and Tille, Biometrika 85, 1998). Returns a mask.
/// `uniform`: independent numbers between 0 and 1.
std::uint64_t fixed_size_sample(std::vector<double> probability, const std::function<double()>& uniform);

}  // namespace switchyard::sched
