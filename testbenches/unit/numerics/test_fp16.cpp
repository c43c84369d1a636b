// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/unit/numerics/fp_agree.h"
#include "switchyard/testbenches/unit/numerics/fp_stimulus.h"
#include "switchyard/testbenches/unit/numerics/fp_ties.h"
#include "switchyard/testbenches/unit/numerics/mpfr_reference.h"

namespace numerics = switchyard::numerics;
using namespace switchyard::testing;

namespace {

std::uint32_t mac32_bits(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
    return numerics::to_bits(numerics::mac32(a, b, numerics::to_float(c)));
}

/// How often each kind of remainder was rounded, by sign and exponent.
class Remainders {
public:
    void sample(std::uint32_t sign_and_exponent, FpRemainder remainder) {
        ++counts_[sign_and_exponent][std::size_t(remainder)];
    }
    /// Every exponent from `first` to `last`, with both signs, has ties, values below and above them and exact ones.
    void require(std::uint32_t first, std::uint32_t last, std::uint32_t sign) {
        for (std::uint32_t exponent = first; exponent <= last; ++exponent)
            for (const std::uint32_t field : {exponent, sign | exponent})
                for (const std::uint64_t count : counts_[field]) {
                    INFO("sign and exponent 0x" << std::hex << field);
                    CHECK(count > 0);
                }
    }

private:
    std::map<std::uint32_t, std::array<std::uint64_t, 4>> counts_;
};

}  // namespace

TEST_CASE("fma16 rounds ties, and values beside them, as MPFR does: every exponent", "[numerics][ties]") {
    Remainders remainders;
    for (const auto& [a, b, c] : ties16()) {
        const std::uint16_t expected = reference_fma16(a, b, c);
        agree(numerics::fma16(a, b, c), expected, a, b, c);
        remainders.sample(expected >> 10, remainder_fma16(a, b, c));
    }
    remainders.require(0, 30, 0x20);
    CHECK(numerics::fma16(0x9001, 0x03FF, 0x0001) == reference_fma16(0x9001, 0x03FF, 0x0001));
}

TEST_CASE("mac32 rounds ties, and values beside them, as MPFR does: every exponent", "[numerics][ties]") {
    Remainders remainders;
    for (const auto& [a, b, c] : ties32()) {
        const std::uint32_t expected = reference_mac32(a, b, c);
        agree(mac32_bits(a, b, c), expected, a, b, c);
        remainders.sample(expected >> 23, remainder_mac32(a, b, c));
    }
    // Below these a product of binary16 values has no half of the last place, above them it is less than that.
    remainders.require(102, 169, 0x100);
}

TEST_CASE("narrow rounds ties, and values beside them, as MPFR does: every exponent", "[numerics][ties]") {
    Remainders remainders;
    for (const std::uint32_t x : narrow_ties()) {
        agree(numerics::narrow(numerics::to_float(x)), reference_narrow(x), x);
        remainders.sample(x >> 23, remainder_narrow(x));
    }
    remainders.require(103, 142, 0x100);  // 2^-24 to below 2^16
    CHECK(numerics::narrow(numerics::to_float(0x33000001)) == 0x0001);
}

TEST_CASE("every binary16 value widens exactly", "[numerics]") {
    std::vector<std::uint16_t> values(0x10000);
    std::iota(values.begin(), values.end(), std::uint16_t(0));
    std::vector<float> row(values.size());
    numerics::widen_row(row.data(), values.data(), values.size());
    for (const std::uint16_t x : values) {
        agree(numerics::to_bits(numerics::widen(x)), reference_widen(x), x);
        agree(numerics::to_bits(row[x]), reference_widen(x), x);
    }
    CHECK(true);
}

TEST_CASE("binary32 and binary64 narrow to binary16 with one rounding", "[numerics]") {
    // Every sign, exponent and fraction that binary16 keeps, with the dropped places about the ties.
    for (std::uint32_t high = 0; high <= 0x7FFFF; ++high)
        for (const std::uint32_t low : {0x0000u, 0x0001u, 0x0FFFu, 0x1000u, 0x1001u, 0x1FFFu}) {
            const std::uint32_t x = high << 13 | low;
            const std::uint32_t expected = reference_narrow(x);
            const float f = numerics::to_float(x);
            agree(numerics::narrow(f), expected, x);
            agree(numerics::narrow(double(f)), expected, x);
        }
    // Below the places of binary32, binary64 breaks ties.
    CHECK(numerics::narrow(1.0 + 0x1p-11) == 0x3C00);
    CHECK(numerics::narrow(1.0 + 0x1p-11 + 0x1p-40) == 0x3C01);
    CHECK(numerics::narrow(0x1p-25) == 0x0000);
    CHECK(numerics::narrow(0x1p-25 + 0x1p-60) == 0x0001);
    CHECK(numerics::narrow(-0x1p-1074) == 0x8000);
    CHECK(numerics::narrow(65520.0 - 0x1p-30) == 0x7BFF);
    CHECK(numerics::narrow(65520.0) == 0x7C00);
}

TEST_CASE("fma16 agrees with MPFR on every triple of special values", "[numerics]") {
    FpCoverage coverage;
    for (const std::uint16_t a : special16())
        for (const std::uint16_t b : special16())
            for (const std::uint16_t c : special16()) {
                agree(numerics::fma16(a, b, c), reference_fma16(a, b, c), a, b, c);
                coverage.sample16(a, b, c);
            }
    for (const std::string& point : coverage.missed()) FAIL_CHECK("not reached: " << point);
}

TEST_CASE("mac32 agrees with MPFR on every triple of special values", "[numerics]") {
    FpCoverage coverage;
    for (const std::uint16_t a : special16())
        for (const std::uint16_t b : special16())
            for (const std::uint32_t c : special32()) {
                agree(mac32_bits(a, b, c), reference_mac32(a, b, c), a, b, c);
                coverage.sample32(a, b, c);
            }
    for (const std::string& point : coverage.missed()) FAIL_CHECK("not reached: " << point);
}

namespace {

void check_random_fma16(int triples) {
    const std::uint64_t seed = random_seed();
    INFO("replay with SWITCHYARD_SEED=" << seed);
    FpStimulus stimulus(seed);
    for (int i = 0; i < triples; ++i) {
        const auto [a, b, c] = stimulus.triple16();
        agree(numerics::fma16(a, b, c), reference_fma16(a, b, c), a, b, c);
    }
    CHECK(true);
}

void check_random_mac32(int triples) {
    const std::uint64_t seed = random_seed();
    INFO("replay with SWITCHYARD_SEED=" << seed);
    FpStimulus stimulus(seed);
    for (int i = 0; i < triples; ++i) {
        const auto [a, b, c] = stimulus.triple32();
        agree(mac32_bits(a, b, c), reference_mac32(a, b, c), a, b, c);
    }
    CHECK(true);
}

}  // namespace

TEST_CASE("fma16 and mac32 agree with MPFR on a million random triples", "[numerics]") {
    check_random_fma16(1'000'000);
    check_random_mac32(1'000'000);
}

TEST_CASE("fma16 and mac32 agree with MPFR on ten million random triples", "[.ci-long][numerics]") {
    check_random_fma16(10'000'000);
    check_random_mac32(10'000'000);
}

TEST_CASE("sums side by side have the bits of the plain ones", "[numerics]") {
    const std::uint64_t seed = random_seed();
    INFO("replay with SWITCHYARD_SEED=" << seed);
    FpStimulus stimulus(seed);
    constexpr std::size_t kSteps = 40;
    constexpr std::size_t kWidth = 37;
    // One round in four without infinities and NaNs, which would hide everything after them.
    for (int round = 0; round < 400; ++round) {
        std::vector<std::uint16_t> a(kSteps), b(kSteps * kWidth);
        const auto operand = [&] {
            const std::uint16_t x = stimulus.triple16().a;
            return round % 4 == 0 ? x : std::uint16_t((x & 0x83FF) | ((x >> 10 & 7u) + 11u) << 10);
        };
        for (auto& x : a) x = operand();
        for (auto& x : b) x = operand();

        std::vector<float> wide(b.size()), sums32(kWidth, 0.0f);
        std::vector<std::uint16_t> sums16(kWidth, 0), narrowed(kWidth);
        numerics::widen_row(wide.data(), b.data(), b.size());
        for (std::size_t step = 0; step < kSteps; ++step) {
            numerics::mac32_row(sums32.data(), numerics::widen(a[step]), &wide[step * kWidth], kWidth);
            numerics::fma16_row(sums16.data(), a[step], &b[step * kWidth], kWidth);
        }
        numerics::narrow_row(narrowed.data(), sums32.data(), kWidth);
        for (std::size_t i = 0; i < kWidth; ++i) {
            float plain32 = 0.0f;
            std::uint16_t plain16 = 0;
            for (std::size_t step = 0; step < kSteps; ++step) {
                plain32 = numerics::mac32(a[step], b[step * kWidth + i], plain32);
                plain16 = numerics::fma16(a[step], b[step * kWidth + i], plain16);
            }
            const auto stride = std::ptrdiff_t(kWidth);
            const float chain32 = numerics::accumulate32(a.data(), 1, &b[i], stride, kSteps, 0.0f);
            agree(numerics::to_bits(numerics::canonical(sums32[i])), numerics::to_bits(plain32), round, i);
            agree(numerics::to_bits(chain32), numerics::to_bits(plain32), round, i);
            agree(narrowed[i], numerics::narrow(plain32), round, i);
            agree(sums16[i], plain16, round, i);
            agree(numerics::accumulate16(a.data(), 1, &b[i], stride, kSteps, 0), plain16, round, i);
        }
    }
    CHECK(true);
}
