// SPDX-License-Identifier: Apache-2.0
// All chips and links in one simulation, against each part by itself.
#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/expert_parallel/formula_chip.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::ordered_json;

namespace {

constexpr const char* kChain = "testbenches/data/expert_chain.yaml";

ordered_json joint(std::map<std::string, std::string> overrides, const std::string& in_flight = "1",
                   const std::string& workload = kExperts, const std::string& platform = kFour) {
    overrides["cluster.simulation"] = "joint";
    overrides["cluster.batches_in_flight"] = in_flight;
    return run(platform, std::move(overrides), workload);
}

}  // namespace

TEST_CASE("one batch in flight: the joint simulation is parts and messages one after another", "[expert_parallel]") {
    // Times are rounded to picoseconds where a part or a message ends, of which a batch has fewer than a hundred.
    constexpr double kRoundingUs = 100e-6;
    // Where messages share links, at a thousandth of their rate too: those that begin at once go in another order, and
    // results of a fast chip meet cells for a slow one. Each time is within this share of the latency.
    constexpr double kContention = 0.05;
    using Overrides = std::map<std::string, std::string>;
    const auto compare = [&](const char* workload, const Overrides& overrides, double share) {
        CAPTURE(workload, ordered_json(overrides).dump());
        const ordered_json apart = run(kFour, overrides, workload), together = joint(overrides, "1", workload);
        REQUIRE(together.at("batches").size() == apart.at("batches").size());
        for (std::size_t b = 0; b < apart.at("batches").size(); ++b) {
            const ordered_json &one = apart.at("batches").at(b), &other = together.at("batches").at(b);
            const double margin = kRoundingUs + share * one.at("latency_us").get<double>();
            for (const char* key : {"latency_us", "chips_us", "dispatch_us", "return_us"})
                CHECK(std::abs(other.at(key).get<double>() - one.at(key).get<double>()) < margin);
            CHECK(other.at("crossing_cells") == one.at("crossing_cells"));
            CHECK(other.at("link_bytes") == one.at("link_bytes"));
        }
        const double margin = kRoundingUs + share * summary(apart, "chips_us");
        CHECK(summary(together, "busiest_link_mb_of_a_batch") == summary(apart, "busiest_link_mb_of_a_batch"));
        CHECK(std::abs(summary(together, "hidden_us")) < margin);
        CHECK(std::abs(summary(together, "links_us") - summary(apart, "links_us")) < margin);
    };
    const Overrides alone[] = {{},
                               {{"cluster.weights", "resident"}},
                               {{"cluster.all_to_all", "padded"}},
                               {{"cluster.placement", "worst"}, {"links.rate_factor", "0.01"}},
                               {{"links.base_us", "2"}, {"links.step_us", "3.4"}}};
    const Overrides shared[] = {
        {{"links.family", "switch"}},
        {{"links.family", "switch"}, {"links.chunk_bytes", "256"}, {"links.rate_factor", "0.001"}},
        {{"links.family", "ring"}, {"links.rate_factor", "0.001"}, {"links.switching", "store_and_forward"}}};
    for (const char* workload : {kExperts, kChain}) {
        for (const Overrides& overrides : alone) compare(workload, overrides, 0);
        for (const Overrides& overrides : shared) compare(workload, overrides, kContention);
    }
}

TEST_CASE("batches in flight hide messages and waits for slower chips", "[expert_parallel]") {
    // Messages take about a sixth of the time of the chips.
    const std::map<std::string, std::string> slow{{"links.rate_factor", "0.001"}, {"cluster.weights", "resident"}};
    for (const char* workload : {kExperts, kChain}) {
        const ordered_json one = joint(slow, "1", workload), two = joint(slow, "2", workload);
        CHECK(summary(one, "links_us") > 0.15 * summary(one, "chips_us"));
        CHECK(std::abs(summary(one, "hidden_us")) < 1e-3);
        CHECK(summary(two, "hidden_us") > 0.1 * summary(two, "links_us"));
        CHECK(summary(two, "period_us") < summary(one, "period_us"));
        // Each batch by itself takes longer: it waits for parts of the other one.
        const auto latency = [](const ordered_json& report) {
            return report.at("summary").at("latency_us").at("mean").get<double>();
        };
        CHECK(latency(two) > summary(two, "period_us"));
        CHECK(latency(two) >= latency(one));
        for (const char* key : {"between_chips_mb_of_a_batch", "busiest_link_mb_of_a_batch", "chips_us", "links_us"})
            CHECK(summary(two, key) == Approx(summary(one, key)).epsilon(1e-9));
        for (const ordered_json& chip : two.at("chips")) CHECK(chip.at("busy_share").get<double>() <= 1 + 1e-9);
        CHECK(summary(two, "busiest_chip_share") > summary(one, "busiest_chip_share"));
        CHECK(summary(two, "busiest_link_share") > summary(one, "busiest_link_share"));
    }
}

TEST_CASE("weights are loaded again when another part has run", "[expert_parallel]") {
    const ordered_json one = joint({}), all = joint({}, "3");
    for (const ordered_json& chip : one.at("chips")) CHECK(chip.at("reloads_of_a_batch") == 3);
    // The front parts of all batches begin together.
    for (const ordered_json& chip : all.at("chips")) CHECK(chip.at("reloads_of_a_batch").get<double>() < 3);
    const ordered_json resident = joint({{"cluster.weights", "resident"}}, "3");
    for (const ordered_json& chip : resident.at("chips")) CHECK(chip.at("reloads_of_a_batch") == 0);
}

TEST_CASE("one chip in parts has nothing to overlap", "[expert_parallel]") {
    const std::map<std::string, std::string> divided{{"cluster.divided", "yes"}, {"cluster.weights", "resident"}};
    const double apart = summary(run(kOne, divided), "chips_us");
    for (const char* in_flight : {"1", "3"}) {
        const ordered_json report = joint(divided, in_flight, kExperts, kOne);
        CHECK(summary(report, "period_us") == Approx(apart).margin(1e-3));
        CHECK(summary(report, "links_us") == 0);
        CHECK(report.at("chips").at(0).at("busy_share").get<double>() == Approx(1));
    }
    // The whole network on one chip is simulated by itself.
    CHECK(joint({}, "2", kExperts, kOne).at("batches") == run(kOne).at("batches"));
}

TEST_CASE("a joint simulation that cannot be is one line", "[expert_parallel][bad]") {
    const auto refusal = [](std::map<std::string, std::string> overrides) -> std::string {
        try {
            run(kFour, std::move(overrides));
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal({{"cluster.batches_in_flight", "2"}}).find("expected 1, found 2; set cluster.simulation: joint") !=
          std::string::npos);
    CHECK(refusal({{"cluster.simulation", "joint"}, {"cluster.chip_set", "alone=yes"}})
              .find("cluster.simulation: expected a chip_design whose models share a simulation, found joint with "
                    "formula") != std::string::npos);
}
