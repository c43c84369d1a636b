// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/micro_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// Probabilities of k = low, low + 1, ... of the d samples to be among `part` of `whole`.
struct Hypergeometric {
    std::uint32_t low = 0;
    std::vector<double> probability;

    /// From the most likely k outwards by the ratio of neighbours, until what is left no longer counts.
    Hypergeometric(std::uint32_t whole, std::uint32_t d, std::uint32_t part) {
        constexpr double kNegligible = 1e-18;  // of the most likely one
        const std::uint32_t min = d + part > whole ? d + part - whole : 0, max = std::min(d, part);
        const auto mode = static_cast<std::uint32_t>((d + std::uint64_t{1}) * (part + std::uint64_t{1}) / (whole + 2));
        const std::uint32_t middle = std::clamp(mode, min, max);
        const auto next_over_this = [&](std::uint32_t k) {
            return static_cast<double>(d - k) * (part - k) / ((k + 1.0) * (whole + k + 1.0 - d - part));
        };
        std::vector<double> below;
        low = middle;
        for (double p = 1; low > min && p > kNegligible; --low) below.push_back(p /= next_over_this(low - 1));
        probability.assign(below.rbegin(), below.rend());
        probability.push_back(1);
        double p = 1;
        for (std::uint32_t k = middle; k < max && p > kNegligible; ++k) probability.push_back(p *= next_over_this(k));
        const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
        for (double& one : probability) one /= sum;
    }
};

std::vector<double> split(const std::vector<double>& units, std::uint32_t part) {
    const auto whole = static_cast<std::uint32_t>(units.size() - 1);
    std::vector<double> parts(part + std::size_t{1}, 0);
    for (std::uint32_t d = 0; d <= whole; ++d) {
        if (units[d] == 0) continue;
        const Hypergeometric share(whole, d, part);
        for (std::size_t i = 0; i < share.probability.size(); ++i)
            parts[share.low + i] += units[d] * whole / part * share.probability[i];
    }
    return parts;
}

std::vector<double> sum_of(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> sum(a.size() + b.size() - 1, 0);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == 0) continue;
        for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
    }
    return sum;
}

std::vector<double> join(std::vector<double> parts, std::uint32_t times) {
    const double units = std::accumulate(parts.begin(), parts.end(), 0.0);
    if (units == 0) return std::vector<double>((parts.size() - 1) * times + 1, 0);
    for (double& one : parts) one /= units;
    std::vector<double> joined{units / times};
    for (std::uint32_t left = times; left > 0; left /= 2) {  // powers of two of the parts
        if (left % 2 == 1) joined = sum_of(joined, parts);
        if (left > 1) parts = sum_of(parts, parts);
    }
    return joined;
}

}  // namespace

Distribution in_units(const Distribution& phi, std::uint16_t unit_samples) {
    const std::uint32_t counted = phi.largest(), wanted = unit_samples;
    if (counted == wanted) return phi;
    const std::uint32_t part = std::gcd(counted, wanted);
    std::vector<double> frequency = phi.frequencies();
    if (part < counted) frequency = split(frequency, part);
    if (part < wanted) frequency = join(std::move(frequency), wanted / part);
    return Distribution(std::move(frequency));
}

Distribution in_compacted_units(const Distribution& phi, std::uint16_t unit_samples) {
    std::vector<double> frequency(unit_samples + std::size_t{1}, 0);
    const std::uint32_t units = ceil_div(phi.largest(), unit_samples);
    for (std::uint32_t n = 0; n <= phi.largest(); ++n) {
        const double batches = phi.frequencies()[n];
        const std::uint32_t full = n / unit_samples, rest = n % unit_samples;
        frequency[unit_samples] += batches * full;
        if (rest > 0) frequency[rest] += batches;
        frequency[0] += batches * (units - full - (rest > 0 ? 1 : 0));
    }
    return Distribution(std::move(frequency));
}

}  // namespace switchyard::sched
