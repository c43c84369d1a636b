// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace switchyard::sched {

namespace {

/// v[i-1], 0 in front of the first.
std::uint16_t lower_bound_of(const DynDims& values, std::size_t i) {
    return i == 0 ? std::uint16_t{0} : values[i - 1];
}

std::uint16_t middle_of(const DynDims& values, std::size_t i) {
    return static_cast<std::uint16_t>((std::uint32_t{lower_bound_of(values, i)} + values[i]) / 2);
}

std::ptrdiff_t offset(std::size_t i) {
    return static_cast<std::ptrdiff_t>(i);
}

}  // namespace

Samples selected_counts(const Distribution& phi, const DynDims& values) {
    Samples samples{values, {}};
    for (std::size_t i = 0; i < values.size(); ++i)
        samples.frequency.push_back(phi.frequency(lower_bound_of(values, i), values[i]));
    return samples;
}

Distribution uniform_within_ranges(const Samples& samples, double unused) {
    std::vector<double> frequency{unused};
    for (std::size_t i = 0; i < samples.values.size(); ++i) {
        const double width = samples.values[i] - lower_bound_of(samples.values, i);
        frequency.resize(samples.values[i] + std::size_t{1}, samples.frequency[i] / width);
    }
    return Distribution(std::move(frequency));
}

std::vector<double> calc_punish(const Samples& samples) {
    std::vector<double> punish;
    for (std::size_t i = 0; i + 1 < samples.values.size(); ++i)
        punish.push_back(samples.frequency[i] * (samples.values[i + 1] - samples.values[i]));
    punish.push_back(std::numeric_limits<double>::infinity());
    return punish;
}

std::vector<double> calc_saving(const Samples& samples) {
    std::vector<double> saving;
    for (std::size_t i = 0; i < samples.values.size(); ++i) {
        const double low = lower_bound_of(samples.values, i), high = samples.values[i];
        const double middle = middle_of(samples.values, i);
        saving.push_back(samples.frequency[i] * (middle - low) / (high - low) * (high - middle));
    }
    return saving;
}

std::vector<double> redistribute(const Samples& samples, const DynDims& new_values) {
    std::vector<double> result(new_values.size(), 0);
    std::size_t next = 0;  // first new value above the ranges so far
    for (std::size_t i = 0; i < samples.values.size(); ++i) {
        const std::uint16_t low = lower_bound_of(samples.values, i), high = samples.values[i];
        double left = samples.frequency[i];
        std::uint16_t from = low;
        for (; next < new_values.size() && new_values[next] < high; ++next) {
            const double part = samples.frequency[i] * (new_values[next] - from) / (high - low);
            result[next] += part;
            left -= part;
            from = new_values[next];
        }
        result[next] += left;
        if (new_values[next] == high) ++next;
    }
    return result;
}

bool resample_once(Samples& samples) {
    if (samples.values.size() < 2) return false;
    const std::vector<double> punish = calc_punish(samples);
    const auto removed = std::min_element(punish.begin(), punish.end()) - punish.begin();
    const std::uint16_t removed_value = samples.values[static_cast<std::size_t>(removed)];
    Samples changed{samples.values, {}};
    changed.values.erase(changed.values.begin() + removed);
    changed.frequency = redistribute(samples, changed.values);

    const std::vector<double> saving = calc_saving(changed);
    const auto place = static_cast<std::size_t>(std::max_element(saving.begin(), saving.end()) - saving.begin());
    const std::uint16_t added_value = middle_of(changed.values, place);
    if (saving[place] <= 0 || added_value == removed_value) return false;
    changed.values.insert(changed.values.begin() + offset(place), added_value);
    changed.frequency = redistribute(samples, changed.values);
    samples = std::move(changed);
    return true;
}

Samples resample(Samples samples, unsigned iterations) {
    for (unsigned i = 0; i < iterations && resample_once(samples); ++i) continue;
    return samples;
}

DynDims resample_best(const Samples& samples, unsigned iterations) {
    return resample_best(samples, iterations, uniform_within_ranges(samples));
}

DynDims resample_best(const Samples& samples, unsigned iterations, const Distribution& phi) {
    Samples walking = samples;
    DynDims best = samples.values;
    double min = expected_loss(phi, best);
    for (unsigned i = 0; i < iterations && resample_once(walking); ++i) {
        const double loss = expected_loss(phi, walking.values);
        if (loss >= min) continue;
        min = loss;
        best = walking.values;
    }
    return best;
}

unsigned usual_iterations(std::size_t values) {
    constexpr unsigned kIterationsPerValue = 4;
    return kIterationsPerValue * static_cast<unsigned>(values);
}

}  // namespace switchyard::sched
