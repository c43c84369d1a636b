// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>

#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/testbenches/unit/numerics/fp_stimulus.h"
#include "switchyard/testbenches/unit/numerics/fp_ties.h"
#include "switchyard/testbenches/unit/numerics/mpfr_reference.h"

namespace switchyard::testing {

/// A Verilated combinational unit y = a * b + c.
template <class Model>
class FpUnit {
public:
    std::uint32_t operator()(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        Model& top = model_.top();
        top.a_i = a;
        top.b_i = b;
        top.c_i = std::decay_t<decltype(top.c_i)>(c);
        model_.eval();
        return top.y_o;
    }
    const rtl::ModelContext& context() const { return model_.context(); }

private:
    rtl::ContextModel<Model> model_;
};

/// What distinguishes the two units: the accumulator's format.
struct Acc16 {
    static auto triple(FpStimulus& stimulus) { return stimulus.triple16(); }
    static const auto& special() { return special16(); }
    static const auto& ties() { return ties16(); }
    static void sample(FpCoverage& coverage, std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        coverage.sample16(a, b, std::uint16_t(c));
    }
    static std::uint32_t reference(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        return reference_fma16(a, b, std::uint16_t(c));
    }
};
struct Acc32 {
    static auto triple(FpStimulus& stimulus) { return stimulus.triple32(); }
    static const auto& special() { return special32(); }
    static const auto& ties() { return ties32(); }
    static void sample(FpCoverage& coverage, std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        coverage.sample32(a, b, c);
    }
    static std::uint32_t reference(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        return reference_mac32(a, b, c);
    }
};

/// The regression of a unit: every triple of special values, the directed ties, then `random_triples` random triples,
/// against MPFR. Returns the first difference in words, empty if there is none.
template <class Format, class Unit>
std::string first_difference(Unit& unit, std::uint64_t seed, int random_triples, FpCoverage& coverage) {
    const auto differs = [&](std::uint16_t a, std::uint16_t b, std::uint32_t c) -> std::string {
        Format::sample(coverage, a, b, c);
        const std::uint32_t y = unit(a, b, c);
        const std::uint32_t expected = Format::reference(a, b, c);
        if (y == expected) return {};
        std::ostringstream text;
        text << std::hex << "0x" << a << " * 0x" << b << " + 0x" << c << " gives 0x" << y << ", MPFR says 0x"
             << expected;
        return text.str();
    };
    for (const std::uint16_t a : special16())
        for (const std::uint16_t b : special16())
            for (const std::uint32_t c : Format::special())
                if (std::string text = differs(a, b, c); !text.empty()) return text;
    for (const auto& [a, b, c] : Format::ties())
        if (std::string text = differs(a, b, c); !text.empty()) return text;
    FpStimulus stimulus(seed);
    for (int i = 0; i < random_triples; ++i) {
        const auto [a, b, c] = Format::triple(stimulus);
        if (std::string text = differs(a, b, c); !text.empty())
            return text + " (SWITCHYARD_SEED=" + std::to_string(seed) + ")";
    }
    return {};
}

}  // namespace switchyard::testing
