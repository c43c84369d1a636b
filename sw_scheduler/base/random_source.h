// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace switchyard {

/// Random numbers from the bits of std::mt19937_64, which the standard fixes; what its distributions make of them it
/// does not, so that a seed would mean something else with another library. Streams of a seed are independent.
class RandomSource {
public:
    RandomSource(std::uint64_t seed, std::uint64_t stream) {
        const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
        std::seed_seq words{low(seed), low(seed >> 32), low(stream), low(stream >> 32)};
        engine_.seed(words);
    }

    /// Between 0 and 1, neither included.
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    bool chance(double probability) { return uniform() < probability; }
    /// Both ends included.
    unsigned integer(unsigned low, unsigned high) {
        return low + static_cast<unsigned>(uniform() * (static_cast<double>(high) - low + 1));
    }
    /// All orders of magnitude alike; low > 0.
    double log_uniform(double low, double high) { return low * std::pow(high / low, uniform()); }
    std::uint64_t log_integer(double low, double high) {
        return static_cast<std::uint64_t>(log_uniform(low, high + 1));
    }
    template <class T>
    const T& choose(const std::vector<T>& choices) {
        return choices[integer(0, static_cast<unsigned>(choices.size()) - 1)];
    }

    /// Of the standard normal distribution (Box and Muller).
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

private:
    std::mt19937_64 engine_;
    double spare_ = 0;
    bool has_spare_ = false;
};

}  // namespace switchyard
