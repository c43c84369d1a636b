// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "random_distributions.h"
#include "switchyard/sw_scheduler/adyna/sampling/micro_batches.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {
namespace {

double total(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Of all ways to have `d` of `whole` samples at an operator: how many of the first `part` are there.
std::vector<double> enumerated(unsigned whole, unsigned d, unsigned part) {
    std::vector<double> factors(part + 1, 0);
    for (unsigned mask = 0; mask < 1u << whole; ++mask) {
        unsigned all = 0, first = 0;
        for (unsigned i = 0; i < whole; ++i) {
            const unsigned there = mask >> i & 1;
            all += there;
            first += i < part ? there : 0;
        }
        if (all == d) ++factors[first];
    }
    return factors;
}

TEST_CASE("A part of a unit has any of its samples", "[sampling]") {
    for (const unsigned whole : {2u, 6u, 12u}) {
        for (unsigned part = 1; part <= whole; ++part) {
            if (whole % part != 0) continue;
            for (unsigned d = 0; d <= whole; ++d) {
                std::vector<double> frequency(whole + 1, 0);
                frequency[d] = 3;  // units, of whole / part parts each
                const std::vector<double> parts =
                    in_units(Distribution(frequency), static_cast<std::uint16_t>(part)).frequencies();
                const std::vector<double> factors = enumerated(whole, d, part);
                REQUIRE(parts.size() == factors.size());
                for (unsigned k = 0; k <= part; ++k)
                    CHECK(parts[k] == Approx(3.0 * whole / part * factors[k] / total(factors)).margin(1e-12));
            }
        }
    }
}

TEST_CASE("Units that are joined are independent", "[sampling]") {
    // One unit of 2 in four is full, the others have one sample: of three, each way has its product.
    const std::vector<double> joined = in_units(Distribution({0, 3, 1}), 6).frequencies();
    const double units = 4 / 3.0;
    const std::vector<double> expected{0, 0, 0, 27 / 64.0, 27 / 64.0, 9 / 64.0, 1 / 64.0};
    REQUIRE(joined.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(joined[k] == Approx(units * expected[k]).margin(1e-12));
    CHECK(in_units(Distribution({0, 0, 0}), 6).total() == 0);
}

TEST_CASE("Samples stay as many, whatever the units", "[sampling]") {
    for (unsigned i = 0; i < 30; ++i) {
        const SamplingCase one = random_case(i);
        if (one.phi.largest() > 1000) continue;
        for (const std::uint16_t unit : {std::uint16_t{1}, std::uint16_t{24}, std::uint16_t{100}, one.phi.largest()}) {
            const Distribution other = in_units(one.phi, unit);
            CHECK(other.largest() == unit);
            CHECK(other.total() * unit == Approx(one.phi.total() * one.phi.largest()));
            CHECK(other.mean() / unit == Approx(one.phi.mean() / one.phi.largest()));
        }
        CHECK(in_units(one.phi, one.phi.largest()).frequencies() == one.phi.frequencies());
    }
}

TEST_CASE("Large units are split without loss of precision", "[sampling]") {
    std::vector<double> frequency(8193, 0);
    frequency[5000] = 1;
    const Distribution part = in_units(Distribution(frequency), 1024);
    double mean = 0, square = 0;
    for (std::size_t k = 0; k <= 1024; ++k) {
        const double p = part.frequencies()[k] / part.total(), x = static_cast<double>(k);
        mean += p * x;
        square += p * x * x;
    }
    const double share = 5000.0 / 8192;
    CHECK(mean == Approx(1024 * share));
    CHECK(square - mean * mean == Approx(1024 * share * (1 - share) * (8192 - 1024) / 8191).epsilon(1e-6));
}

}  // namespace

TEST_CASE("of a sorted batch all units but one are full or empty", "[micro_batches]") {
    // Two batches of 8 samples with 5 at the operator, one with none, one with all: 2 + 2 full units of 4.
    CHECK(in_compacted_units(Distribution({1, 0, 0, 0, 0, 2, 0, 0, 1}), 4).frequencies() ==
          std::vector<double>{2, 2, 0, 0, 4});
    const Distribution phi({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9});
    for (const std::uint16_t unit : {1, 3, 5, 12}) {
        const Distribution units = in_compacted_units(phi, unit);
        const auto in_batch = static_cast<double>(ceil_div(phi.largest(), std::uint32_t{unit}));
        CHECK(units.total() == Approx(phi.total() * in_batch));
        CHECK(units.mean() * in_batch == Approx(phi.mean()));
    }
    CHECK(in_compacted_units(phi, 12).frequencies() == phi.frequencies());
}

}  // namespace switchyard::sched
