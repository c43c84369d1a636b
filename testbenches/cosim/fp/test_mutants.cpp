// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "Vfp16_fma_pipe_mutants.h"
#include "Vfp16_mac32_pipe_mutants.h"
#include "Vfp_mutants.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/fp/pipe_bench.h"
#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard::testing;

namespace {

/// An input of the units with what MPFR makes of it.
struct Vector {
    std::uint16_t a, b;
    std::uint32_t c;
    std::uint32_t expected;
};

template <class Format>
std::vector<Vector> make_vectors() {
    std::vector<Vector> vectors;
    const auto add = [&](std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        vectors.push_back({a, b, c, Format::reference(a, b, c)});
    };
    for (const auto& [a, b, c] : Format::ties()) add(a, b, c);
    for (const std::uint16_t a : special16())
        for (const std::uint16_t b : special16())
            for (const std::uint32_t c : Format::special()) add(a, b, c);
    FpStimulus stimulus(random_seed());
    for (int i = 0; i < 100'000; ++i) {
        const auto [a, b, c] = Format::triple(stimulus);
        add(a, b, c);
    }
    return vectors;
}

/// The arithmetic of the selected mutant: "" or the first difference. A few vectors of all kinds come first.
std::string units_difference() {
    static const auto kVectors16 = make_vectors<Acc16>(), kVectors32 = make_vectors<Acc32>();
    static const std::vector<Vector> kNarrow = [] {
        std::vector<Vector> vectors;
        for (const std::uint32_t x : narrow_ties()) vectors.push_back({0, 0, x, reference_narrow(x)});
        for (const std::uint32_t x : special32()) vectors.push_back({0, 0, x, reference_narrow(x)});
        return vectors;
    }();
    switchyard::rtl::ContextModel<Vfp_mutants> unit;
    Vfp_mutants& model = unit.top();
    for (const std::size_t stride : {997u, 31u, 1u}) {
        for (std::size_t i = 0; i < kVectors16.size(); i += stride) {
            const Vector& v = kVectors16[i];
            model.a_i = v.a;
            model.b_i = v.b;
            model.c16_i = std::uint16_t(v.c);
            unit.eval();
            if (model.y16_o != v.expected) return "fp16_fma differs";
        }
        for (std::size_t i = 0; i < kVectors32.size(); i += stride) {
            const Vector& v = kVectors32[i];
            model.a_i = v.a;
            model.b_i = v.b;
            model.c32_i = v.c;
            unit.eval();
            if (model.y32_o != v.expected) return "fp16_mac32 differs";
        }
        for (std::size_t i = 0; i < kNarrow.size(); i += stride) {
            model.c32_i = kNarrow[i].c;
            unit.eval();
            if (model.narrow_o != kNarrow[i].expected) return "narrow differs";
        }
    }
    return "";
}

std::string regression(const Mutant& mutant) {
    const bool pipe = mutant.file == "pipeline_control.sv" || mutant.file.find("_pipe") != std::string::npos;
    if (!pipe) return units_difference();
    PipeBench<Acc16, Vfp16_fma_pipe_mutants> fma(random_seed());
    pipe_regression(fma);
    PipeBench<Acc32, Vfp16_mac32_pipe_mutants> mac(random_seed());
    pipe_regression(mac);
    return "";
}

}  // namespace

TEST_CASE("arithmetic mutants: a sample", "[mutants]") {
    CHECK(units_difference().empty());  // and the vectors are there for all processes
    check_mutants("fp", MUTANTS, 25, &regression);
}

TEST_CASE("arithmetic mutants: all", "[.all-mutants]") {
    CHECK(units_difference().empty());
    check_mutants("fp", MUTANTS, 1, &regression);
}
