// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/constraint.h"
#include "switchyard/platform/experiment/sweep.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::platform {

namespace {

/// One value of each axis.
using Sample = std::vector<std::vector<std::string>>;

/// The standard's distributions may differ from library to library; this does not.
class Uniform {
public:
    explicit Uniform(std::uint64_t seed) : generator_(seed) {}
    double operator()() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
    std::size_t below(std::size_t count) { return static_cast<std::size_t>((*this)() * static_cast<double>(count)); }

private:
    std::mt19937_64 generator_;
};

/// The last axis varies fastest.
std::vector<Sample> grid(const Sweep& sweep) {
    std::vector<Sample> samples(1);
    for (const Sweep::Axis& axis : sweep.axes) {
        std::vector<Sample> longer;
        longer.reserve(samples.size() * axis.values.size());
        for (const Sample& sample : samples) {
            for (const auto& value : axis.values) {
                longer.push_back(sample);
                longer.back().push_back(value);
            }
        }
        samples = std::move(longer);
    }
    return samples;
}

std::vector<Sample> random(const Sweep& sweep) {
    Uniform uniform(sweep.sampling_seed);
    std::vector<Sample> samples(sweep.samples);
    for (Sample& sample : samples)
        for (const Sweep::Axis& axis : sweep.axes) sample.push_back(axis.at(uniform()));
    return samples;
}

/// Each axis is cut into as many equal parts as there are samples, and each part has one sample (McKay, Beckman and
/// Conover, 1979).
std::vector<Sample> latin_hypercube(const Sweep& sweep) {
    Uniform uniform(sweep.sampling_seed);
    std::vector<Sample> samples(sweep.samples);
    std::vector<std::size_t> part(sweep.samples);
    for (const Sweep::Axis& axis : sweep.axes) {
        std::iota(part.begin(), part.end(), std::size_t{0});
        for (std::size_t i = part.size(); i > 1; --i) std::swap(part[i - 1], part[uniform.below(i)]);
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i].push_back(
                axis.at((static_cast<double>(part[i]) + uniform()) / static_cast<double>(samples.size())));
    }
    return samples;
}

std::vector<Sample> samples_of(const Sweep& sweep) {
    if (sweep.sampling == Sweep::Sampling::grid) return grid(sweep);
    return sweep.sampling == Sweep::Sampling::random ? random(sweep) : latin_hypercube(sweep);
}

SweepPoint point_of(const Sweep& sweep, const Sweep::Network& network, const Sweep::Design& design,
                    const Sample& sample) {
    SweepPoint point;
    point.network = network.name;
    point.design = design.name;
    point.run.design = design.design;
    point.run.workload = network.file;
    point.run.platform = design.platform;
    point.run.work.trace = network.trace;
    point.run.work.batches = sweep.batches;
    point.run.work.first_batch = sweep.first_batch;
    point.run.work.seed = sweep.seed;
    for (const auto* set : {&sweep.set, &design.set})
        for (const auto& [key, value] : *set) apply_setting({sweep.file, 0}, key, value, point.run);
    for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
        const Sweep::Axis& axis = sweep.axes[i];
        const auto& names = axis.designs;
        if (!names.empty() && std::find(names.begin(), names.end(), design.name) == names.end()) continue;
        for (std::size_t k = 0; k < axis.keys.size(); ++k) {
            point.settings[axis.keys[k]] = sample[i][k];
            apply_setting({sweep.file, 0}, axis.keys[k], sample[i][k], point.run);
        }
    }
    return point;
}

std::vector<Constraint> constraints_of(const Sweep& sweep) {
    std::set<std::string> keys = {"network", "design"};
    for (const auto& [key, value] : sweep.set) keys.insert(key);
    for (const Sweep::Design& design : sweep.designs)
        for (const auto& [key, value] : design.set) keys.insert(key);
    for (const Sweep::Axis& axis : sweep.axes) keys.insert(axis.keys.begin(), axis.keys.end());
    std::vector<Constraint> constraints;
    for (const auto& [text, line] : sweep.constraints) {
        try {
            constraints.emplace_back(text, std::vector<std::string>(keys.begin(), keys.end()));
        } catch (const InputError& error) {
            throw InputError(sweep.file, line, "constraints", error.what());
        }
    }
    return constraints;
}

}  // namespace

std::string SweepPoint::name() const {
    std::string text = network + ", " + design;
    for (const auto& [key, value] : settings) text += fmt::format(", {} {}", key, value);
    return text;
}

std::vector<SweepPoint> points_of(const Sweep& sweep) {
    std::vector<Constraint> constraints = constraints_of(sweep);
    const std::vector<Sample> samples = samples_of(sweep);
    std::vector<SweepPoint> points;
    for (const Sweep::Network& network : sweep.networks) {
        for (const Sweep::Design& design : sweep.designs) {
            std::set<std::map<std::string, std::string>> there;
            for (const Sample& sample : samples) {
                SweepPoint point = point_of(sweep, network, design, sample);
                std::map<std::string, std::string> values = point.settings;
                values.insert({{"network", network.name}, {"design", design.name}});
                values.insert(design.set.begin(), design.set.end());
                values.insert(sweep.set.begin(), sweep.set.end());
                const auto holds = [&values](Constraint& constraint) { return constraint.holds(values); };
                if (!std::all_of(constraints.begin(), constraints.end(), holds)) continue;
                if (there.insert(point.settings).second) points.push_back(std::move(point));
            }
        }
    }
    if (points.empty()) throw InputError(sweep.file, 0, "constraints", "expected a point that holds them, found none");
    return points;
}

}  // namespace switchyard::platform
