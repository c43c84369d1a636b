// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/numerics/fp_stimulus.h"

namespace switchyard::testing {
namespace {

constexpr std::array<const char*, kFpClasses> kClassNames{"zero",      "minus_zero",    "subnormal", "minus_subnormal",
                                                          "normal",    "minus_normal",  "infinity",  "minus_infinity",
                                                          "quiet_nan", "signalling_nan"};

FpClass classify(bool negative, std::uint32_t exponent, std::uint32_t greatest_exponent, std::uint32_t fraction,
                 std::uint32_t quiet) {
    if (exponent == greatest_exponent && fraction != 0)
        return fraction & quiet ? FpClass::quiet_nan : FpClass::signalling_nan;
    FpClass positive = FpClass::normal;
    if (exponent == greatest_exponent) positive = FpClass::infinity;
    if (exponent == 0) positive = fraction == 0 ? FpClass::zero : FpClass::subnormal;
    return FpClass(std::size_t(positive) + (negative ? 1 : 0));
}

/// A product of binary16 values as binary32 bits, to aim addends at; only a stimulus, so no matter how it rounds.
std::uint32_t product_bits(std::uint16_t a, std::uint16_t b) {
    const auto significand = [](std::uint16_t x) { return std::uint64_t(x & 0x3FF) | (x & 0x7C00 ? 0x400 : 0); };
    const auto scale = [](std::uint16_t x) { return x & 0x7C00 ? x >> 10 & 0x1F : 1; };
    std::uint64_t product = significand(a) * significand(b);
    const std::uint32_t sign = std::uint32_t((a ^ b) & 0x8000) << 16;
    if (product == 0) return sign;
    int exponent = 98 + scale(a) + scale(b);
    while (!(product & 0x200000)) {
        product <<= 1;
        --exponent;
    }
    return sign | std::uint32_t(exponent) << 23 | (std::uint32_t(product) << 2 & 0x7FFFFF);
}

}  // namespace

FpClass fp_class16(std::uint16_t x) {
    return classify(x & 0x8000, x >> 10 & 0x1F, 0x1F, x & 0x3FF, 0x200);
}

FpClass fp_class32(std::uint32_t x) {
    return classify(x >> 31, x >> 23 & 0xFF, 0xFF, x & 0x7FFFFF, 0x400000);
}

std::vector<std::pair<std::string, std::uint64_t>> FpCoverage::points() const {
    std::vector<std::pair<std::string, std::uint64_t>> points;
    for (const char operand : {'a', 'b', 'c'})
        for (const std::string name : kClassNames) points.emplace_back(operand + (" " + name), 0);
    for (std::size_t i = 0; i < triples_.size(); ++i) {
        const std::array<std::size_t, 3> classes{i / (kFpClasses * kFpClasses), i / kFpClasses % kFpClasses,
                                                 i % kFpClasses};
        std::string triple;
        for (std::size_t operand = 0; operand < classes.size(); ++operand) {
            points[operand * kFpClasses + classes[operand]].second += triples_[i];
            triple += (operand > 0 ? ", " : "") + std::string(kClassNames[classes[operand]]);
        }
        points.emplace_back(triple, triples_[i]);
    }
    return points;
}

std::vector<std::string> FpCoverage::missed() const {
    std::vector<std::string> names;
    for (const auto& [name, hits] : points())
        if (hits == 0) names.push_back(name);
    return names;
}

const std::vector<std::uint16_t>& special16() {
    static const std::vector<std::uint16_t> kValues = [] {
        std::vector<std::uint16_t> both;
        for (const int magnitude :
             {0x0000, 0x0001, 0x0002, 0x0003, 0x01FF, 0x0200, 0x0201, 0x03FE, 0x03FF,  // subnormal
              0x0400, 0x0401, 0x07FF, 0x0800, 0x0C00, 0x1400,                          // small
              0x3800, 0x3BFF, 0x3C00, 0x3C01, 0x3E00, 0x3FFF, 0x4000, 0x4200,          // near one
              0x5BFF, 0x6400, 0x7800, 0x7BFE, 0x7BFF,                                  // great
              0x7C00, 0x7C01, 0x7DFF, 0x7E00, 0x7FFF}) {                               // not finite
            both.push_back(std::uint16_t(magnitude));
            both.push_back(std::uint16_t(magnitude | 0x8000));
        }
        return both;
    }();
    return kValues;
}

const std::vector<std::uint32_t>& special32() {
    static const std::vector<std::uint32_t> kValues = [] {
        std::vector<std::uint32_t> both;
        for (const std::uint32_t magnitude :
             {0x00000000u, 0x00000001u, 0x00000002u, 0x003FFFFFu, 0x00400000u, 0x007FFFFFu, 0x00800000u, 0x00800001u,
              // 2^-72, 2^-49, 2^-48, 2^-25, 2^-24, 2^-14: the least products and their neighbours
              0x1B800000u, 0x27000000u, 0x277FFFFFu, 0x27800000u, 0x27800001u, 0x33000000u, 0x33800000u, 0x38800000u,
              0x3F000000u, 0x3F7FFFFFu, 0x3F800000u, 0x3F800001u, 0x3FC00000u, 0x3FFFFFFFu, 0x40000000u, 0x4B800000u,
              // 65504, 65504^2, 2^32, 2^55 .. 2^57: the greatest product and where it leaves the last place
              0x477FE000u, 0x4F7FC004u, 0x4F800000u, 0x5B000000u, 0x5B7FFFFFu, 0x5B800000u, 0x5C000000u, 0x7F000000u,
              0x7F7FFFFEu, 0x7F7FFFFFu, 0x7F800000u, 0x7F800001u, 0x7FBFFFFFu, 0x7FC00000u, 0x7FFFFFFFu}) {
            both.push_back(magnitude);
            both.push_back(magnitude | 0x80000000u);
        }
        return both;
    }();
    return kValues;
}

std::uint16_t FpStimulus::operand() {
    std::uint64_t x = bits(16);
    switch (bits(3)) {
        case 0:  // subnormal
            x &= 0x83FF;
            break;
        case 1:  // few significant bits
            x &= 0xFF00;
            break;
        case 2:  // around one
            x = (x & 0x83FF) | (11 + bits(3)) << 10;
            break;
        default:
            break;
    }
    return std::uint16_t(x);
}

FpStimulus::Triple16 FpStimulus::triple16() {
    Triple16 t{operand(), operand(), operand()};
    const std::uint64_t kind = bits(2);
    if (kind < 2) return t;
    // An addend within some places of the product, of either sign.
    const std::uint32_t product = product_bits(t.a, t.b);
    const int exponent = int(product >> 23 & 0xFF) - 112 + int(bits(5)) - 16;
    if (exponent < 0 || exponent > 30) return t;
    const std::uint32_t fraction = kind == 2 ? product >> 13 & 0x3FF : t.c & 0x3FF;
    t.c = std::uint16_t((t.c & 0x8000) | exponent << 10 | fraction);
    return t;
}

FpStimulus::Triple32 FpStimulus::triple32() {
    Triple32 t{operand(), operand(), std::uint32_t(bits(32))};
    const std::uint64_t kind = bits(2);
    if (kind == 0) return t;
    const std::uint32_t product = product_bits(t.a, t.b);
    if (kind == 1) {
        // Equal or nearly so: cancels down to the last places.
        t.c = (product ^ std::uint32_t(bits(1)) << 31) + std::uint32_t(bits(2)) - 1;
        return t;
    }
    const int exponent = int(product >> 23 & 0xFF) + int(bits(6)) - 32;
    if (exponent < 0 || exponent > 254) return t;
    const std::uint32_t fraction = kind == 2 ? t.c & 0x7F8000 : t.c & 0x7FFFFF;
    t.c = (t.c & 0x80000000) | std::uint32_t(exponent) << 23 | fraction;
    return t;
}

}  // namespace switchyard::testing
