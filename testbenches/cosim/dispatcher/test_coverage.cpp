// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/dispatcher/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace switchyard::testing {
std::unique_ptr<rtl::DispatcherModel> make_dispatcher_coverage();
}

TEST_CASE("dispatcher RTL: line and toggle coverage of the regression", "[dispatcher][coverage]") {
    FunctionalCoverage coverage;
    const std::string difference = dispatcher_regression(
        make_dispatcher_coverage(), coverage, static_cast<unsigned>(random_seed()), [](rtl::DispatcherModel& model) {
            model.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/dispatcher.dat");
        });
    INFO(difference);
    CHECK(difference.empty());
}
