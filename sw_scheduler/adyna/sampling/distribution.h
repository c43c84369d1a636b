// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchyard::sched {

/// dyn_dims that have a kernel, strictly increasing, at least one. Best fit gives a micro-batch of v samples the
/// smallest of them that is no less than v; so the last one is the largest dyn_dim that can occur.
using DynDims = std::vector<std::uint16_t>;

/// phi(v) of Adyna, section VII: how many micro-batches have v samples at an operator. Frequencies are counts, or
/// shares of any whole; only their proportions matter.
class Distribution {
public:
    /// `frequency[v]`: of dyn_dim v, from 0 to the largest that can occur, 65535 at most; none may be negative.
    /// Throws std::invalid_argument otherwise, and if there is no dyn_dim but 0.
    explicit Distribution(std::vector<double> frequency);

    std::uint16_t largest() const { return static_cast<std::uint16_t>(frequency_.size() - 1); }
    const std::vector<double>& frequencies() const { return frequency_; }
    /// Of all units, those without a sample included.
    double total() const { return frequency_[0] + sum_.back(); }
    /// Samples a unit, those without a sample included; 0 if nothing was counted.
    double mean() const { return total() > 0 ? moment_.back() / total() : 0; }
    /// Of the dyn_dims in (low, high], high <= largest().
    double frequency(std::uint32_t low, std::uint32_t high) const { return sum_[high] - sum_[low]; }
    /// Loss of the dyn_dims in (low, high] when they run the kernel for `high`:
    ///   sum of phi(v) (high - v) over low < v <= high.
    double loss(std::uint32_t low, std::uint32_t high) const;

private:
    std::vector<double> frequency_;
    std::vector<double> sum_, moment_;  ///< of phi(v) and v phi(v), up to and with v; dyn_dim 0 left out
};

/// Samples that a micro-batch computes in vain, on average over all units: a unit of v samples on the kernel for
/// v_i >= v loses v_i - v (section VII); one without samples runs no kernel. The last of `values` must be
/// phi.largest(). 0 if nothing was counted.
double expected_loss(const Distribution& phi, const DynDims& values);

/// Spread evenly over 1 .. largest, `count` of them at most, always with the largest (the initial kernels of
/// section VII).
DynDims uniform_dyn_dims(std::uint16_t largest, unsigned count);

}  // namespace switchyard::sched
