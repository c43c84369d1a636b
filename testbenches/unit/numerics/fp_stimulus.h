// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace switchyard::testing {

/// The classes of a binary16 or binary32 value that the regression has to reach in every operand.
enum class FpClass : std::size_t {
    zero,
    minus_zero,
    subnormal,
    minus_subnormal,
    normal,
    minus_normal,
    infinity,
    minus_infinity,
    quiet_nan,
    signalling_nan,
};
constexpr std::size_t kFpClasses = 10;

FpClass fp_class16(std::uint16_t x);
FpClass fp_class32(std::uint32_t x);

/// Functional coverage: how often each class was seen in each of three operands, and each triple of classes.
class FpCoverage {
public:
    void sample16(std::uint16_t a, std::uint16_t b, std::uint16_t c) { sample(a, b, fp_class16(c)); }
    void sample32(std::uint16_t a, std::uint16_t b, std::uint32_t c) { sample(a, b, fp_class32(c)); }

    /// The points with their hits: each class in each operand ("a zero"), each triple of classes ("zero, normal,
    /// zero").
    std::vector<std::pair<std::string, std::uint64_t>> points() const;
    /// Names of the points without a hit.
    std::vector<std::string> missed() const;

private:
    void sample(std::uint16_t a, std::uint16_t b, FpClass c) {
        ++triples_[(std::size_t(fp_class16(a)) * kFpClasses + std::size_t(fp_class16(b))) * kFpClasses +
                   std::size_t(c)];
    }

    std::array<std::uint64_t, kFpClasses * kFpClasses * kFpClasses> triples_{};
};

/// Zeros, ends of the subnormal and normal ranges, ones and their neighbours, infinities, NaNs of every kind; both
/// signs.
const std::vector<std::uint16_t>& special16();
/// The same in binary32, with the neighbourhoods where a binary16 product meets the accumulator's last places.
const std::vector<std::uint32_t>& special32();

/// Random triples that hit rounding, cancellation and the ends of the ranges, not only distant exponents: operands are
/// uniform bits, subnormal, of few significant bits or around one, and half of the addends or more lie within some
/// places of the product.
class FpStimulus {
public:
    explicit FpStimulus(std::uint64_t seed) : random_(seed) {}

    struct Triple16 {
        std::uint16_t a, b, c;
    };
    struct Triple32 {
        std::uint16_t a, b;
        std::uint32_t c;
    };
    Triple16 triple16();
    Triple32 triple32();

private:
    std::uint64_t bits(int n) {
        if (left_ < n) {
            pool_ = random_();
            left_ = 64;
        }
        const std::uint64_t value = pool_ & ((std::uint64_t(1) << n) - 1);
        pool_ >>= n;
        left_ -= n;
        return value;
    }
    std::uint16_t operand();

    std::mt19937_64 random_;
    std::uint64_t pool_ = 0;
    int left_ = 0;
};

}  // namespace switchyard::testing
