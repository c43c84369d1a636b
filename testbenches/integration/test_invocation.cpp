// SPDX-License-Identifier: Apache-2.0
// One invocation of a kernel an operator and batch: which kernels, and what stays as it is.

#include <map>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

constexpr unsigned kBatches = 6;

std::string compiled_for(const std::string& design, const std::string& invocation, const std::string& more = "") {
    return compiled(
        kDigits + std::string(" --platform ") + kMini + " --design " + design + " --invocation " + invocation + more,
        design + invocation + (more.empty() ? "" : "_more") + ".syk");
}

struct Run {
    json report, profile;
};

Run run(const std::string& image, const std::string& settings) {
    const std::string profile = scratch("profile.json");
    Run result;
    result.report =
        report_of_run(std::string(" --platform ") + kMini + " --image " + image + " --trace " + kDigitsTrace +
                      " --batches " + std::to_string(kBatches) + " --write-profile " + profile + settings);
    result.profile = read_json(profile);
    return result;
}

/// Samples of each batch that take branch 1 of each switch, as recorded.
std::map<std::string, std::vector<unsigned>> recorded_samples() {
    std::map<std::string, std::vector<unsigned>> result;
    std::istringstream lines(read_text(kDigitsTrace));
    for (std::string line; std::getline(lines, line);) {
        const json record = switchyard::parse_json(line, "trace");
        if (record.at("batch") >= kBatches) break;
        unsigned samples = 0;
        for (const unsigned mask : record.at("mask")) samples += mask >> 1 & 1;
        result[record.at("switch")].push_back(samples);
    }
    return result;
}

}  // namespace

TEST_CASE("an operator is invoked once a batch, with the smallest kernel for the batch's samples", "[invocation]") {
    const std::string design = GENERATE("adyna", "adyna-static");
    const auto [chip, in_flight] = GENERATE(table<std::string, std::string>(
        {{" --set chip.impl=tiles", ""},
         {" --set chip.impl=stages", ""},
         {" --set chip.impl=tiles --set dispatcher.impl=walk", ""},
         {" --set chip.impl=tiles", " --batches-in-flight 3"},  // each batch by its own dyn_dims
         {" --set chip.impl=stages", " --batches-in-flight 2"}}));
    CAPTURE(design, chip, in_flight);
    const Run batch = run(compiled_for(design, "batch", in_flight), chip);
    CHECK(batch.report.at("invocation") == "batch");
    const auto recorded = recorded_samples();
    unsigned operators = 0;
    for (const auto& [name, counted] : batch.profile.at("operators").items()) {
        CAPTURE(name);
        const auto samples = recorded.find(name.substr(0, name.find('.')));
        REQUIRE(samples != recorded.end());
        CHECK(counted.at("unit_samples") == 128);
        // What the rule selects, of the kernels that the operator has.
        std::map<unsigned, unsigned> expected;
        for (const auto& [dyn_dim, count] : counted.at("kernels").items()) expected[std::stoul(dyn_dim)] = 0;
        for (const unsigned real : samples->second) ++expected.lower_bound(real)->second;
        unsigned invocations = 0;
        for (const auto& [dyn_dim, count] : counted.at("kernels").items()) {
            CHECK(count == expected.at(std::stoul(dyn_dim)));
            invocations += count.get<unsigned>();
        }
        CHECK(invocations == kBatches);
        ++operators;
    }
    CHECK(operators == 16);
}

TEST_CASE("invocations for batches do the work of those for micro-batches", "[invocation]") {
    const std::string chip = GENERATE("tiles", "stages");
    const std::string settings = " --set chip.impl=" + chip;
    const Run batch = run(compiled_for("adyna", "batch"), settings),
              unit = run(compiled_for("adyna", "micro_batch"), settings);
    CHECK(unit.report.count("invocation") == 0);
    for (unsigned b = 0; b < kBatches; ++b)
        CHECK(batch.report.at("batches").at(b).at("macs") == unit.report.at("batches").at(b).at("macs"));
}

TEST_CASE("tiles and stages agree on invocations for batches", "[invocation]") {
    const std::string image = compiled_for("adyna", "batch");
    const Run tiles = run(image, " --set chip.impl=tiles"), stages = run(image, " --set chip.impl=stages");
    CHECK(tiles.profile == stages.profile);
    const double ratio = mean_latency_us(stages.report) / mean_latency_us(tiles.report);
    CHECK(ratio > 0.92);
    CHECK(ratio < 1.08);
}

namespace {

void check_packed_invocations(const std::string& network, const std::string& in_flight) {
    CAPTURE(network, in_flight);
    const std::string platform = " --platform configs/platforms/adyna.yaml";
    const auto image = [&](const std::string& routing) {
        return compiled("configs/workloads/digits_" + network + ".yaml" + platform +
                            " --design adyna --invocation batch --sample-routing " + routing + " --unit-samples 16" +
                            in_flight,
                        network + routing + ".syk");
    };
    const std::string options = " --trace configs/workloads/digits/" + network +
                                "/routing.jsonl --batches 2 --set chip.impl=tiles --write-profile ";
    const std::string packed = image("on_chip"), sorted = image("sorted_reload");
    CHECK(sy_sched("inspect " + packed).out.find("\n0 of ") == std::string::npos);
    CHECK(sy_sched("inspect " + sorted).out.find("\n0 of ") != std::string::npos);
    const json on_chip = report_of_run(platform + " --image " + packed + options + scratch("packed.json")),
               reload = report_of_run(platform + " --image " + sorted + options + scratch("sorted.json"));
    CHECK(on_chip.at("sample_routing") == "on_chip");
    for (std::size_t b = 0; b < on_chip.at("batches").size(); ++b)
        CHECK(on_chip.at("batches").at(b).at("macs") == reload.at("batches").at(b).at("macs"));
    const json profile = read_json(scratch("packed.json"));
    for (const auto& [name, counted] : profile.at("operators").items()) {
        CAPTURE(name);
        unsigned invocations = 0;
        for (const auto& [dyn_dim, count] : counted.at("kernels").items()) invocations += count.get<unsigned>();
        CHECK(invocations == 2);
    }
}

}  // namespace

TEST_CASE("operators that pack their samples do the same work, and are invoked once a batch", "[invocation]") {
    check_packed_invocations("early_exit", "");
}

TEST_CASE("operators that pack channels, or batches in flight, do the same work, and are invoked once a batch",
          "[.ci-long][invocation]") {
    const std::string in_flight = GENERATE("", " --batches-in-flight 2");
    check_packed_invocations("channel_gate", in_flight);
    if (!in_flight.empty()) check_packed_invocations("early_exit", in_flight);
}

TEST_CASE("batches in flight do the same work, invocation by invocation", "[invocation]") {
    const std::string invocation = GENERATE("batch", "micro_batch");
    const std::string alone = compiled_for("adyna", invocation),
                      together = compiled_for("adyna", invocation, " --batches-in-flight 3");
    CHECK(sy_sched("inspect " + together).out.find("3 batches in flight") != std::string::npos);
    const Run one = run(alone, " --set chip.impl=tiles"), tiles = run(together, " --set chip.impl=tiles"),
              stages = run(together, " --set chip.impl=stages");
    CHECK(tiles.report.at("batches_in_flight") == 3);
    CHECK(tiles.report.at("batches").size() == 2);
    CHECK(tiles.report.at("summary").at("batches") == kBatches);
    CHECK(tiles.report.at("summary").at("samples_per_batch") == 128);
    CHECK(tiles.profile == stages.profile);
    CHECK(tiles.profile.at("batches") == kBatches);
    double alone_macs = 0, together_macs = 0;
    for (const json& batch : one.report.at("batches")) alone_macs += batch.at("macs").get<double>();
    for (const json& batch : tiles.report.at("batches")) together_macs += batch.at("macs").get<double>();
    CHECK(alone_macs == together_macs);
    const double ratio = mean_latency_us(stages.report) / mean_latency_us(tiles.report);
    CHECK(ratio > 0.92);
    CHECK(ratio < 1.08);
    const auto a_batch = [](const json& report) {
        return report.at("summary").at("batch_us").at("chip").get<double>();
    };
    CHECK(a_batch(tiles.report) == Approx(mean_latency_us(tiles.report) / 3));
    CHECK(a_batch(tiles.report) < a_batch(one.report));
    check_refused(sy_sim(std::string("run --platform ") + kMini + " --image " + together + " --trace " + kDigitsTrace +
                         " --batches 4"),
                  {"batches: expected a multiple of 3, the batches in flight, found 4"});
}

TEST_CASE("a run with packed samples and batches in flight is re-scheduled", "[.ci-long][invocation]") {
    const std::string platform = " --platform configs/platforms/adyna.yaml",
                      model = "configs/workloads/digits_moe.yaml";
    const std::string image = compiled(model + platform +
                                           " --design adyna --invocation batch --sample-routing on_chip "
                                           "--batches-in-flight 2",
                                       "rescheduled.syk");
    const std::string run = platform + " --image " + image + " --trace configs/workloads/digits/moe/routing.jsonl" +
                            " --model " + model + " --set chip.impl=tiles --batches 8 --reschedule ";
    const json report = report_of_run(run + "4");
    CHECK(report.at("switches").at("on_chip") > 0);
    REQUIRE(report.at("phases").size() == 2);
    CHECK(report.at("phases").at(1).at("first_batch") == 4);
    check_refused(sy_sim("run" + run + "3"),
                  {"--reschedule", "expected a multiple of the 2 batches in flight, found 3"});
}

namespace {

void compare_packing(const std::string& network, const std::string& options, const std::string& in_flight,
                     double bound) {
    CAPTURE(network, in_flight);
    const std::string platform = " --platform configs/platforms/adyna.yaml";
    const std::string image =
        compiled("configs/workloads/digits_" + network + ".yaml" + platform +
                     " --design adyna --invocation batch --sample-routing on_chip" + options + in_flight,
                 "packed_" + network + ".syk");
    const std::string trace = "configs/workloads/digits/" + network + "/routing.jsonl";
    const auto run_on = [&](const std::string& chip) {
        Run result;
        const std::string profile = scratch("profile.json");
        result.report = report_of_run(platform + " --image " + image + " --trace " + trace +
                                      " --batches 2 --set chip.impl=" + chip + " --write-profile " + profile);
        result.profile = read_json(profile);
        return result;
    };
    const Run tiles = run_on("tiles"), stages = run_on("stages");
    CHECK(stages.report.at("switches").at("on_chip") > 0);
    CHECK_FALSE(stages.report.at("validation").at("outside").empty());
    CHECK(tiles.profile == stages.profile);
    for (const char* const counter :
         {"pe_array.macs", "pe_array.busy_cycles", "dispatcher.dispatches", "controller.units",
          "controller.empty_units", "network_interface.sent_bytes", "network_interface.samples_sent",
          "network_interface.samples_received", "network_interface.memory_written_bytes"}) {
        CAPTURE(counter);
        CHECK(stages.report.at("counters").at(counter) == tiles.report.at("counters").at(counter));
    }
    const double ratio = mean_latency_us(stages.report) / mean_latency_us(tiles.report);
    CHECK(ratio > 1 - bound);
    CHECK(ratio < 1 + bound);
}

}  // namespace

// Kernels as short as the flights of the packets: outside the validated domain, so that auto takes tiles.
TEST_CASE("tiles and stages agree on operators that pack their samples", "[invocation]") {
    SECTION("early exits") {
        compare_packing("early_exit", " --unit-samples 16", "", 0.08);
    }
    SECTION("two batches") {
        compare_packing("early_exit", " --unit-samples 16", " --batches-in-flight 2", 0.08);
    }
    SECTION("skipped layers") {
        compare_packing("skipnet", " --unit-samples 16", "", 0.15);
    }
}

TEST_CASE("tiles and stages agree on packed samples of gated channels and selected patches", "[.ci-long][invocation]") {
    SECTION("channels") {
        compare_packing("channel_gate", " --unit-samples 8", "", 0.08);
    }
    SECTION("patches") {
        compare_packing("patch_select", " --unit-samples 16", "", 0.16);
    }
}

TEST_CASE("an image for batches says so, and m-tile has none", "[invocation]") {
    const std::string image = compiled_for("adyna", "batch");
    CHECK(sy_sched("inspect " + image).out.find("kernels are invoked once a batch") != std::string::npos);
    const std::string m_tile = kDigits + std::string(" --platform ") + kMini + " --design m-tile";
    check_refused(sy_sched("compile " + m_tile + " --invocation batch -o " + scratch("m.syk")),
                  {"design m-tile: expected invocation micro_batch", "found batch"});
    check_refused(sy_sched("compile " + m_tile + " --invocation sample -o " + scratch("m.syk")),
                  {"invocation: expected one of micro_batch, batch, found sample"});
    check_refused(sy_sched(std::string("compile ") + kDigits + " --platform " + kMini +
                           " --design adyna --sample-routing on_chip -o " + scratch("m.syk")),
                  {"design adyna", "expected invocation batch for sample routing on_chip, found micro_batch"});
}
