// SPDX-License-Identifier: Apache-2.0
// The system, each part of a network by itself.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/expert_parallel/formula_chip.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::ordered_json;

namespace {

/// "" or the line with which the run is refused, without its folder.
std::string refusal(const std::string& text, std::map<std::string, std::string> overrides = {},
                    const std::string& workload = kExperts, const std::string& placement = "") {
    try {
        run(text, std::move(overrides), workload, placement);
    } catch (const InputError& error) {
        const std::string message = error.what();
        const std::size_t folder = message.find("/switchyard-test-");
        if (folder == std::string::npos) return message;
        return message.substr(message.find('/', folder + 1) + 1);
    }
    return "";
}

double weight_bytes() {
    return static_cast<double>(sched::read_model(kExperts).graph.total_weight_bytes());
}

}  // namespace

TEST_CASE("four chips: each cell is computed once, and the parts add up", "[expert_parallel]") {
    const ordered_json report = run(kFour, {{"cluster.weights", "resident"}});
    // MACs of a sample: 24 x 32 and 32 x 8 in front, 32 x 64 and 64 x 48 in an expert, 48 x 10 behind.
    const ordered_json& time = report.at("summary").at("time_us");
    CHECK(time.at("front").get<double>() == Approx(kCells * (768 + 256) * 1e-3));
    CHECK(time.at("back").get<double>() == Approx(kCells * 480 * 1e-3));
    double sum = 0;
    for (const auto& part : time.items()) sum += part.value().get<double>();
    CHECK(sum == Approx(report.at("summary").at("latency_us").at("mean").get<double>()));
    // One chip alone loads its weights in the first of three batches.
    CHECK(summary(report, "alone_us") == Approx((kCells * 6624 + weight_bytes() / 3) * 1e-3));
    double cells = 0;
    for (const ordered_json& chip : report.at("chips")) {
        CHECK(chip.at("experts").size() == 2);
        const auto here = chip.at("cells_of_a_batch").get<double>();
        const auto room = chip.at("capacity_cells").get<double>();
        CHECK(room >= here);
        CHECK(std::fmod(room, 16) == 0);
        cells += here;
        // The gate of the experts sees the room for cells: three outputs of one channel.
        CHECK(chip.at("experts_us").get<double>() == Approx((here * 5120 + room * 3) * 1e-3));
        // All parts' weights, at a nanosecond a byte.
        CHECK(chip.at("reload_us").get<double>() == Approx(chip.at("weight_mb").get<double>() * 1e3));
    }
    CHECK(cells == 4 * kCells);
}

TEST_CASE("weights that are loaded again make each part of a batch longer", "[expert_parallel]") {
    const ordered_json resident = run(kFour, {{"cluster.weights", "resident"}}), reloaded = run(kFour);
    // All chips have as many weights.
    const double reload_us = resident.at("chips").at(0).at("reload_us").get<double>();
    CHECK(summary(reloaded, "chips_us") == Approx(summary(resident, "chips_us") + reload_us));
    CHECK(reloaded.at("summary").at("time_us").at("front").get<double>() ==
          Approx(resident.at("summary").at("time_us").at("front").get<double>() + 2 * (768 + 32 + 256) * 1e-3));
    CHECK(summary(reloaded, "alone_us") == summary(resident, "alone_us"));
}

TEST_CASE("one chip is the chip itself", "[expert_parallel]") {
    const ordered_json report = run(kOne);
    CHECK(summary(report, "speedup_over_alone") == 1);
    REQUIRE(report.at("batches").size() == 3);
    for (std::size_t b = 0; b < 3; ++b)
        CHECK(report.at("batches").at(b).at("latency_us").get<double>() ==
              Approx((kCells * 6624 + (b == 0 ? weight_bytes() : 0)) * 1e-3));
    // In parts it takes as long but for the gate of its eight experts, and no link takes part.
    const ordered_json divided = run(kOne, {{"cluster.divided", "yes"}, {"cluster.weights", "resident"}});
    CHECK(summary(divided, "links_us") == 0);
    CHECK(summary(divided, "chips_us") == Approx(kCells * (6624 + 9) * 1e-3));
}

TEST_CASE("chips whose platform is a parameter, and parameters of parts with experts alone", "[expert_parallel]") {
    const ordered_json slow = run(kFour);
    const ordered_json fast = run(kFour, {{"cluster.chip_design", "formula-of-file"}, {"formula.speed", "2"}});
    CHECK(summary(fast, "chips_us") == Approx(summary(slow, "chips_us") / 2));
    CHECK(summary(fast, "alone_us") == Approx(summary(slow, "alone_us") / 2));
    const auto front_us = [](const ordered_json& report) {
        return report.at("summary").at("time_us").at("front").get<double>();
    };
    const ordered_json experts = run(kFour, {{"cluster.routed_set", "speed=2"}});
    CHECK(front_us(experts) == front_us(slow));
    CHECK(summary(experts, "alone_us") == Approx(summary(slow, "alone_us") / 2));
    const ordered_json both = run(kFour, {{"cluster.chip_set", "speed=4"}, {"cluster.routed_set", "speed=2"}});
    CHECK(front_us(both) == Approx(front_us(slow) / 4));
    CHECK(summary(both, "alone_us") == Approx(summary(slow, "alone_us") / 2));
}

TEST_CASE("links without delay leave the slowest chip, and a report is the same twice", "[expert_parallel]") {
    CHECK(run(kFour) == run(kFour));
    const ordered_json fast = run(kFour, {{"links.rate_factor", "1000"}});
    CHECK(summary(fast, "links_us") < 0.5);
    CHECK(summary(fast, "chips_us") == summary(run(kFour), "chips_us"));
    for (const ordered_json& batch : fast.at("batches"))
        CHECK(batch.at("latency_us").get<double>() >= batch.at("chips_us").get<double>());
}

TEST_CASE("experts are where a file or the profile places them", "[expert_parallel]") {
    const std::string placement = "devices: 4\nrouters:\n  experts: [3, 2, 1, 0, 0, 1, 2, 3]\n";
    const ordered_json report = run(kFour, {{"cluster.placement_file", "placement.yaml"}}, kExperts, placement);
    CHECK(report.at("chips").at(0).at("experts") == ordered_json{3, 4});
    CHECK(report.at("chips").at(3).at("experts") == ordered_json{0, 7});
    // Zipf's law: the first experts are the heaviest, and blocks put them together.
    const auto most = [](const ordered_json& of) {
        double cells = 0;
        for (const ordered_json& chip : of.at("chips"))
            cells = std::max(cells, chip.at("cells_of_a_batch").get<double>());
        return cells;
    };
    CHECK(most(run(kFour, {{"cluster.placement", "balanced"}})) < most(run(kFour)));
    const auto crossing = [](const ordered_json& of) { return summary(of, "between_chips_mb_of_a_batch"); };
    CHECK(crossing(run(kFour, {{"cluster.all_to_all", "padded"}})) > crossing(run(kFour)));
}

TEST_CASE("what is wrong with several chips is one line", "[expert_parallel][bad]") {
    CHECK(refusal(kFour, {{"cluster.placement_file", "placement.yaml"}}, kExperts,
                  "devices: 4\nrouters:\n  experts: [0, 0, 0, 1, 1, 2, 2, 3]\n") ==
          "placement.yaml:3: routers.experts: branch 2: expected at most 2 of 8 branches on device 0, found more");
    CHECK(refusal("links: {devices: 4}\ncluster: {chip_design: formula}\n") ==
          "platform.yaml: links: expected a `topology` or a `family` for several devices, found neither");
    CHECK(refusal("links: {devices: 4, family: ring}\ncluster: {chip_design: no-chip}\n").find("no-chip") !=
          std::string::npos);
    CHECK(refusal("link: {devices: 4}\n").find("platform.yaml:2: link: expected one of ") != std::string::npos);
    CHECK(refusal(kFour, {{"cluster.routed_set", "speed"}}).find("cluster.routed_set: expected key=value") !=
          std::string::npos);
    CHECK(refusal(kFour, {{"cluster.routed_set", "colour=red"}}).find(", found colour") != std::string::npos);
    CHECK(refusal(kFour, {}, "testbenches/data/moe.yaml").empty());  // a sample goes to several experts
    CHECK(refusal("links: {devices: 16, family: switch}\ncluster: {chip_design: formula}\n") ==
          "testbenches/data/experts.yaml:12: layers.experts: expected a branch or more for each of 16 chips, found 8");
}
