// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/dispatcher/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;

TEST_CASE("dispatcher RTL: what the models do, at the pins, whatever waits", "[dispatcher]") {
    FunctionalCoverage coverage;
    const std::string difference =
        dispatcher_regression(rtl::make_dispatcher_model(), coverage, static_cast<unsigned>(random_seed()));
    INFO(difference);
    CHECK(difference.empty());
    save_functional_coverage("dispatcher", "pins", coverage.points());
    INFO("replay with SWITCHYARD_SEED=" << random_seed());
    for (const std::string& point : coverage.missing()) FAIL_CHECK("not reached: " << point);
    for (const std::string& point : coverage.unexpected()) FAIL_CHECK("should not exist: " << point);
}
