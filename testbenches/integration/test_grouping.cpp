// SPDX-License-Identifier: Apache-2.0
// Branch grouping (Adyna, section V-B): rare branches that share tiles do the same work, in less time.

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run_model(const std::string& model, const std::string& platform, const std::string& chip,
               const std::string& options) {
    const std::string file = " --platform configs/platforms/" + platform + ".yaml";
    const std::string image = compiled(model + file + " --design adyna" + options);
    json report = report_of_run(file + " --image " + image + " --batches 10 --set chip.impl=" + chip);
    report["shares"] = sy_sched("inspect " + image).out.find("one after another with") != std::string::npos;
    return report;
}

/// The sixteen experts on 4 x 4 pixels instead of 14 x 14: what a small chip spends most time on is not computing.
std::string small_experts() {
    std::string text = read_text("testbenches/data/moe16.yaml");
    const std::string large = "rows: 14, columns: 14";
    REQUIRE(text.find(large) != std::string::npos);
    text.replace(text.find(large), large.size(), "rows: 4, columns: 4");
    std::string path = scratch("small_experts.yaml");
    write_text(path, text);
    return path;
}

void check_rare_experts(const std::string& chip) {
    const std::string platform = GENERATE("mini", "adyna");
    CAPTURE(chip, platform);
    const std::string model = platform == "mini" ? small_experts() : "testbenches/data/moe16.yaml";
    const json grouped = run_model(model, platform, chip, ""),
               separate = run_model(model, platform, chip, " --without grouping");
    CHECK(grouped.at("shares") == true);
    CHECK(separate.at("shares") == false);
    CHECK(mean_latency_us(grouped) < mean_latency_us(separate));
    for (std::size_t batch = 0; batch < 10; ++batch)
        CHECK(grouped.at("batches").at(batch).at("macs") == separate.at("batches").at(batch).at("macs"));
}

}  // namespace

TEST_CASE("rare experts on shared tiles take less time for the same work", "[grouping]") {
    check_rare_experts("stages");
}

TEST_CASE("rare experts take less time on shared tiles, tile by tile too", "[.ci-long][grouping]") {
    check_rare_experts("tiles");
}

TEST_CASE("branches that are not rare keep tiles of their own", "[grouping]") {
    const std::string platform = GENERATE("mini", "adyna");
    const json grouped = run_model("testbenches/data/moe.yaml", platform, "tiles", ""),
               separate = run_model("testbenches/data/moe.yaml", platform, "tiles", " --without grouping");
    CHECK(grouped.at("shares") == false);
    CHECK(mean_latency_us(grouped) == mean_latency_us(separate));
}
