// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

const std::string kA100 = " --platform configs/platforms/a100.yaml ";
const std::string kChip = std::string(" --platform ") + kMini + " ";

}  // namespace

TEST_CASE("a model runs on a GPU and on tenants by command line", "[cli]") {
    for (const std::string name : {"gpu", "m-tenant"}) {
        const std::string arguments = fmt::format("run --design {} --workload {}{}--trace {} --batches 5 --report ",
                                                  name, kDigits, name == "gpu" ? kA100 : kChip, kDigitsTrace);
        const Outcome first = sy_sim(arguments + scratch(name));
        INFO(first.err);
        REQUIRE(first.status == 0);
        CHECK(first.err.empty());
        CHECK_THAT(first.out, Catch::Matchers::ContainsSubstring("design " + name));
        CHECK_THAT(first.out, Catch::Matchers::ContainsSubstring("checks hold"));
        const std::string text = read_text(scratch(name) + "/report.json");
        REQUIRE(sy_sim(arguments + scratch("again")).status == 0);
        CHECK(text == read_text(scratch("again/report.json")));

        const json report = switchyard::parse_json(text, "report");
        CHECK(report.at("format") == "switchyard-report");
        CHECK(report.at("design") == name);
        CHECK(report.at("model") == "digits_skipnet");
        CHECK(report.at("routing") == json{{"source", "trace"}});
        CHECK(report.at("batches").size() == 5);
        CHECK(report.at("summary").at("samples_per_batch") == 128);
        for (const json& check : report.at("conservation")) CHECK(check.at("ok") == true);
    }
}

TEST_CASE("both baselines and the simulated chip count the same work", "[cli]") {
    const auto macs = [](const std::string& folder) {
        std::vector<std::uint64_t> list;
        for (const json& batch : read_json(scratch(folder + "/report.json")).at("batches"))
            list.push_back(batch.at("macs"));
        return list;
    };
    const std::string routes = std::string("--trace ") + kDigitsTrace + " --batches 3 --report ";
    REQUIRE(sy_sim("run" + kChip + "--image " + digits_image() + " " + routes + scratch("chip")).status == 0);
    REQUIRE(sy_sim(std::string("run --design gpu --workload ") + kDigits + kA100 + routes + scratch("card")).status ==
            0);
    REQUIRE(sy_sim(std::string("run --design m-tenant --workload ") + kDigits + kChip + routes + scratch("tenants"))
                .status == 0);
    CHECK(macs("card") == macs("chip"));
    CHECK(macs("tenants") == macs("chip"));
}

TEST_CASE("baselines take routes from the model's generator and its seed", "[cli]") {
    const auto report = [](const std::string& folder, const std::string& seed) {
        const Outcome outcome = sy_sim("run --design gpu --workload testbenches/data/moe.yaml" + kA100 +
                                       "--batches 2 --report " + scratch(folder) + seed);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_json(scratch(folder + "/report.json"));
    };
    CHECK(report("moe", "").at("routing") == json{{"source", "generator"}, {"seed", 4}});
    CHECK(report("moe", "") == report("moe4", " --seed 4"));
    CHECK(report("moe", "").at("batches") != report("moe5", " --seed 5").at("batches"));
    const Outcome none = sy_sim("run --design m-tenant --workload testbenches/data/static_chain.yaml" + kChip +
                                "--report " + scratch("static"));
    REQUIRE(none.status == 0);
    const json still = read_json(scratch("static/report.json"));
    CHECK(still.at("routing").at("source") == "none");
    CHECK(still.at("batches").size() == 40);
}

TEST_CASE("keys of both files can be overridden", "[cli]") {
    const auto latency = [](const std::string& folder, const std::string& settings) {
        const Outcome outcome = sy_sim(std::string("run --design m-tenant --workload ") + kDigits + kChip +
                                       "--batches 1 --report " + scratch(folder) + settings);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_json(scratch(folder + "/report.json")).at("batches")[0].at("latency_us").get<double>();
    };
    const double usual = latency("usual", "");
    CHECK(latency("host", " --set m_tenant.host_synchronisation_us=20") == Approx(usual + 16 * 10));
    CHECK(latency("chip", " --set hbm.pseudo_channel_gb_per_s=1") > usual);
    const std::string file = scratch("tenant.yaml");
    write_text(file, "m_tenant: {host_synchronisation_us: 20}\n");
    CHECK(latency("file", " --set file=" + file) == Approx(usual + 16 * 10));
}

TEST_CASE("mistakes on a baseline's command line are one line", "[cli]") {
    const std::string digits = kDigits;
    check_refused(sy_sim("run --design tpu --workload " + digits + kA100), {"tpu"});
    check_refused(sy_sim("run --design gpu" + kA100), {"expected --image or --workload, found neither"});
    check_refused(sy_sim("run --design gpu --workload " + digits), {"--platform"});
    check_refused(
        sy_sim("run --design gpu --workload " + digits + kChip),
        {"--design: expected a design for configs/platforms/mini.yaml, a platform of the system adyna (adyna, ",
         "found gpu"});
    check_refused(sy_sim("run --design gpu --workload " + digits + kA100 + "--set gpu.sms=3"),
                  {"design gpu: expected one of ", ", found sms"});
    check_refused(sy_sim("run --design gpu --workload " + digits + kA100 + "--set file=x.yaml"),
                  {"--set: file: expected the file as --platform"});
    check_refused(sy_sim("run --design gpu --workload " + digits + kA100 + "--set gpu.file=x.yaml"),
                  {"--set: gpu.file: expected the file as --platform"});
    check_refused(sy_sim("run --design gpu --workload " + digits + kA100 + "--set gpu.batch_size=3"),
                  {"design gpu: expected one of ", ", found batch_size"});
    check_refused(sy_sim("run --design gpu --workload " + digits + kA100 + "--set launch_us=3 --set gpu.launch_us=4"),
                  {"--set: launch_us: expected the key once, found it with and without its section"});
    check_refused(
        sy_sim("run --design m-tenant --workload " + digits + kA100),
        {"--design: expected a design for configs/platforms/a100.yaml, a platform of the system gpu_roofline (gpu), ",
         "found m-tenant"});
    check_refused(sy_sim("run --design m-tenant --workload " + digits + kChip + "--set m_tenant.groups=odd"),
                  {"m_tenant.groups"});
    check_refused(
        sy_sim("run --design m-tenant --workload " + digits + kChip + "--trace " + kDigitsTrace + " --batches 1000"),
        {"batches", "expected 1000 batches or more, found 200"});
    check_refused(sy_sim("run --design gpu --workload testbenches/data/nothing.yaml" + kA100),
                  {"nothing.yaml", "cannot be read"});
}

TEST_CASE("tenants' tiles that finish while they are told to stop", "[cli]") {
    const Outcome outcome = sy_sim("run --design m-tenant --workload testbenches/data/experts.yaml" + kChip +
                                   "--set m_tenant.impl=tiles --batches 3 --report " + scratch("late"));
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const json report = read_json(scratch("late/report.json"));
    CHECK(report.at("ok") == true);
    CHECK(report.at("batches").size() == 3);
}

TEST_CASE("an operator alone takes tenants about as long as the simulated chip", "[cli]") {
    const std::string chip = " --platform configs/platforms/adyna.yaml ";
    const auto tenants_us = [&](const std::string& model) {
        const Outcome outcome = sy_sim("run --design m-tenant --workload " + model + chip + "--batches 1 --report " +
                                       scratch("alone_tenants"));
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        const json report = read_json(scratch("alone_tenants/report.json"));
        return report.at("batches")[0].at("latency_us").get<double>();
    };
    const std::string model = scratch("alone.yaml");
    SECTION("a large GEMM") {
        const std::string result = scratch("alone_gemm.json");
        REQUIRE(sy_sim("gemm" + chip + "--m 16384 --n 4096 --k 4096 --json " + result).status == 0);
        write_text(model,
                   "name: gemm\nbatch: 128\ninput: {channels: 4096, rows: 128}\nlayers:\n"
                   "  - {name: a, kind: matmul, from: input, out_channels: 4096}\n");
        const double simulated_us = read_json(result).at("cycles").get<double>() * 1e-3;
        CHECK(tenants_us(model) == Approx(simulated_us).epsilon(0.05));
    }
    SECTION("convolutions: rounds are smaller than micro-batches, so that less time is lost before and after") {
        struct Layer {
            unsigned channels, side;
            const char* rest;
        };
        for (const Layer& layer :
             {Layer{64, 56, "out_channels: 64, filter: 3, pad: 1"},
              Layer{256, 14, "out_channels: 256, filter: 3, pad: 1"}, Layer{256, 56, "out_channels: 64, filter: 1"}}) {
            write_text(model,
                       fmt::format("name: convolution\nbatch: 128\ninput: {{channels: {0}, rows: {1}, columns: {1}}}\n"
                                   "layers:\n  - {{name: a, kind: convolution, from: input, {2}}}\n",
                                   layer.channels, layer.side, layer.rest));
            const std::string image = scratch("alone.syk");
            REQUIRE(sy_sched(fmt::format("compile {}{}--design m-tile -o {}", model, chip, image)).status == 0);
            REQUIRE(sy_sim(fmt::format("run{}--image {} --batches 1 --report {}", chip, image, scratch("alone_chip")))
                        .status == 0);
            const double simulated_us =
                read_json(scratch("alone_chip/report.json")).at("batches")[0].at("latency_us").get<double>();
            CAPTURE(layer.channels, layer.side, simulated_us);
            CHECK(tenants_us(model) <= simulated_us);
            CHECK(tenants_us(model) >= 0.7 * simulated_us);
        }
    }
}

TEST_CASE("docs/system_keys.md is what the program prints", "[cli]") {
    CHECK(sy_sim("keys systems").out == read_text("docs/system_keys.md"));
}
