// SPDX-License-Identifier: Apache-2.0
// What bounds a run: shares add up, they are the counters', and a scarcer resource is named.
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;

namespace {

constexpr double kRounding = 1e-9;

double sum_of(const nlohmann::json& shares) {
    double sum = 0;
    for (const auto& [name, share] : shares.items()) {
        INFO(name << " " << share.get<double>());
        CHECK(share.get<double>() >= -kRounding);
        sum += share.get<double>();
    }
    return sum;
}

/// All that holds whatever the workload.
void check_shares(const nlohmann::json& report) {
    const nlohmann::json& bounds = report.at("bounds");
    CHECK(sum_of(bounds.at("chip")) == Approx(1).epsilon(kRounding));
    CHECK(sum_of(bounds.at("causes")) == Approx(1).epsilon(kRounding));
    double compute_cycles = 0;
    for (const nlohmann::json& stage : bounds.at("stages")) {
        INFO(stage.dump());
        CHECK(sum_of(stage.at("shares")) == Approx(1).epsilon(kRounding));
        compute_cycles += stage.at("shares").at("compute").get<double>() * stage.at("tile_cycles").get<double>();
        double waited = 0;
        for (const nlohmann::json& wait : stage.at("waits_for")) waited += wait.at("share").get<double>();
        CHECK(waited <= stage.at("shares").at("operands").get<double>() +
                            stage.at("shares").at("output").get<double>() + kRounding);
    }
    const double tiles =
        report.at("platform").at("columns").get<double>() * report.at("platform").at("rows").get<double>();
    const double tile_cycles = tiles * report.at("summary").at("run_cycles").get<double>();
    const double busy = report.at("counters").at("controller.busy_cycles").get<double>();
    CHECK(compute_cycles == Approx(busy).epsilon(kRounding));
    // The report has whole cycles of the run.
    CHECK(bounds.at("chip").at("compute").get<double>() * tile_cycles == Approx(busy).epsilon(1e-5));
    double tiles_busy = 0;
    for (const nlohmann::json& share : report.at("tiles").at("kernel")) tiles_busy += share.get<double>();
    CHECK(tiles_busy / tiles == Approx(bounds.at("chip").at("compute").get<double>()).epsilon(kRounding));
    double links_busy = 0;
    for (const nlohmann::json& share : report.at("links").at("busy")) links_busy += share.get<double>();
    CHECK(links_busy / static_cast<double>(report.at("links").at("busy").size()) ==
          Approx(report.at("utilisation").at("link_mean").get<double>()).epsilon(1e-6));
}

double memory_share(const nlohmann::json& report) {
    const nlohmann::json& causes = report.at("bounds").at("causes");
    return causes.at("memory").get<double>() + causes.at("weights").get<double>();
}

}  // namespace

TEST_CASE("the shares of what bounds a run add up and are those of the counters", "[bounds]") {
    const char* const chip = GENERATE("tiles", "stages");
    INFO(chip);
    const std::string on = std::string(" --set chip.impl=") + chip + " --batches 3";
    check_shares(report_of_run("--platform configs/platforms/mini.yaml --image " + digits_image() + " --trace " +
                               kDigitsTrace + on));
    const std::string mini = " --platform configs/platforms/mini.yaml --design ";
    check_shares(report_of_run("--platform configs/platforms/mini.yaml --image " +
                               compiled("testbenches/data/early_exit.yaml" + mini + "adyna") + on));
    check_shares(report_of_run("--platform configs/platforms/mini.yaml --image " +
                               compiled("configs/workloads/digits_moe.yaml" + mini + "m-tile") + on));
    check_shares(report_of_run("--platform configs/platforms/mini.yaml --image " +
                               compiled("testbenches/data/swing.yaml" + mini + "adyna") + on));
}

namespace {

void check_bounds(const std::string& chip) {
    INFO(chip);
    const auto with = [&](const std::string& set) {
        const std::string platform = "--platform configs/platforms/adyna.yaml" + set;
        const std::string image = compiled("configs/workloads/tutel_moe.yaml " + platform + " --design adyna");
        nlohmann::json report = report_of_run(platform + " --set chip.impl=" + chip + " --batches 2 --image " + image);
        check_shares(report);
        return report;
    };
    const nlohmann::json published = with("");
    const nlohmann::json slow_memory = with(" --set hbm.pseudo_channel_gb_per_s=4.8");
    const nlohmann::json narrow_links = with(" --set noc.link_bytes_per_cycle=48");
    CHECK(published.at("bounds").at("bound") == "compute");
    CHECK(slow_memory.at("bounds").at("bound") == "memory");
    CHECK(narrow_links.at("bounds").at("bound") == "network");
    CHECK(mean_latency_us(slow_memory) > 1.5 * mean_latency_us(published));
    CHECK(mean_latency_us(narrow_links) > 1.3 * mean_latency_us(published));
    CHECK(memory_share(slow_memory) > 1.5 * memory_share(published));
}

}  // namespace

TEST_CASE("a quarter of the memory's bandwidth makes memory the bound, a quarter of the links the network",
          "[bounds]") {
    check_bounds("stages");
}

TEST_CASE("the bounds of tiles follow the bandwidths of memory and links too", "[.ci-long][bounds]") {
    check_bounds("tiles");
}
