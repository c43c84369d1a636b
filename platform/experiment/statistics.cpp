// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace switchyard::platform {

double arithmetic_mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        if (value <= 0) return std::nullopt;
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

std::optional<double> crossing(const std::vector<double>& x, const std::vector<double>& y, double level) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (y[i] == level) return x[i];
        if (i + 1 < x.size() && (y[i] < level) != (y[i + 1] < level) && y[i + 1] != level)
            return x[i] + (x[i + 1] - x[i]) * (level - y[i]) / (y[i + 1] - y[i]);
    }
    return std::nullopt;
}

}  // namespace switchyard::platform
