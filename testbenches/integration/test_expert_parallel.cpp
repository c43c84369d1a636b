// SPDX-License-Identifier: Apache-2.0
// The experts of a network on several modelled Adyna chips, from the command line.
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

constexpr const char* kExperts = "testbenches/data/experts.yaml";

/// A platform file of `chips` small chips.
std::string platform_of(unsigned chips, const std::string& more = "") {
    const std::string path = scratch(fmt::format("chips_{}.yaml", chips));
    write_text(path,
               fmt::format("system: expert_parallel\nchip_file: {}/{}\nlinks: {{devices: {}, family: switch}}\n{}",
                           std::filesystem::current_path().string(), kMini, chips, more));
    return path;
}

std::string command(unsigned chips, const std::string& more) {
    return fmt::format("run --design expert-parallel --workload {} --platform {} --batches 3 {}", kExperts,
                       platform_of(chips), more);
}

json report_of(const std::string& arguments, const std::string& folder) {
    const Outcome outcome = sy_sim(arguments + " --report " + scratch(folder));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const json report = read_json(scratch(folder + "/report.json"));
    for (const json& check : report.at("conservation")) {
        INFO(check.dump());
        CHECK(check.at("ok") == true);
    }
    return report;
}

}  // namespace

TEST_CASE("one chip with all experts is the plain run of an Adyna chip", "[cli][expert_parallel]") {
    for (const std::string impl : {"tiles", "stages"}) {
        const std::string more = "--set chip.impl=" + impl;
        const json plain = report_of(
            fmt::format("run --design adyna --workload {} --platform {} --batches 3 {}", kExperts, kMini, more),
            "plain");
        const json cluster = report_of(command(1, more), "one");
        REQUIRE(cluster.at("batches").size() == 3);
        for (std::size_t b = 0; b < 3; ++b)
            CHECK(cluster.at("batches").at(b).at("latency_us") == plain.at("batches").at(b).at("latency_us"));
        CHECK(cluster.at("summary").at("latency_us") == plain.at("summary").at("latency_us"));
        CHECK(cluster.at("routing") == plain.at("routing"));
    }
}

TEST_CASE("four Adyna chips: the report is the same twice, and its times add up", "[cli][expert_parallel]") {
    const json report = report_of(command(4, ""), "four");
    CHECK(read_text(scratch("four/report.json")) ==
          (report_of(command(4, ""), "again"), read_text(scratch("again/report.json"))));
    const json& summary = report.at("summary");
    CHECK(summary.at("samples_per_batch") == 4 * 32);
    const double latency = summary.at("latency_us").at("mean");
    CHECK(summary.at("chips_us").get<double>() + summary.at("links_us").get<double>() == Approx(latency));
    CHECK(summary.at("links_us").get<double>() > 0);
    // The links of a switch with a thousand times the rate: what is left is their latency.
    const json fast = report_of(command(4, "--set links.rate_factor=1000"), "fast");
    CHECK(fast.at("summary").at("chips_us") == summary.at("chips_us"));
    CHECK(fast.at("summary").at("links_us").get<double>() < summary.at("links_us").get<double>());
}

TEST_CASE("a part of a network with experts is a network by itself", "[cli][expert_parallel]") {
    const std::string parts = scratch("parts");
    const json report =
        report_of(command(4, "--set cluster.weights=resident --set cluster.parts=" + parts), "with_parts");
    const json front =
        report_of(fmt::format("run --design adyna --workload {}/front.yaml --platform {} --batches 4", parts, kMini),
                  "front_alone");
    // Behind the first batch, which loads the weights.
    double sum = 0;
    for (std::size_t b = 1; b < 4; ++b) sum += front.at("batches").at(b).at("latency_us").get<double>();
    CHECK(sum / 3 == Approx(report.at("summary").at("time_us").at("front").get<double>()));
    CHECK(front.at("model") == "experts.front");
}

TEST_CASE("two layers of experts on four chips: what crosses links is what the routes say", "[cli][expert_parallel]") {
    const std::string chain = "testbenches/data/expert_chain.yaml";
    const std::string parts = scratch("chain_parts");
    const json report = report_of(fmt::format("run --design expert-parallel --workload {} --platform {} --batches 2 "
                                              "--set cluster.parts={}",
                                              chain, platform_of(4), parts),
                                  "chain");
    const json& summary = report.at("summary");
    const json& time = summary.at("time_us");
    CHECK(time.at("middle").get<double>() > 0);
    CHECK(time.at("front").get<double>() + time.at("middle").get<double>() + time.at("experts").get<double>() +
              time.at("back").get<double>() + time.at("links").get<double>() ==
          Approx(summary.at("latency_us").at("mean").get<double>()));
    double first = 0, second = 0;
    for (const json& chip : report.at("chips")) {
        REQUIRE(chip.at("layers").size() == 2);
        CHECK(chip.at("layers").at(0).at("router") == "first");
        first += chip.at("layers").at(0).at("cells_of_a_batch").get<double>();
        second += chip.at("layers").at(1).at("cells_of_a_batch").get<double>();
    }
    CHECK(first == 4 * 32 * 2);
    CHECK(second == 4 * 32);
    for (const json& batch : report.at("batches")) {
        // A cell and its result have 32 channels of two bytes; each chip tells each other one how many come, per layer.
        CHECK(batch.at("link_bytes").get<double>() ==
              batch.at("crossing_cells").get<double>() * (64 + 64) + 2 * 4 * 3 * 8);
    }
    CHECK(std::filesystem::exists(parts + "/middle_1.yaml"));
    CHECK(std::filesystem::exists(parts + "/second_3.jsonl"));
}

TEST_CASE("four Adyna chips and their links in one simulation", "[cli][expert_parallel]") {
    // With one batch in flight the two ways differ in what a part's host moves beside it, which the joint simulation
    // leaves to the links, and in the phase of the clock at which a part begins.
    for (const auto& [impl, bound] : {std::pair<std::string, double>{"stages", 0.001}, {"tiles", 0.02}}) {
        CAPTURE(impl);
        const std::string more = "--set chip.impl=" + impl;
        const auto joint = [&](const std::string& further, const std::string& folder) {
            return report_of(command(4, more + " --set cluster.simulation=joint " + further), folder);
        };
        const json apart = report_of(command(4, more), "apart"), together = joint("", "together");
        REQUIRE(together.at("batches").size() == 3);
        for (std::size_t b = 0; b < 3; ++b) {
            const json &one = apart.at("batches").at(b), &other = together.at("batches").at(b);
            CHECK(other.at("latency_us").get<double>() == Approx(one.at("latency_us").get<double>()).epsilon(bound));
            CHECK(other.at("link_bytes") == one.at("link_bytes"));
        }
        const json two = joint("--set cluster.batches_in_flight=2", "two");
        CHECK(two.at("summary").at("period_us").get<double>() < together.at("summary").at("period_us").get<double>());
        CHECK(two.at("summary").at("hidden_us").get<double>() > 0);
    }
}

TEST_CASE("several chips that cannot be are refused", "[cli][bad][expert_parallel]") {
    const std::string placement = scratch("placement.yaml");
    write_text(placement, "devices: 4\nrouters:\n  experts: [0, 0, 0, 1, 1, 2, 3, 3]\n");
    check_refused(
        sy_sim(command(4, "--set cluster.placement_file=" + placement)),
        {"placement.yaml:3: routers.experts: branch 2: expected at most 2 of 8 branches on device 0, found more"});
    check_refused(sy_sim(command(16, "")),
                  {"experts.yaml:12: layers.experts: expected a branch or more for each of 16 chips, found 8"});
    check_refused(sy_sim(command(4, "--set cluster.all_to_all=dense")), {"--set: cluster.all_to_all:", "dense"});
    check_refused(sy_sim(command(4, "--set chip.columns=0")), {"--set: chip.columns:"});
    check_refused(sy_sim(command(4, "--set cluster.batches_in_flight=2")), {"cluster.batches_in_flight", "joint"});
    check_refused(sy_sim(command(4, "--set cluster.simulation=joint --set chip.impl=auto")), {"chip.impl", "auto"});
    check_refused(sy_sim(command(4, "--set pe_array.nothing=1")), {"pe_array.nothing"});
    const std::string static_chain = fmt::format(
        "run --design expert-parallel --workload testbenches/data/static_chain.yaml --platform {} --batches 1",
        platform_of(4));
    check_refused(sy_sim(static_chain),
                  {"static_chain.yaml: layers: expected a switch with experts to place, found none"});
}
