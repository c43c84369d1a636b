// SPDX-License-Identifier: Apache-2.0
// The loop of Adyna's sections V-C and VII: the chip's profiles, the scheduler, another image, while a run goes on.

#include <filesystem>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// Room for more kernels than the two an operator that mini.yaml has.
const std::string kRoomy = " --set scratchpad.kernel_share=0.1";

json run_chip(const std::string& chip, const std::string& options) {
    const std::string platform = std::string(" --platform ") + kMini + kRoomy;
    const std::string image = compiled(kDigits + platform + " --design adyna");
    return report_of_run(platform + " --image " + image + " --trace " + kDigitsTrace +
                         " --batches 12 --set chip.impl=" + chip + options);
}

std::set<unsigned> kernels_of(const json& report, const std::string& name) {
    std::set<unsigned> dyn_dims;
    for (const json& op : report.at("operators")) {
        if (op.at("operator") != name) continue;
        for (const json& kernel : op.at("kernels")) dyn_dims.insert(kernel.at("dyn_dim").get<unsigned>());
    }
    return dyn_dims;
}

double latency_of(const json& report, unsigned batch) {
    return report.at("batches").at(batch).at("latency_cycles").get<double>();
}

/// The same but for a cycle: stages reckon in fractions of cycles, and a batch that begins elsewhere rounds elsewhere.
Approx same_latency(const json& report, unsigned batch) {
    return Approx(latency_of(report, batch)).epsilon(0).margin(1);
}

}  // namespace

TEST_CASE("a run goes on with images that follow its profiles", "[rescheduling]") {
    const std::string chip = GENERATE("tiles", "stages");
    const json once = run_chip(chip, "");
    const json often = run_chip(chip, std::string(" --reschedule 4 --model ") + kDigits);
    CHECK(often.at("ok") == true);  // invocations of three images add up, no sample is lost at a change
    REQUIRE(once.at("phases").size() == 1);
    REQUIRE(often.at("phases").size() == 3);
    for (unsigned phase = 0; phase < 3; ++phase) {
        CHECK(often.at("phases").at(phase).at("first_batch") == 4 * phase);
        CHECK((often.at("phases").at(phase).at("reconfiguration_cycles") > 0) == (phase > 0));
    }
    // The first phase is as without; the chip waits between the phases.
    for (unsigned batch = 0; batch < 4; ++batch) CHECK(latency_of(often, batch) == same_latency(once, batch));
    const auto gap = [&often](unsigned batch) {
        return often.at("batches").at(batch).at("start_cycle").get<std::int64_t>() -
               often.at("batches").at(batch - 1).at("end_cycle").get<std::int64_t>();
    };
    CHECK(gap(4) >= often.at("phases").at(1).at("reconfiguration_cycles").get<std::int64_t>() - 1);
    CHECK(gap(5) < 100);
    // Other kernels than the evenly spaced ones have been selected.
    unsigned changed = 0;
    for (unsigned block = 0; block < 8; ++block) {
        const std::string name = "block" + std::to_string(block) + ".a";
        changed += kernels_of(often, name) != kernels_of(once, name) ? 1 : 0;
    }
    CHECK(changed > 0);
}

TEST_CASE("an image is kept while routes stay as they were", "[rescheduling]") {
    const std::string model = "testbenches/data/swing.yaml", image = scratch("swing.syk"),
                      platform = std::string(" --platform ") + kMini;
    REQUIRE(sy_sched("compile " + model + platform + " --design adyna -o " + image).status == 0);
    const auto run = [&](const std::string& options) {
        const Outcome outcome = sy_sim("run" + platform + " --set chip.impl=stages --image " + image +
                                       " --batches 12 --report " + scratch("swing") + options);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_json(scratch("swing/report.json"));
    };
    const json never = run(""), asked = run(" --reschedule 4 --model " + model);
    REQUIRE(asked.at("phases").size() == 1);
    CHECK(asked.at("phases").at(0).at("reconfiguration_cycles") > 0);  // drained and read all the same
    for (unsigned batch = 0; batch < 12; ++batch) CHECK(latency_of(asked, batch) == same_latency(never, batch));
}

namespace {

void check_smaller_image(const std::string& chip) {
    // What the profilers say of this network frees tiles on the large chip.
    const std::string image = scratch("exits.syk"), model = "configs/workloads/digits_early_exit.yaml",
                      platform = " --platform configs/platforms/adyna.yaml";
    CAPTURE(chip);
    REQUIRE(sy_sched("compile " + model + platform + " --design adyna -o " + image).status == 0);
    const Outcome outcome = sy_sim("run" + platform + " --image " + image +
                                   " --trace configs/workloads/digits/early_exit/routing.jsonl --batches 15 "
                                   "--reschedule 5 --model " +
                                   model + " --set chip.impl=" + chip + " --report " + scratch("exits"));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(read_json(scratch("exits/report.json")).at("ok") == true);
}

}  // namespace

TEST_CASE("nothing is left of an image that used more tiles", "[rescheduling]") {
    check_smaller_image("stages");
}

TEST_CASE("nothing is left on single tiles of an image that used more", "[.ci-long][rescheduling]") {
    check_smaller_image("tiles");
}

TEST_CASE("re-scheduling takes the image's own model", "[rescheduling][bad]") {
    const std::string start = std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                              kDigitsTrace + " --batches 2 --reschedule 1";
    check_refused(sy_sim(start), {"--reschedule", "--model"});
    check_refused(sy_sim(start + " --model testbenches/data/fig6.yaml"), {"fig6.yaml", "name", "digits_skipnet"});
}

// configs/experiments/adyna_drift.yaml at a quarter of its length. The image is kept at the first two times that the
// scheduler is asked; at the third it looks at the last batches alone, which all take the new routes.
TEST_CASE("routes that change midway cost time until the next re-scheduling", "[.ci-long][rescheduling]") {
    std::string text = read_text("configs/experiments/adyna_drift.yaml");
    const auto replace = [&text](const std::string& what, const std::string& by) {
        const std::size_t at = text.find(what);
        REQUIRE(at != std::string::npos);
        text.replace(at, what.size(), by);
    };
    const std::string configs = std::filesystem::absolute("configs").string();
    replace("../platforms", configs + "/platforms");
    replace("../workloads", configs + "/workloads");
    replace("batches: 160", "batches: 40");
    replace("from_batch: 80", "from_batch: 20");
    replace("reschedule: 40", "reschedule: 10");
    replace("  - m-tile\n", "");
    text.resize(text.find("figures:"));
    write_text(scratch("drift.yaml"), text +
                                          "figures: [{name: speedup, measure: summary.latency_us.mean, over: "
                                          "adyna-static, inverse: yes}]\n");
    const Outcome outcome = sy_sim("experiment " + scratch("drift.yaml") + " --report " + scratch("drift"));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const json results = read_json(scratch("drift/results.json"));
    for (const json& point : results.at("points")) {
        const auto mean = [&](unsigned first) {
            double sum = 0;
            for (unsigned batch = first; batch < first + 10; ++batch)
                sum += point.at("report").at("batches").at(batch).at("latency_us").get<double>() / 10;
            return sum;
        };
        const bool adapts = point.at("design") == "adyna";
        CAPTURE(adapts, mean(0), mean(10), mean(20), mean(30));
        CHECK(mean(10) == Approx(mean(0)).epsilon(0.02));
        CHECK(mean(20) > 1.06 * mean(10));
        CHECK((mean(30) < 0.94 * mean(20)) == adapts);
        CHECK(point.at("report").at("phases").size() == (adapts ? 2 : 1));
    }
}
