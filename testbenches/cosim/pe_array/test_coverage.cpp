// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/pe_array/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace switchyard::testing {
std::unique_ptr<rtl::VerilatedCore> make_array_coverage_2x2();
std::unique_ptr<rtl::VerilatedCore> make_array_coverage_4x2();  // fp16
}  // namespace switchyard::testing

TEST_CASE("PE array RTL: line and toggle coverage of the regression", "[pe_array][coverage]") {
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    ArrayCoverage coverage;
    const auto fp32 = make_array_coverage_2x2(), fp16 = make_array_coverage_4x2();
    CHECK_THAT(array_regression(*fp32, {2, 2, false}, random_seed(), 400, coverage), Catch::Equals(""));
    CHECK_THAT(array_regression(*fp16, {4, 2, true}, random_seed(), 400, coverage), Catch::Equals(""));
    fp32->save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/pe_array_2x2.dat");
    fp16->save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/pe_array_4x2.dat");
}
