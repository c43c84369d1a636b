// SPDX-License-Identifier: Apache-2.0
// The workloads of configs/workloads/ on simulated chips, from the model file to the report.

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/npy.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;
using switchyard::platform::read_npy;

namespace {

const std::string kAdyna = "configs/platforms/adyna.yaml";

std::string workload_image(const std::string& workload, const std::string& platform, const std::string& options = "") {
    return compiled("configs/workloads/" + workload + ".yaml --platform " + platform + " --design adyna " + options,
                    workload + ".syk");
}

json report_of(const std::string& platform, const std::string& image, const std::string& options) {
    return report_of_run("--platform " + platform + " --image " + image + " " + options);
}

std::string trace_of(const std::string& network) {
    return "configs/workloads/digits/" + network + "/routing.jsonl";
}

}  // namespace

namespace {

void run_small_batches(const std::string& workload) {
    INFO(workload);
    workload_image(workload, kAdyna, "--batch 1");
    const json report = report_of(kAdyna, workload_image(workload, kAdyna, "--batch 4"), "--batches 1");
    CHECK(report.at("model") == workload);
}

}  // namespace

TEST_CASE("networks of the evaluation run on Adyna's chip, whatever the batch", "[workloads]") {
    run_small_batches(GENERATE(as<std::string>{}, "tutel_moe", "pabee_bert"));
}

TEST_CASE("all networks of the evaluation run on Adyna's chip, whatever the batch", "[.ci-long][workloads]") {
    run_small_batches(GENERATE(as<std::string>{}, "skipnet_resnet34", "fbsnet_resnet18", "fbsnet_mcifarnet", "dpsnet"));
}

TEST_CASE("another load of the experts is another run", "[workloads]") {
    const std::string options = "--batch 16 --routing configs/workloads/routing/tutel_moe_zipf.yaml";
    const json report = report_of(kAdyna, workload_image("tutel_moe", kAdyna, options), "--batches 4");
    double first = 0, last = 0;
    for (const json& op : report.at("operators")) {
        if (op.at("operator") == "up0") first = op.at("samples_per_batch");
        if (op.at("operator") == "up15") last = op.at("samples_per_batch");
    }
    CHECK(first > last);
}

TEST_CASE("a trace of the declared routes is the run that the generator makes", "[workloads][cli]") {
    const std::string model = "testbenches/data/moe.yaml", trace = scratch("declared.jsonl");
    const std::string image = compiled(model + " --platform " + kMini + " --design adyna", "declared.syk");
    const Outcome written = sy_sched("routes " + model + " --batches 3 --seed 11 -o " + trace);
    INFO(written.err);
    REQUIRE(written.status == 0);
    CHECK_THAT(written.out, Catch::Matchers::ContainsSubstring("3 batches of "));
    json generated = report_of(kMini, image, "--batches 3 --seed 11");
    json recorded = report_of(kMini, image, "--trace " + trace);
    CHECK(generated.at("routing") == json{{"source", "generator"}, {"seed", 11}});
    CHECK(recorded.at("routing") == json{{"source", "trace"}});
    generated.erase("routing");
    recorded.erase("routing");
    CHECK(generated == recorded);
    check_refused(sy_sched("routes testbenches/data/early_exit.yaml --batches 0 -o " + trace), {"--batches"});
}

TEST_CASE("what a batch takes: on the chip, with re-configurations, with the host", "[workloads][report]") {
    const std::string model = "testbenches/data/moe.yaml";
    const std::string image = compiled(model + " --platform " + kMini + " --design adyna", "metrics.syk");
    const json once = report_of(kMini, image, "--batches 6");
    const json often = report_of(kMini, image, "--batches 6 --reschedule 2 --model " + model);
    for (const json& report : {once, often}) {
        const json& summary = report.at("summary");
        const json& batch_us = summary.at("batch_us");
        CHECK(batch_us.at("chip").get<double>() == Approx(summary.at("latency_us").at("mean").get<double>()));
        CHECK(batch_us.at("with_host").get<double>() == Approx(summary.at("run_us").get<double>() / 6));
        CHECK(batch_us.at("with_host") >= batch_us.at("with_reconfiguration"));
    }
    double reconfigurations_us = 0;
    for (const json& phase : often.at("phases")) reconfigurations_us += phase.at("reconfiguration_us").get<double>();
    const json& batch_us = often.at("summary").at("batch_us");
    CHECK(reconfigurations_us > 0);
    CHECK(batch_us.at("with_reconfiguration").get<double>() - batch_us.at("chip").get<double>() ==
          Approx(reconfigurations_us / 6));
    CHECK(once.at("summary").at("batch_us").at("with_reconfiguration") == once.at("summary").at("batch_us").at("chip"));
}

TEST_CASE("the digits' networks run on their recorded routes", "[workloads]") {
    for (const char* network : {"channel_gate", "moe", "early_exit", "patch_select"}) {
        INFO(network);
        const std::string image = workload_image(std::string("digits_") + network, kMini);
        const json report = report_of(kMini, image, "--batches 2 --trace " + trace_of(network));
        CHECK(report.at("routing").at("source") == "trace");
    }
}

namespace {

/// `roundings`: to binary16, of weights and of results, that a sample passes.
void check_against_pytorch(const std::string& network, const std::string& platform, double roundings) {
    INFO(network << " on " << platform);
    const std::string folder = "configs/workloads/digits/" + network;
    const std::string image = workload_image("digits_" + network, platform);
    std::string options = "--set chip.functional=yes";
    for (const auto& [option, file] : std::map<std::string, std::string>{{"weights", "weights"},
                                                                         {"inputs", "input_batch0.npy"},
                                                                         {"expect", "logits_batch0.npy"},
                                                                         {"trace", "routing.jsonl"}}) {
        options.append(" --").append(option).append(" ").append(folder).append("/").append(file);
    }
    const json values = report_of(platform, image, options).at("values");
    double largest = 0;
    for (const float logit : read_npy(folder + "/logits_batch0.npy").values)
        largest = std::max(largest, std::abs(double{logit}));
    // Each rounding is by at most 2^-11 of a value's size, and independent errors add up like the root of their
    // number.
    const double bound = std::sqrt(roundings) * std::ldexp(1.0, -11) * largest;
    CHECK(values.at("outputs").at("largest_error") < bound);
    CHECK(values.at("outputs").at("largest_error") > 0);
    CHECK(values.at("outputs").at("different_labels") == 0);
    CHECK(values.at("routing").at("decisions") > 0);
    CHECK(values.at("routing").at("differences").empty());
}

// Stem, four times a group's convolution and the sum, head; two layers. Transformers: the steps of
// values/transformer_reference.h, six layers or two, each with a rounding of weights and one of results.
constexpr double kChannelGate = 16, kPatchSelect = 4, kEarlyExit = 78, kMoe = 46;

}  // namespace

TEST_CASE("gated channels, selected patches and transformers are what PyTorch computed", "[workloads][values]") {
    check_against_pytorch("channel_gate", kMini, kChannelGate);
    check_against_pytorch("patch_select", kMini, kPatchSelect);
    check_against_pytorch("early_exit", kMini, kEarlyExit);
    check_against_pytorch("moe", kMini, kMoe);
}

// Where the sums of groups run in a pipeline, on the small chip through memory.
TEST_CASE("gated channels and transformers are what PyTorch computed on a large chip too",
          "[.ci-long][workloads][values]") {
    check_against_pytorch("channel_gate", kAdyna, kChannelGate);
    check_against_pytorch("early_exit", kAdyna, kEarlyExit);
    check_against_pytorch("moe", kAdyna, kMoe);
}

TEST_CASE("a router's capacity holds from the model file to the chip", "[workloads][cli]") {
    const std::string options = std::string("testbenches/data/router.yaml --platform ") + kMini + " --design adyna";
    const std::string image = compiled(options, "router.syk");
    const json report = report_of(kMini, image, "--batches 4");
    double most = 0, all = 0;
    for (const json& op : report.at("operators")) {
        const std::string name = op.at("operator");
        if (name.rfind("expert", 0) != 0 || name.find('.') != std::string::npos) continue;
        const double samples = op.at("samples_per_batch");
        CHECK(samples <= 36);
        most = std::max(most, samples);
        all += samples;
    }
    CHECK(most == 36);
    CHECK(all > 64);
    CHECK(all < 2 * 64);  // some find their expert full
    std::string text = read_text("testbenches/data/router.yaml");
    text.replace(text.find("top_k"), 5, "hash");
    text.erase(text.find("k: 2, "), 6);
    const std::string hash = scratch("hash.yaml");
    write_text(hash, text);
    check_refused(sy_sched("compile " + hash + " --platform " + kMini + " --design adyna -o " + scratch("hash.syk")),
                  {"hash.yaml:12: layers.experts.gate",
                   "expected gate or a router that chooses by the number of a sample or task, found both"});
}
