// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace switchyard::sched {

namespace {

/// One row of the dynamic programme after another.
class MinLoss {
public:
    /// `candidates`: s[1] .. s[m], strictly increasing.
    MinLoss(const Distribution& phi, const DynDims& candidates) : phi_(phi), candidates_(candidates) {
        for (const std::uint16_t value : candidates) min_.push_back(phi.loss(0, value));
    }

    /// least[k] from least[k-1], k-1 = number of rows so far.
    void add_value() {
        const std::size_t fewest = choices_.size() + 1;  // the value at index i needs i others in front of it
        before_ = min_;
        min_.assign(candidates_.size(), std::numeric_limits<double>::infinity());
        choices_.emplace_back(candidates_.size(), 0);
        halve(fewest, candidates_.size(), fewest - 1, candidates_.size() - 1);
    }

    DynDims best() const {
        DynDims values{candidates_.back()};
        std::size_t i = candidates_.size() - 1;
        for (auto row = choices_.rbegin(); row != choices_.rend(); ++row) {
            i = (*row)[i];
            values.push_back(candidates_[i]);
        }
        std::reverse(values.begin(), values.end());
        return values;
    }

private:
    /// For the values [first, last), whose best predecessors are in [low, high).
    void halve(std::size_t first, std::size_t last, std::size_t low, std::size_t high) {
        if (first >= last) return;
        const std::size_t middle = first + (last - first) / 2;
        std::size_t choice = low;
        for (std::size_t j = low; j < std::min(middle, high); ++j) {
            const double loss = before_[j] + phi_.loss(candidates_[j], candidates_[middle]);
            if (loss >= min_[middle]) continue;
            min_[middle] = loss;
            choice = j;
        }
        choices_.back()[middle] = static_cast<std::uint16_t>(choice);
        halve(first, middle, low, choice + 1);
        halve(middle + 1, last, choice, high);
    }

    const Distribution& phi_;
    const DynDims& candidates_;
    std::vector<double> min_, before_;
    std::vector<std::vector<std::uint16_t>> choices_;  ///< [k - 2][i]: index of the value in front of it
};

DynDims occurring(const Distribution& phi) {
    DynDims values;
    for (std::uint32_t v = 1; v <= phi.largest(); ++v) {
        if (phi.frequencies()[v] > 0 || v == phi.largest()) values.push_back(static_cast<std::uint16_t>(v));
    }
    return values;
}

void halve_widest_gaps(DynDims& values, std::size_t count) {
    while (values.size() < count) {
        std::size_t widest = 0;
        unsigned width = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const unsigned gap = values[i] - (i == 0 ? 0u : values[i - 1]);
            if (gap <= width) continue;
            width = gap;
            widest = i;
        }
        const auto middle = static_cast<std::uint16_t>(values[widest] - width / 2);
        values.insert(values.begin() + static_cast<std::ptrdiff_t>(widest), middle);
    }
}

}  // namespace

DynDims optimal_dyn_dims(const Distribution& phi, unsigned count) {
    const std::size_t max = std::clamp<std::size_t>(count, 1, phi.largest());
    DynDims candidates = occurring(phi);
    if (candidates.size() <= max) {
        halve_widest_gaps(candidates, max);
        return candidates;
    }
    MinLoss min(phi, candidates);
    for (std::size_t k = 1; k < max; ++k) min.add_value();
    return min.best();
}

}  // namespace switchyard::sched
