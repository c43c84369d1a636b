// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;

namespace {

/// Report of two batches of the digits network, without the names of the implementations.
nlohmann::json report_with(const std::string& settings) {
    const std::string folder = scratch("dispatcher_report");
    const Outcome run = sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                               kDigitsTrace + " --batches 2 --report " + folder + " " + settings);
    INFO(settings << ": " << run.err);
    REQUIRE(run.status == 0);
    nlohmann::json report = read_json(folder + "/report.json");
    REQUIRE(report.at("fidelity").erase("dispatcher") == 1);
    return report;
}

}  // namespace

TEST_CASE("dispatcher RTL in the tiles of a chip: not a figure of the report changes", "[dispatcher][platform]") {
    const nlohmann::json walk = report_with("--set dispatcher.impl=walk");
    CHECK(report_with("--set dispatcher.impl=rtl") == walk);
    CHECK(report_with("--set dispatcher.impl=lockstep") == walk);
    CHECK(report_with("--set dispatcher.impl=walk --set dispatcher.impl_of_tiles=2=rtl") == walk);
}
