// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/numerics/mpfr_reference.h"

#include <mpfr.h>

#include <algorithm>

namespace switchyard::testing {
namespace {

/// An IEEE interchange format, in fields.
struct Format {
    int fraction_bits;
    int exponent_bits;

    int precision() const { return fraction_bits + 1; }
    std::uint32_t exponent_mask() const { return (1u << exponent_bits) - 1; }
    int bias() const { return int(exponent_mask() >> 1); }
    /// Weight of the last place of a subnormal.
    int min_exponent() const { return 1 - bias() - fraction_bits; }
    std::uint32_t infinity() const { return exponent_mask() << fraction_bits; }
    std::uint32_t nan() const { return infinity() | 1u << (fraction_bits - 1); }
    std::uint32_t sign_bit() const { return 1u << (fraction_bits + exponent_bits); }
};
constexpr Format kBinary16{10, 5};
constexpr Format kBinary32{23, 8};

/// A number of MPFR with room for one value of either format.
class Number {
public:
    Number() { mpfr_init2(value_, 24); }
    ~Number() { mpfr_clear(value_); }
    Number(const Number&) = delete;
    Number& operator=(const Number&) = delete;
    mpfr_ptr get() { return value_; }

    void set(std::uint32_t bits, const Format& format) {
        const int sign = bits & format.sign_bit() ? -1 : 1;
        const std::uint32_t exponent = bits >> format.fraction_bits & format.exponent_mask();
        const std::uint32_t fraction = bits & ((1u << format.fraction_bits) - 1);
        if (exponent == format.exponent_mask()) {
            if (fraction != 0)
                mpfr_set_nan(value_);
            else
                mpfr_set_inf(value_, sign);
        } else if (exponent == 0 && fraction == 0) {
            mpfr_set_zero(value_, sign);
        } else {
            const std::uint32_t significand = exponent == 0 ? fraction : fraction | 1u << format.fraction_bits;
            const int scale = format.min_exponent() + int(exponent == 0 ? 0 : exponent - 1);
            mpfr_set_ui_2exp(value_, significand, scale, MPFR_RNDN);
            mpfr_setsign(value_, value_, sign < 0, MPFR_RNDN);
        }
    }

    /// The bits of a value that `format` can hold.
    std::uint32_t bits(const Format& format) {
        if (mpfr_nan_p(value_)) return format.nan();
        const std::uint32_t sign = mpfr_signbit(value_) ? format.sign_bit() : 0;
        if (mpfr_inf_p(value_)) return sign | format.infinity();
        if (mpfr_zero_p(value_)) return sign;
        // MPFR's significands are in [1/2, 1).
        const int exponent = int(mpfr_get_exp(value_)) - 1 + format.bias();
        mpfr_set_exp(value_, format.precision() + (exponent < 1 ? exponent - 1 : 0));
        const auto significand = std::uint32_t(mpfr_get_ui(abs(), MPFR_RNDZ));
        return sign | (exponent < 1 ? significand
                                    : std::uint32_t(exponent) << format.fraction_bits |
                                          (significand & ((1u << format.fraction_bits) - 1)));
    }

private:
    mpfr_ptr abs() {
        mpfr_abs(value_, value_, MPFR_RNDN);
        return value_;
    }

    mpfr_t value_;
};

/// `operate` rounds to the format's precision with MPFR's own exponent range. What lies beyond the format's is then
/// rounded again by MPFR's own means, which look at the direction of the first rounding: one rounding in all.
template <class Operate>
std::uint32_t rounded(const Format& format, const Operate& operate) {
    static thread_local Number result;
    mpfr_set_prec(result.get(), format.precision());
    int direction = operate(result.get());
    const mpfr_exp_t emin = mpfr_get_emin();
    const mpfr_exp_t emax = mpfr_get_emax();
    mpfr_set_emin(format.min_exponent() + 1);
    mpfr_set_emax(format.bias() + 1);
    direction = mpfr_check_range(result.get(), direction, MPFR_RNDN);
    mpfr_subnormalize(result.get(), direction, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    return result.bits(format);
}

std::uint32_t multiply_add(std::uint16_t a, std::uint16_t b, std::uint32_t c, const Format& format) {
    static thread_local Number x, y, z;
    x.set(a, kBinary16);
    y.set(b, kBinary16);
    z.set(c, format);
    return rounded(format, [](mpfr_ptr r) { return mpfr_fma(r, x.get(), y.get(), z.get(), MPFR_RNDN); });
}

std::uint32_t convert(std::uint32_t bits, const Format& from, const Format& to) {
    static thread_local Number x;
    x.set(bits, from);
    return rounded(to, [](mpfr_ptr r) { return mpfr_set(r, x.get(), MPFR_RNDN); });
}

/// Of an exact result.
FpRemainder remainder(mpfr_ptr exact, const Format& format) {
    if (mpfr_zero_p(exact)) return FpRemainder::none;
    const long last_place = std::max(long(mpfr_get_exp(exact)) - format.precision(), long(format.min_exponent()));
    mpfr_abs(exact, exact, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, -last_place, MPFR_RNDN);
    mpfr_frac(exact, exact, MPFR_RNDN);
    if (mpfr_zero_p(exact)) return FpRemainder::none;
    const int order = mpfr_cmp_d(exact, 0.5);
    return order < 0 ? FpRemainder::below_tie : order == 0 ? FpRemainder::tie : FpRemainder::above_tie;
}

constexpr mpfr_prec_t kExactBits = 320;  // from 2^-149, binary32's smallest value, to 2^128

FpRemainder multiply_add_remainder(std::uint16_t a, std::uint16_t b, std::uint32_t c, const Format& format) {
    static thread_local Number x, y, z, exact;
    mpfr_set_prec(exact.get(), kExactBits);
    x.set(a, kBinary16);
    y.set(b, kBinary16);
    z.set(c, format);
    mpfr_fma(exact.get(), x.get(), y.get(), z.get(), MPFR_RNDN);
    return remainder(exact.get(), format);
}

}  // namespace

std::uint16_t reference_fma16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return std::uint16_t(multiply_add(a, b, c, kBinary16));
}

std::uint32_t reference_mac32(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
    return multiply_add(a, b, c, kBinary32);
}

std::uint32_t reference_widen(std::uint16_t x) {
    return convert(x, kBinary16, kBinary32);
}

std::uint16_t reference_narrow(std::uint32_t x) {
    return std::uint16_t(convert(x, kBinary32, kBinary16));
}

FpRemainder remainder_fma16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return multiply_add_remainder(a, b, c, kBinary16);
}

FpRemainder remainder_mac32(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
    return multiply_add_remainder(a, b, c, kBinary32);
}

FpRemainder remainder_narrow(std::uint32_t x) {
    static thread_local Number exact;
    exact.set(x, kBinary32);
    return remainder(exact.get(), kBinary16);
}

}  // namespace switchyard::testing
