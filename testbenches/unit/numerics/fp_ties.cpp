// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/numerics/fp_ties.h"

#include <algorithm>
#include <array>
#include <optional>

namespace switchyard::testing {
namespace {

struct Layout {
    int fraction_bits, bias;
    int min_scale() const { return 1 - bias - fraction_bits; }  // of the last place of a subnormal
};
constexpr Layout kLayout16{10, 15};
constexpr Layout kLayout32{23, 127};

/// The bits of +-significand * 2^scale, or nothing if `format` has no such value.
std::optional<std::uint32_t> encode(const Layout& format, bool negative, std::uint64_t significand, int scale) {
    const std::uint32_t sign = negative ? std::uint32_t(2 * format.bias + 2) << format.fraction_bits : 0;
    if (significand == 0) return sign;
    for (; significand % 2 == 0; ++scale) significand /= 2;
    int bits = 0;
    while (significand >> bits != 0) ++bits;
    const int exponent = scale + bits - 1;
    if (bits > format.fraction_bits + 1 || exponent > format.bias || scale < format.min_scale()) return std::nullopt;
    if (exponent < 1 - format.bias) return sign | std::uint32_t(significand << (scale - format.min_scale()));
    const std::uint64_t fraction = significand << (format.fraction_bits + 1 - bits);
    return sign | (std::uint32_t(exponent + format.bias) << format.fraction_bits) |
           (std::uint32_t(fraction) & ((1u << format.fraction_bits) - 1));
}

/// m * n * 2^scale as a product of two binary16 values. No factor has more than 11 bits.
struct Product {
    std::uint64_t m, n;
    int scale;
};
struct Operands {
    std::uint16_t a, b;
};

/// Ways to write a product: with its scale in `a`, in `b` and shared, subnormal operands among them.
std::vector<Operands> operands(const Product& product, bool negative) {
    std::vector<Operands> all;
    for (int scale = kLayout16.min_scale(); scale <= kLayout16.bias; ++scale) {
        const auto a = encode(kLayout16, negative, product.m, scale);
        const auto b = encode(kLayout16, false, product.n, product.scale - scale);
        if (a && b) all.push_back({std::uint16_t(*a), std::uint16_t(*b)});
    }
    if (all.size() > 3) return {all.front(), all[all.size() / 2], all.back()};
    return all;
}

/// 2^scale and its neighbours: (1 +- 2^-j) * 2^scale, and closer ones from two factors.
std::vector<Product> near_power_of_two(int scale) {
    std::vector<Product> all{{1, 1, scale}, {1025, 1023, scale - 20}, {545, 481, scale - 18}};  // 2^20 - 1, 2^18 + 1
    for (int j = 1; j <= 11; ++j) {
        all.push_back({(1u << j) - 1, 1, scale - j});
        if (j < 11) all.push_back({(1u << j) + 1, 1, scale - j});
    }
    return all;
}

/// m * n == value with factors of at most 11 bits.
std::optional<Product> factored(std::uint64_t value) {
    for (std::uint64_t m = 2047; m * m >= value; --m)
        if (value % m == 0) return Product{m, value / m, 0};
    return std::nullopt;
}

/// Products whose last `places` bits are a tie, or a tie and one bit more or less, below a fraction that is even or
/// odd, small or large. The scale is that of bit `places`: 0.
std::vector<Product> make_products_with_remainder(int places) {
    std::vector<Product> all;
    const std::uint64_t tie = std::uint64_t{1} << (places - 1);
    for (const bool odd : {false, true})
        for (const int off_tie : {0, 1, -1}) {
            const std::uint64_t largest = ((std::uint64_t{1} << 22) >> places) - 1;
            for (const bool from_top : {false, true}) {
                int found = 0;
                for (std::uint64_t step = 0; step <= largest && step < 512 && found < 2; ++step) {
                    const std::uint64_t kept = from_top ? largest - step : step;
                    if ((kept % 2 == 1) != odd) continue;
                    const std::uint64_t value = (kept << places) + tie + std::uint64_t(std::int64_t(off_tie));
                    if (value == 0) continue;
                    if (auto product = factored(value)) {
                        product->scale = -places;
                        all.push_back(*product);
                        ++found;
                    }
                }
            }
        }
    return all;
}

/// places: 1 to 21.
const std::vector<Product>& products_with_remainder(int places) {
    static const auto kProducts = [] {
        std::array<std::vector<Product>, 22> all;
        for (std::size_t p = 1; p < all.size(); ++p) all[p] = make_products_with_remainder(int(p));
        return all;
    }();
    return kProducts[std::size_t(places)];
}

std::vector<std::uint64_t> kept_significands(const Layout& format, bool subnormal) {
    const std::uint64_t one = std::uint64_t{1} << format.fraction_bits;
    std::vector<std::uint64_t> all{one, one + 1, one + 2, one + one / 2, one + one / 2 - 1, 2 * one - 2, 2 * one - 1};
    if (subnormal) all.insert(all.end(), {0, 1, 2, 3, one / 2 - 2, one / 2 - 1, one - 2, one - 1});
    return all;
}

/// Calls add(a, b, c) for results whose last place is 2^ulp.
template <class Add>
void ties_at(const Layout& format, int ulp, const Add& add) {
    const auto combine = [&](const Product& product, bool product_negative, std::uint64_t significand, int scale,
                             bool addend_negative) {
        const auto c = encode(format, addend_negative, significand, scale);
        if (!c) return;
        for (const auto& [a, b] : operands(product, product_negative)) add(a, b, *c);
    };
    for (const bool negative : {false, true}) {
        // The addend holds the result, the product is half of the last place or nearly so.
        for (const std::uint64_t kept : kept_significands(format, ulp == format.min_scale()))
            for (const Product& half : near_power_of_two(ulp - 1)) {
                combine(half, negative, kept, ulp, negative);
                combine(half, !negative, kept + 1, ulp, negative);
            }
        // The product has the remainder; the addend moves the result, or is the remainder's last bit. (Of binary32 the
        // product has less than half of the places.)
        const std::uint64_t one = std::uint64_t{1} << format.fraction_bits;
        for (int places = 1; places <= 21; ++places)
            for (Product product : products_with_remainder(places)) {
                product.scale += ulp;
                for (const std::uint64_t moved : {one, one + one / 2, std::uint64_t{0}, std::uint64_t{1}}) {
                    if (moved < one && &format == &kLayout32) continue;
                    combine(product, negative, moved, ulp, negative);
                    combine(product, negative, moved, ulp, !negative);
                }
                for (int bit = ulp - 2; places == 1 && &format == &kLayout16 && bit >= kLayout16.min_scale(); --bit) {
                    combine(product, negative, 1, bit, negative);
                    combine(product, negative, 1, bit, !negative);
                }
            }
        // The product holds the result, the addend is half of the last place and one bit more or less.
        for (const auto& [m, n] :
             {std::array<std::uint64_t, 2>{1024, 2048}, {1448, 1449}, {2047, 2047}, {2047, 1025}}) {
            const Product product{m, n, ulp + format.fraction_bits - 21};
            for (int bit = 0; bit <= 23; ++bit)
                for (const bool above : {false, true})
                    for (const bool opposite : {false, true}) {
                        const std::uint64_t half = std::uint64_t{1} << bit;
                        combine(product, negative,
                                bit == 0 ? 1
                                : above  ? half + 1
                                         : half - 1,
                                ulp - 1 - bit, negative != opposite);
                    }
        }
    }
}

}  // namespace

const std::vector<FpStimulus::Triple16>& ties16() {
    static const auto kTriples = [] {
        std::vector<FpStimulus::Triple16> triples;
        for (int ulp = kLayout16.min_scale(); ulp <= kLayout16.bias - kLayout16.fraction_bits; ++ulp)
            ties_at(kLayout16, ulp, [&](std::uint16_t a, std::uint16_t b, std::uint32_t c) {
                triples.push_back({a, b, std::uint16_t(c)});
            });
        return triples;
    }();
    return kTriples;
}

const std::vector<FpStimulus::Triple32>& ties32() {
    static const auto kTriples = [] {
        std::vector<FpStimulus::Triple32> triples;
        // Half of the last place is a product of binary16 values: 2^-48 to below 2^32.
        for (int ulp = -47; ulp <= 32; ++ulp)
            ties_at(kLayout32, ulp, [&](std::uint16_t a, std::uint16_t b, std::uint32_t c) {
                triples.push_back({a, b, c});
            });
        return triples;
    }();
    return kTriples;
}

const std::vector<std::uint32_t>& narrow_ties() {
    static const auto kValues = [] {
        std::vector<std::uint32_t> values;
        for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
            // Bits of binary32's significand below binary16's last place, at most all of them and one more.
            const int dropped = std::clamp(13 + 113 - int(exponent), 13, 25);
            for (const std::uint32_t kept : {0u, 1u, 2u, 3u, 0x1FEu, 0x1FFu, 0x200u, 0x3FDu, 0x3FEu, 0x3FFu}) {
                std::vector<std::uint64_t> remainders{0, (std::uint64_t{1} << dropped) - 1};
                const std::uint64_t tie = std::uint64_t{1} << (dropped - 1);
                remainders.push_back(tie);
                for (int bit = 0; bit < dropped; ++bit)
                    for (const std::uint64_t remainder :
                         {std::uint64_t{1} << bit, tie | std::uint64_t{1} << bit, tie - (std::uint64_t{1} << bit)})
                        remainders.push_back(remainder);
                for (const std::uint64_t remainder : remainders) {
                    // Where less of the fraction is kept, its upper places go.
                    const std::uint64_t fraction = ((std::uint64_t{kept} << dropped) | remainder) & 0x7FFFFF;
                    values.push_back(exponent << 23 | std::uint32_t(fraction));
                    values.push_back(1u << 31 | exponent << 23 | std::uint32_t(fraction));
                }
            }
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }();
    return kValues;
}

}  // namespace switchyard::testing
