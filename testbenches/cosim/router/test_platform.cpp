// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// Report of two batches of the digits network on flits, without the name of the network's implementation.
json report_with(const std::string& settings) {
    const std::string folder = scratch("router_report");
    const Outcome run = sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                               kDigitsTrace + " --batches 2 --report " + folder + " " + settings);
    INFO(settings << ": " << run.err);
    REQUIRE(run.status == 0);
    json report = read_json(folder + "/report.json");
    REQUIRE(report.at("fidelity").erase("noc") == 1);
    return report;
}

/// What `sy-sim noc` writes, without the name of the implementation.
std::string noc_with(const std::string& impl, const std::string& options) {
    const std::string path = scratch("noc_" + impl + ".json");
    const Outcome outcome = sy_sim("noc --impl " + impl + " " + options + " --json " + path);
    INFO(impl << ": " << outcome.err);
    REQUIRE(outcome.status == 0);
    json report = read_json(path);
    CHECK(report.at("impl") == impl);
    report.erase("impl");
    return report.dump();
}

}  // namespace

TEST_CASE("routers in RTL on a chip: not a figure of the report changes", "[router][platform]") {
    const json flit = report_with("--set noc.impl=flit");
    CHECK(report_with("--set noc.impl=rtl") == flit);
    CHECK(report_with("--set noc.impl=flit --set \"noc.impl_of_tiles=1=rtl 2=lockstep\"") == flit);
}

TEST_CASE("sy-sim noc: RTL routers give the bytes of the flit model", "[router][cli]") {
    const std::string options = GENERATE(as<std::string>{}, "--size 4x4 --vcs 2 --rate 0.2 --packet-flits 4",
                                         "--size 3x4 --vcs 4 --rate 0.9 --topology mesh");
    const std::string flit = noc_with("flit", options + " --cycles 600");
    CHECK(noc_with("rtl", options + " --cycles 600") == flit);
    CHECK(noc_with("lockstep", options + " --cycles 600") == flit);
}

TEST_CASE("routers in RTL: what was not built, and what contradicts itself, is refused", "[router][cli]") {
    const Outcome many = sy_sim("noc --impl rtl --size 4x4 --vcs 12");
    CHECK(many.status == 2);
    CHECK_THAT(many.err, Catch::Matchers::ContainsSubstring("no RTL router for 5 ports, 12 VCs of 8 flits"));
    for (const char* other : {"--arbitration oldest_first", "--switch-iterations 2"}) {
        const Outcome allocators = sy_sim(std::string("noc --impl rtl --size 4x4 ") + other);
        CHECK(allocators.status == 2);
        CHECK_THAT(allocators.err, Catch::Matchers::ContainsSubstring("no RTL router with oldest_first or several"));
    }
    const Outcome packet = sy_sim(std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                                  kDigitsTrace + " --set noc.impl_of_tiles=1=rtl");
    CHECK(packet.status == 2);
    CHECK_THAT(packet.err, Catch::Matchers::ContainsSubstring("noc: impl_of_tiles: expected impl: flit, found packet"));
}
