// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <type_traits>
#include <vector>

#include "Vfp16_fma.h"
#include "Vfp16_fma_coverage.h"
#include "Vfp16_functions.h"
#include "Vfp16_mac32.h"
#include "Vfp16_mac32_coverage.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/fp/fp_unit.h"
#include "switchyard/testbenches/cosim/seed.h"
#include "switchyard/testbenches/unit/numerics/fp_agree.h"

using namespace switchyard::testing;

namespace {

void agrees(const std::string& first_difference) {
    INFO(first_difference);
    CHECK(first_difference.empty());
}

template <class Format, class Model>
void regression(int random_triples, const std::string& coverage_name = {}) {
    FpUnit<Model> unit;
    FpCoverage coverage;
    agrees(first_difference<Format>(unit, random_seed(), random_triples, coverage));
    for (const std::string& point : coverage.missed()) FAIL_CHECK("not reached: " << point);
    if (coverage_name.empty()) return;
    save_coverage(unit.context(), coverage_name);
    save_functional_coverage("pe_array", coverage_name, coverage.points());
}

/// fp16_pkg as a module: the arithmetic of one of its outputs.
template <class Format>
class Functions {
public:
    explicit Functions(switchyard::rtl::ContextModel<Vfp16_functions>& functions) : functions_(functions) {}
    std::uint32_t operator()(std::uint16_t a, std::uint16_t b, std::uint32_t c) {
        Vfp16_functions& top = functions_.top();
        top.a_i = a;
        top.b_i = b;
        top.c16_i = std::uint16_t(c);
        top.c32_i = c;
        functions_.eval();
        return std::is_same_v<Format, Acc16> ? top.y16_o : top.y32_o;
    }

private:
    switchyard::rtl::ContextModel<Vfp16_functions>& functions_;
};

}  // namespace

TEST_CASE("fp16_fma agrees with MPFR on special triples, ties and a million random ones", "[fp]") {
    regression<Acc16, Vfp16_fma>(1'000'000);
}

TEST_CASE("fp16_mac32 agrees with MPFR on special triples, ties and a million random ones", "[fp]") {
    regression<Acc32, Vfp16_mac32>(1'000'000);
}

TEST_CASE("fp16_fma and fp16_mac32 agree with MPFR on ten million random triples", "[.ci-long][fp]") {
    regression<Acc16, Vfp16_fma>(10'000'000);
    regression<Acc32, Vfp16_mac32>(10'000'000);
}

TEST_CASE("coverage of the combinational units", "[fp]") {
    regression<Acc16, Vfp16_fma_coverage>(20'000, "fp16_fma");
    regression<Acc32, Vfp16_mac32_coverage>(20'000, "fp16_mac32");
}

TEST_CASE("the functions agree with MPFR, line by line of the package", "[fp]") {
    switchyard::rtl::ContextModel<Vfp16_functions> functions;
    Vfp16_functions& model = functions.top();
    FpCoverage coverage;
    Functions<Acc16> fma(functions);
    Functions<Acc32> mac(functions);
    agrees(first_difference<Acc16>(fma, random_seed(), 50'000, coverage));
    agrees(first_difference<Acc32>(mac, random_seed(), 50'000, coverage));

    // Every sign, exponent and fraction that binary16 keeps, with the dropped places about the ties.
    for (std::uint32_t high = 0; high <= 0x7FFFF; high += 3)
        for (const std::uint32_t low : {0x0000u, 0x0FFFu, 0x1000u, 0x1001u}) {
            model.c32_i = high << 13 | low;
            functions.eval();
            agree(model.narrow_o, reference_narrow(model.c32_i), model.c32_i);
        }
    for (const std::uint32_t x : narrow_ties()) {
        model.c32_i = x;
        functions.eval();
        agree(model.narrow_o, reference_narrow(x), x);
    }
    save_coverage(functions.context(), "fp16_functions");
}
