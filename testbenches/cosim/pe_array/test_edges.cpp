// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/pe_array/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("PE array RTL: equal to the model in every cycle, every functional point covered", "[pe_array]") {
    ArrayCoverage coverage;
    for (const unsigned size : {2u, 4u, 8u, 16u}) {
        for (const bool fp16 : {false, true}) {
            const ArraySize array{size, size, fp16};
            INFO("replay with SWITCHYARD_SEED=" << random_seed() << "; " << size << " x " << size << ", fp16 " << fp16);
            const auto rtl = rtl::make_verilated_core(size, size, fp16);
            CHECK_THAT(array_regression(*rtl, array, random_seed(), size < 16 ? 120 : 15, coverage), Catch::Equals(""));
        }
    }
    CHECK_THAT(coverage.missed(), Catch::Equals(std::vector<std::string>()));
    save_functional_coverage("pe_array", "pe_array_edges", coverage.points());
}

TEST_CASE("PE array RTL: a size that is not Verilated", "[pe_array]") {
    CHECK_THROWS_WITH(
        rtl::make_verilated_core(32, 32, false),
        ContainsSubstring("pe_array.impl: no RTL of an array of 32 x 32 PEs, only of 2 x 2, 4 x 4, 8 x 8,"));
}
