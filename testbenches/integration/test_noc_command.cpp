// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run_noc(const std::string& options, const std::string& file) {
    const std::string path = scratch(file);
    const Outcome outcome = sy_sim("noc " + options + " --json " + path);
    CAPTURE(options, outcome.err);
    REQUIRE(outcome.status == 0);
    return read_json(path);
}

}  // namespace

TEST_CASE("sy-sim noc: latency, throughput and heat map of both models", "[noc][cli]") {
    const std::string impl = GENERATE(as<std::string>{}, "flit", "packet");
    const json result = run_noc(
        "--topology torus --size 4x3 --traffic uniform --rate 0.2 --packet-flits 4 --vcs 2 "
        "--buffer 8 --cycles 4000 --impl " +
            impl,
        impl + ".json");
    CHECK(result.at("format") == "switchyard-noc");
    CHECK(result.at("impl") == impl);
    CHECK(result.at("saturated") == false);
    CHECK(result.at("offered_flits_per_node_cycle").get<double>() == Approx(0.2).epsilon(0.05));
    CHECK(result.at("accepted_flits_per_node_cycle").get<double>() == Approx(0.2).epsilon(0.05));
    CHECK(result.at("packets").at("generated") == result.at("packets").at("arrived"));
    const json& latency = result.at("latency_cycles");
    CHECK(latency.at("p50").get<double>() <= latency.at("p99").get<double>());
    CHECK(latency.at("p99").get<double>() <= latency.at("max").get<double>());
    // 1.67 links on average: more than without load, less than twice that.
    const double zero_load = 2 + 2.67 * 4 + 1.67 * 2 + 4;
    CHECK(latency.at("mean").get<double>() > zero_load - 0.5);
    CHECK(latency.at("mean").get<double>() < 2 * zero_load);
    const json& map = result.at("link_utilisation");
    REQUIRE(map.size() == 5);
    REQUIRE(map.at("east").size() == 3);
    REQUIRE(map.at("east")[0].size() == 4);
    double ejected = 0;
    for (const json& row : map.at("ejection"))
        for (const json& use : row) ejected += use.get<double>() / 12;
    CHECK(ejected == Approx(0.2).epsilon(0.05));
}

TEST_CASE("sy-sim noc: the same seed gives the same bytes, another one others", "[noc][cli]") {
    const std::string options = "--size 4x4 --rate 0.3 --cycles 1000 --traffic hotspot";
    const auto text = [&](const std::string& more) { return run_noc(options + more, "seed.json").dump(); };
    const std::string first = text(" --seed 3");
    CHECK(first == text(" --seed 3"));
    CHECK(first != text(" --seed 4"));
}

TEST_CASE("sy-sim noc: a saturated network says so", "[noc][cli]") {
    const json result = run_noc("--size 4x4 --vcs 2 --rate 0.95 --cycles 2000 --topology mesh", "saturated.json");
    CHECK(result.at("saturated") == true);
    CHECK(result.at("accepted_flits_per_node_cycle").get<double>() < 0.9);
}

TEST_CASE("sy-sim noc: without packets there is no latency to print", "[noc][cli]") {
    const std::string impl = GENERATE(as<std::string>{}, "flit", "packet");
    const Outcome outcome = sy_sim("noc --size 4x4 --rate 0 --cycles 200 --impl " + impl);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.find("cycle: no packets, accepted 0.0000") != std::string::npos);
    CHECK(outcome.out.find("latency") == std::string::npos);
    CHECK(outcome.out.find("saturated") == std::string::npos);
}

TEST_CASE("sy-sim noc: every pattern loads the links that it should", "[noc][cli]") {
    const auto busiest = [](const std::string& traffic) {
        return run_noc("--topology mesh --size 4x4 --rate 0.1 --cycles 4000 --traffic " + traffic, "pattern.json")
            .at("largest_link_utilisation")
            .get<double>();
    };
    // Flows over the busiest link: rows 0 .. 2 of a transpose turn at column 3; the two middle columns of a row.
    CHECK(busiest("transpose") == Approx(0.3).epsilon(0.1));
    CHECK(busiest("bitcomp") == Approx(0.2).epsilon(0.1));
    CHECK(busiest("neighbour") == Approx(0.1).epsilon(0.15));
}

TEST_CASE("sy-sim noc: bad options are refused", "[noc][cli]") {
    check_refused(sy_sim("noc --size 8"), {"--size: 8: expected columns x rows, like 8x8, found other text"});
    check_refused(sy_sim("noc --size 8x8x8"), {"--size: 8x8x8: expected columns x rows, like 8x8, found other text"});
    check_refused(sy_sim("noc --pipeline 1,1"),
                  {"--pipeline: 1,1: expected four numbers of cycles, like 1,1,1,1, found other text"});
    check_refused(sy_sim("noc --pipeline 1,0,1,1"), {"expected at least 1, found "});
    check_refused(sy_sim("noc --vcs 3"), {"vcs: expected an even number on a torus", "found 3"});
    check_refused(sy_sim("noc --traffic whirlwind"), {"--traffic"});
    check_refused(sy_sim("noc --size 4x3 --traffic bitrev"), {"a power of two of nodes"});
    check_refused(sy_sim("noc --size 4x3 --traffic transpose"), {"as many columns as rows"});
    check_refused(sy_sim("noc --rate 2"), {"rate: expected 0 to "});
    check_refused(sy_sim("noc --rate 1e-300"), {"take a higher rate, or 0"});
    check_refused(sy_sim("noc --packet-flits 65536 --cycles 200"),
                  {"expected at most as many flits as the 200 measured cycles, found 65536"});
    check_refused(sy_sim("noc --without-dateline --vcs 2 --rate 0.9 --packet-flits 8"),
                  {"no flit has moved for 2000 cycles", "; ring"});
}
