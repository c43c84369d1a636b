// SPDX-License-Identifier: Apache-2.0
// The largest chip: 64 x 64 tiles.

#include <chrono>
#include <cmath>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;

namespace {

const std::string kLarge = " --set chip.columns=64 --set chip.rows=64";

}  // namespace

TEST_CASE("a small network runs on 64 x 64 tiles, as stages and as tiles", "[.large]") {
    const std::string image = compiled(kDigits + (" --platform " + std::string(kMini)) + kLarge + " --design adyna");
    const std::string run = std::string("--platform ") + kMini + kLarge + " --batches 1 --image " + image +
                            " --trace " + kDigitsTrace + " --set chip.impl=";
    const nlohmann::json stages = report_of_run(run + "stages");
    const double difference = mean_latency_us(stages) / mean_latency_us(report_of_run(run + "tiles")) - 1;
    INFO(stages.at("validation").dump(2));
    // Its packets are under way for longer than its kernels take: stages say that they are not validated for it.
    CHECK((!stages.at("validation").at("outside").empty() || std::abs(difference) < 0.1));
    CHECK(std::abs(difference) < 0.5);
}

TEST_CASE("a large network is scheduled for 64 x 64 tiles within a minute, and runs", "[.large]") {
    // Its image has 78 MiB, more than the window has by default.
    const std::string platform =
        " --platform configs/platforms/adyna.yaml --set host.image_window_bytes=134217728" + kLarge;
    const auto started = std::chrono::steady_clock::now();
    const std::string image = compiled("configs/workloads/skipnet_resnet34.yaml" + platform + " --design adyna");
    CHECK(std::chrono::steady_clock::now() - started < std::chrono::seconds(60));
    for (const char* impl : {"stages", "tiles"})
        CHECK(mean_latency_us(report_of_run("--batches 1 --image " + image + platform + " --set chip.impl=" + impl)) >
              0);
}
