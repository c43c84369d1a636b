// SPDX-License-Identifier: Apache-2.0
// Softmax and normalisation over the channels of a token against their formulas in binary64.

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "switchyard/hw/numerics/channel_steps.h"
#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr double kRounding = 0x1p-24;  ///< of a binary32, relative

std::vector<float> random_values(std::mt19937& random, std::size_t count, double scale, double offset) {
    std::normal_distribution<double> normal(offset, scale);
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(normal(random)));
    return values;
}

std::vector<double> softmax_of(const std::vector<float>& x) {
    double sum = 0;
    std::vector<double> result;
    for (const float one : x) sum += std::exp(double{one} - double{x.front()});
    for (const float one : x) result.push_back(std::exp(double{one} - double{x.front()}) / sum);
    return result;
}

struct Statistics {
    double mean = 0, variance = 0;
};

Statistics statistics_of(const std::vector<float>& x) {
    Statistics result;
    for (const float one : x) result.mean += one;
    result.mean /= static_cast<double>(x.size());
    for (const float one : x) result.variance += (one - result.mean) * (one - result.mean);
    result.variance /= static_cast<double>(x.size());
    return result;
}

}  // namespace

TEST_CASE("softmax against its formula", "[numerics]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (const std::size_t count : {1, 2, 8, 10, 64, 1000}) {
        for (const double scale : {0.01, 1.0, 5.0}) {
            const std::vector<float> x = random_values(random, count, scale, 3);
            std::vector<float> got = x;
            numerics::softmax(got.data(), got.size());
            const std::vector<double> wanted = softmax_of(x);
            double sum = 0;
            for (std::size_t i = 0; i < count; ++i) {
                INFO("channel " << i << " of " << count << ", scale " << scale);
                // The difference from the largest is off by a rounding of its size, which the exponential multiplies;
                // then the exponential, the sum of `count` of them and the quotient.
                const double bound = kRounding * (2 * 8 * scale + static_cast<double>(count) + 3);
                CHECK(std::abs(got[i] - wanted[i]) <= bound * wanted[i]);
                sum += got[i];
            }
            CHECK(std::abs(sum - 1) < kRounding * static_cast<double>(count + 2));
        }
    }
    std::vector<float> equal(4, 1e30f);
    numerics::softmax(equal.data(), equal.size());
    for (const float one : equal) CHECK(one == 0.25f);
    std::vector<float> apart{-1e30f, 0, 1e30f};
    numerics::softmax(apart.data(), apart.size());
    CHECK(apart == std::vector<float>{0, 0, 1});
}

TEST_CASE("normalisation against its formula", "[numerics]") {
    INFO("SWITCHYARD_SEED=" << random_seed());
    std::mt19937 random(static_cast<unsigned>(random_seed()));
    for (const std::size_t count : {1, 2, 32, 100, 768}) {
        for (const double scale : {0.001, 1.0, 100.0}) {
            for (const double offset : {0.0, 2.0}) {
                const std::vector<float> x = random_values(random, count, scale, offset * scale);
                std::vector<float> got = x;
                numerics::normalise(got.data(), got.size());
                const Statistics wanted = statistics_of(x);
                const double deviation = std::sqrt(wanted.variance + 1e-5);
                double largest = 0;
                for (const float one : x) largest = std::max(largest, std::abs(double{one}));
                for (std::size_t i = 0; i < count; ++i) {
                    INFO("channel " << i << " of " << count << ", scale " << scale << ", offset " << offset);
                    // Sums of `count` numbers: the mean is off by as many roundings of the largest, the deviation by
                    // half as many of its own size and by what the mean's error adds.
                    const double mean_error = static_cast<double>(count + 2) * kRounding * largest / deviation;
                    const double formula = (x[i] - wanted.mean) / deviation;
                    const double bound = mean_error * (1 + std::abs(formula)) +
                                         static_cast<double>(count + 6) * kRounding * std::abs(formula);
                    CHECK(std::abs(got[i] - formula) <= bound);
                }
            }
        }
    }
    std::vector<float> equal(8, 3);
    numerics::normalise(equal.data(), equal.size());
    for (const float one : equal) CHECK(one == 0);
}

TEST_CASE("what is no number makes a row none", "[numerics]") {
    const float infinity = std::numeric_limits<float>::infinity(), nan = -std::nanf("1");
    for (const float odd : {infinity, nan}) {
        for (std::size_t place = 0; place < 3; ++place) {
            std::vector<float> x{1, 2, 3};
            x[place] = odd;
            for (const auto function : {&numerics::softmax, &numerics::normalise}) {
                std::vector<float> got = x;
                function(got.data(), got.size());
                for (const float one : got) CHECK(numerics::to_bits(one) == numerics::kNan32);
            }
        }
    }
    numerics::softmax(nullptr, 0);
    numerics::normalise(nullptr, 0);
}
