// SPDX-License-Identifier: Apache-2.0
// chip.impl: auto takes stages where they are validated and tiles elsewhere, and says which and why.

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

constexpr const char* kAdyna = "configs/platforms/adyna.yaml";

/// A long network, whose kernels take much longer than its packets.
const std::string& long_network() {
    static const std::string kImage =
        compiled(std::string("configs/workloads/skipnet_resnet34.yaml --platform ") + kAdyna + " --design adyna",
                 "long_network.syk");
    return kImage;
}

/// A short one, on a chip whose packets are under way for long.
std::string digits(const char* chip) {
    const std::string platform = std::string(" --platform ") + kMini + " --set noc.link_cycles=60 ";
    static const std::string kImage = compiled(kDigits + platform + "--design adyna", "short_network.syk");
    return platform + "--image " + kImage + " --trace " + kDigitsTrace + " --batches 3 --set chip.impl=" + chip;
}

}  // namespace

TEST_CASE("auto takes stages for a network whose kernels are long", "[cli][chip]") {
    const std::string arguments = std::string("--platform ") + kAdyna + " --image " + long_network() + " --batches 2";
    const json report = report_of_run(arguments + " --set chip.impl=auto");
    CHECK(report.at("fidelity").at("chip") == "stages");
    CHECK(report.at("validation").at("outside").empty());
    CHECK_FALSE(report.at("validation").at("figures").empty());
    CHECK(report == report_of_run(arguments + " --set chip.impl=stages"));
}

TEST_CASE("auto takes tiles where flights count as much as kernels, and says why", "[cli][chip]") {
    json report = report_of_run(digits("auto"));
    CHECK(report.at("fidelity").at("chip") == "tiles");
    const json reasons = report.at("validation").at("not_stages");
    REQUIRE_FALSE(reasons.empty());
    CHECK_THAT(reasons.at(0).get<std::string>(), ContainsSubstring("validated up to"));
    const Outcome outcome = sy_sim("run " + digits("auto"));
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out,
               ContainsSubstring("tiles, not stages") && ContainsSubstring(reasons.at(0).get<std::string>()));
    json tiles = report_of_run(digits("tiles"));
    report.erase("validation");
    tiles.erase("validation");
    CHECK(report == tiles);
}

TEST_CASE("stages that are asked for say that they are not validated", "[cli][chip]") {
    const json report = report_of_run(digits("stages"));
    CHECK(report.at("fidelity").at("chip") == "stages");
    REQUIRE_FALSE(report.at("validation").at("outside").empty());
    const Outcome outcome = sy_sim("run " + digits("stages"));
    CHECK_THAT(outcome.out, ContainsSubstring("not validated here"));
}

TEST_CASE("a spot check is the difference from a run on tiles", "[cli][chip]") {
    const json report = report_of_run(digits("stages") + " --spot-check 2");
    const json check = report.at("validation").at("spot_check");
    const auto mean = [](const json& of) {
        return (of.at("batches").at(0).at("latency_us").get<double>() +
                of.at("batches").at(1).at("latency_us").get<double>()) /
               2;
    };
    const double stages = mean(report), tiles = mean(report_of_run(digits("tiles")));
    CHECK(check.at("batches") == 2);
    CHECK(check.at("stages_latency_us").get<double>() == Approx(stages));
    // The last batch of a run has no input of another one beside it.
    CHECK(check.at("tiles_latency_us").get<double>() == Approx(tiles).epsilon(1e-3));
    CHECK(check.at("difference").get<double>() == Approx(stages / check.at("tiles_latency_us").get<double>() - 1));
    const Outcome outcome = sy_sim("run " + digits("stages") + " --spot-check 2");
    CHECK_THAT(outcome.out, ContainsSubstring("spot check"));
    check_refused(sy_sim("run " + digits("tiles") + " --spot-check 2"), {"--spot-check: expected no value here"});
}
