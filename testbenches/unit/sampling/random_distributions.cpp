// SPDX-License-Identifier: Apache-2.0
#include "random_distributions.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace switchyard::sched {

namespace {

using Frequency = std::vector<double>;

constexpr double kPi = 3.14159265358979323846;

unsigned below(std::mt19937& random, unsigned limit) {
    return static_cast<unsigned>(uniform(random) * limit);
}

/// Adds a bell of area `weight` somewhere, 1 to 10 % of the range wide.
void add_bell(std::mt19937& random, Frequency& f, double weight) {
    const double n = static_cast<double>(f.size() - 1), middle = n * uniform(random);
    const double width = std::max(0.5, n * (0.01 + 0.09 * uniform(random)));
    for (std::size_t v = 1; v < f.size(); ++v) {
        const double z = (static_cast<double>(v) - middle) / width;
        f[v] += weight / width * std::exp(-z * z / 2);
    }
}

/// What a profiler counts of `units` micro-batches whose samples take the branch independently, with a probability
/// that drifts by `amplitude` around a random one.
void count_units(std::mt19937& random, Frequency& f, unsigned units, double amplitude) {
    const auto n = static_cast<unsigned>(f.size() - 1);
    const double usual = 0.1 + 0.8 * uniform(random);
    for (unsigned unit = 0; unit < units; ++unit) {
        const double p = std::clamp(usual + amplitude * std::sin(2 * kPi * unit / units), 0.0, 1.0);
        unsigned samples = 0;
        for (unsigned sample = 0; sample < n; ++sample) samples += uniform(random) < p ? 1 : 0;
        ++f[samples];
    }
}

struct Kind {
    std::string name;
    std::function<void(std::mt19937&, Frequency&)> fill;
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> kAll{
        {"flat", [](std::mt19937&, Frequency& f) { std::fill(f.begin() + 1, f.end(), 1.0); }},
        {"noise",
         [](std::mt19937& random, Frequency& f) {
             for (std::size_t v = 1; v < f.size(); ++v) f[v] = uniform(random);
         }},
        {"exponential, from either end",
         [](std::mt19937& random, Frequency& f) {
             const double n = static_cast<double>(f.size() - 1), steep = 1 + 9 * uniform(random);
             for (std::size_t v = 1; v < f.size(); ++v) f[v] = std::exp(-steep * static_cast<double>(v) / n);
             if (below(random, 2) == 1) std::reverse(f.begin() + 1, f.end());
         }},
        {"power law",
         [](std::mt19937& random, Frequency& f) {
             const double exponent = 0.5 + 1.5 * uniform(random);
             for (std::size_t v = 1; v < f.size(); ++v) f[v] = std::pow(static_cast<double>(v), -exponent);
         }},
        {"bell", [](std::mt19937& random, Frequency& f) { add_bell(random, f, 1); }},
        {"two bells",
         [](std::mt19937& random, Frequency& f) {
             add_bell(random, f, 1);
             add_bell(random, f, 2 * uniform(random));
         }},
        {"a spike on a bell",
         [](std::mt19937& random, Frequency& f) {
             add_bell(random, f, 1);
             f[1 + below(random, static_cast<unsigned>(f.size() - 1))] += 1 + 2 * uniform(random);
         }},
        {"a few dyn_dims",
         [](std::mt19937& random, Frequency& f) {
             const unsigned many = 1 + below(random, 400);
             for (unsigned i = 0; i < many; ++i)
                 f[1 + below(random, static_cast<unsigned>(f.size() - 1))] += uniform(random);
         }},
        {"40 batches counted", [](std::mt19937& random, Frequency& f) { count_units(random, f, 40, 0); }},
        {"400 drifting batches counted", [](std::mt19937& random, Frequency& f) { count_units(random, f, 400, 0.1); }},
    };
    return kAll;
}

}  // namespace

double uniform(std::mt19937& random) {
    return random() / 4294967296.0;
}

const std::vector<std::string>& distribution_kinds() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> list;
        for (const Kind& kind : kinds()) list.push_back(kind.name);
        return list;
    }();
    return kNames;
}

SamplingCase random_case(unsigned index) {
    std::mt19937 random(index + 1);
    const auto largest = static_cast<unsigned>(16 * std::pow(512, uniform(random)));
    unsigned kernels = 2 + below(random, 199);
    const unsigned budget = below(random, 4);
    if (budget == 0) kernels = 32;
    if (budget == 1) kernels = 200;
    kernels = std::min(kernels, 2 + below(random, largest - 2));
    const Kind& kind = kinds()[index % kinds().size()];
    Frequency frequency(largest + std::size_t{1}, 0);
    kind.fill(random, frequency);
    return {kind.name, Distribution(std::move(frequency)), kernels};
}

}  // namespace switchyard::sched
