// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/distribution.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

Distribution::Distribution(std::vector<double> frequency) : frequency_(std::move(frequency)) {
    const auto negative = [](double value) { return !(value >= 0); };
    if (frequency_.size() < 2 || frequency_.size() - 1 > std::numeric_limits<std::uint16_t>::max() ||
        std::any_of(frequency_.begin(), frequency_.end(), negative))
        throw std::invalid_argument("expected frequencies of 0 or more for the dyn_dims 0 to 1 .. 65535, found others");
    sum_.assign(frequency_.size(), 0);
    moment_ = sum_;
    for (std::size_t v = 1; v < frequency_.size(); ++v) {
        sum_[v] = sum_[v - 1] + frequency_[v];
        moment_[v] = moment_[v - 1] + static_cast<double>(v) * frequency_[v];
    }
}

double Distribution::loss(std::uint32_t low, std::uint32_t high) const {
    // Rounding may leave a little less than nothing.
    return std::max(0.0, high * frequency(low, high) - (moment_[high] - moment_[low]));
}

double expected_loss(const Distribution& phi, const DynDims& values) {
    if (phi.total() == 0) return 0;
    double sum = 0;
    std::uint32_t low = 0;
    for (const std::uint16_t value : values) {
        sum += phi.loss(low, value);
        low = value;
    }
    return sum / phi.total();
}

DynDims uniform_dyn_dims(std::uint16_t largest, unsigned count) {
    const std::uint32_t kernels = std::clamp<std::uint32_t>(count, 1, largest);
    DynDims values;
    for (std::uint32_t i = 1; i <= kernels; ++i)
        values.push_back(static_cast<std::uint16_t>(ceil_div(largest * i, kernels)));
    return values;
}

}  // namespace switchyard::sched
