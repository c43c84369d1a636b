#include <iostream>
#include <string>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/fp/fp_unit.h"
#include "switchyard/testbenches/cosim/seed.h"
// One pair of models a fault.
#include "Vfp16_fma_nan.h"
#include "Vfp16_fma_rounding.h"
#include "Vfp16_fma_sticky.h"
#include "Vfp16_fma_subnormal.h"
#include "Vfp16_mac32_nan.h"
#include "Vfp16_mac32_rounding.h"
#include "Vfp16_mac32_sticky.h"
#include "Vfp16_mac32_subnormal.h"

using namespace switchyard::testing;

namespace {

/// The regression has to fail on a mutant, in both units.
template <class Fma, class Mac>
void caught(const std::string& fault) {
    FpCoverage coverage;
    FpUnit<Fma> fma;
    FpUnit<Mac> mac;
    const std::string fma_difference = first_difference<Acc16>(fma, random_seed(), 100'000, coverage);
    const std::string mac_difference = first_difference<Acc32>(mac, random_seed(), 100'000, coverage);
    std::cout << fault << ": fp16_fma " << fma_difference << "; fp16_mac32 " << mac_difference << '\n';
    INFO(fault);
    CHECK_FALSE(fma_difference.empty());
    CHECK_FALSE(mac_difference.empty());
}

}  // namespace

TEST_CASE("the regression catches every faulty unit", "[mutants]") {
    caught<Vfp16_fma_rounding, Vfp16_mac32_rounding>("MUTANT_FP_ROUNDING");
    caught<Vfp16_fma_sticky, Vfp16_mac32_sticky>("MUTANT_FP_STICKY");
    caught<Vfp16_fma_subnormal, Vfp16_mac32_subnormal>("MUTANT_FP_SUBNORMAL");
    caught<Vfp16_fma_nan, Vfp16_mac32_nan>("MUTANT_FP_NAN");
}
