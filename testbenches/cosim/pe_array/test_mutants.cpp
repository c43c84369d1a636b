// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "switchyard/rtl/pe_array/verilated_core.h"
#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/pe_array/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace switchyard::testing {

std::unique_ptr<rtl::VerilatedCore> make_array_mutants_2x2();
std::unique_ptr<rtl::VerilatedCore> make_array_mutants_4x3();

}  // namespace switchyard::testing

namespace {

std::string regression(const Mutant&) {
    ArrayCoverage coverage;
    const auto square = make_array_mutants_2x2();
    if (std::string found = array_regression(*square, {2, 2, false}, random_seed(), 200, coverage); !found.empty())
        return found;
    const auto oblong = make_array_mutants_4x3();
    return array_regression(*oblong, {4, 3, true}, random_seed(), 200, coverage);
}

}  // namespace

TEST_CASE("PE array mutants: a sample", "[mutants]") {
    check_mutants("pe_array", MUTANTS, 12, &regression);
}

TEST_CASE("PE array mutants: all", "[.all-mutants]") {
    check_mutants("pe_array", MUTANTS, 1, &regression);
}
