// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/pareto.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace switchyard::platform {

namespace {

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
    return a != b && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return x <= y; });
}

}  // namespace

std::vector<bool> pareto_front(const std::vector<std::vector<double>>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Whatever dominates a point is smaller in this order, and so is a point of the front that dominates it.
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<std::size_t> front;
    std::vector<bool> result(values.size(), false);
    for (const std::size_t point : order) {
        const auto worse = [&](std::size_t other) { return dominates(values[other], values[point]); };
        if (std::any_of(front.begin(), front.end(), worse)) continue;
        result[point] = true;
        front.push_back(point);
    }
    return result;
}

}  // namespace switchyard::platform
