// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

/// A block that half of the samples skip; routes are generated.
std::string tiny_model() {
    const std::string path = scratch("generated.yaml");
    write_text(path,
               "name: tiny\n"
               "batch: 16\n"
               "input: {channels: 8, rows: 4, columns: 4}\n"
               "layers:\n"
               "  - {name: stem, kind: convolution, from: input, out_channels: 8, filter: 3, pad: 1}\n"
               "  - {name: mean, kind: global_pool}\n"
               "  - {name: gate, kind: matmul, out_channels: 1}\n"
               "  - {name: skip, kind: switch, from: stem, gate: gate}\n"
               "  - {name: body, kind: convolution, from: skip.1, out_channels: 8, filter: 3, pad: 1}\n"
               "  - {name: out, kind: merge, from: [skip.0, body]}\n"
               "routing: {seed: 3, probability: [0.5, 0.5]}\n");
    return path;
}

}  // namespace

TEST_CASE("a model is compiled, inspected and run, and the report says what happened", "[cli]") {
    const std::string image = scratch("contract.syk"), out = scratch("contract");
    const Outcome compiled =
        sy_sched(std::string("compile ") + kDigits + " --platform " + kMini + " --design adyna -o " + image);
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
    CHECK(compiled.err.empty());

    const Outcome inspected = sy_sched("inspect " + image + " --json " + scratch("inspect.json"));
    CHECK(inspected.status == 0);
    CHECK_THAT(inspected.out, Catch::Matchers::ContainsSubstring("digits_skipnet"));
    CHECK_THAT(inspected.out, Catch::Matchers::ContainsSubstring("block7.b"));
    const json described = read_json(scratch("inspect.json"));
    CHECK(described.at("model") == "digits_skipnet");
    CHECK(described.at("batch_samples") == 128);
    std::size_t operators = 0, kernels = 0;
    for (const json& segment : described.at("segments"))
        for (const json& op : segment.at("operators")) {
            ++operators;
            kernels += op.at("kernels").size();
            CHECK(op.at("scratchpad").size() >= 2);  // its output and its inputs
            // The last kernel takes every sample of a micro-batch.
            CHECK(op.at("kernels").back().at("dyn_dim") == segment.at("unit_samples"));
        }
    CHECK(operators == 34);
    CHECK(kernels > operators);

    const Outcome run = sy_sim(std::string("run --platform ") + kMini + " --image " + image + " --trace " +
                               kDigitsTrace + " --batches 20 --report " + out + "/");
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.err.empty());
    CHECK_THAT(run.out, Catch::Matchers::ContainsSubstring("cycles/s"));

    const json report = read_json(out + "/report.json");
    CHECK(report.at("ok") == true);
    CHECK(report.at("model") == "digits_skipnet");
    CHECK(report.at("batches").size() == 20);
    CHECK(report.at("operators").size() == 34);
    CHECK(report.at("routing").at("source") == "trace");
    CHECK(report.at("fidelity").at("pe_array") == "analytic");
    double cycles = 0;
    for (const json& batch : report.at("batches")) {
        CHECK(batch.at("latency_cycles") ==
              batch.at("end_cycle").get<double>() - batch.at("start_cycle").get<double>());
        CHECK(batch.at("chip_cycles") <= batch.at("latency_cycles"));
        CHECK(batch.at("start_cycle") >= cycles);
        cycles = batch.at("end_cycle");
    }
    for (const json& check : report.at("conservation")) CHECK(check.at("ok") == true);
    double parts = 0;
    for (const auto& [name, part] : report.at("energy").at("parts_mj").items()) parts += part.get<double>();
    CHECK(parts == Approx(report.at("energy").at("total_mj").get<double>()));
    for (const char* name : {"pe", "hbm", "link_busiest", "scratchpad"}) {
        CHECK(report.at("utilisation").at(name) > 0);
        CHECK(report.at("utilisation").at(name) <= 1);
    }
    CHECK(read_json(out + "/speed.json").at("cycles_per_second") > 0);
}

TEST_CASE("the same inputs give the same bytes", "[cli]") {
    const std::string again = scratch("again.syk");
    REQUIRE(
        sy_sched(std::string("compile ") + kDigits + " --platform " + kMini + " --design adyna -o " + again).status ==
        0);
    CHECK(read_text(again) == read_text(digits_image()));
    const std::string arguments = std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                                  kDigitsTrace + " --batches 3 --report ";
    REQUIRE(sy_sim(arguments + scratch("first")).status == 0);
    REQUIRE(sy_sim(arguments + scratch("second")).status == 0);
    CHECK(read_text(scratch("first/report.json")) == read_text(scratch("second/report.json")));
}

TEST_CASE("an override of the platform changes the run", "[cli]") {
    const std::string arguments = std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                                  kDigitsTrace + " --batches 1 --report ";
    REQUIRE(sy_sim(arguments + scratch("wide")).status == 0);
    REQUIRE(sy_sim(arguments + scratch("narrow") + " --set noc.link_bytes_per_cycle=4").status == 0);
    const auto latency = [](const std::string& folder) {
        return read_json(scratch(folder + "/report.json")).at("batches")[0].at("latency_cycles").get<double>();
    };
    CHECK(latency("narrow") > latency("wide"));
}

TEST_CASE("generated routes follow the seed", "[cli]") {
    const std::string image = scratch("generated.syk"), model = tiny_model();
    const Outcome compiled = sy_sched("compile " + model + " --platform " + kMini + " --design adyna -o " + image);
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
    const std::string arguments =
        std::string("run --platform ") + kMini + " --image " + image + " --batches 5 --report ";
    const auto run = [&](const std::string& folder, const std::string& seed) {
        const Outcome outcome = sy_sim(arguments + scratch(folder) + seed);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_text(scratch(folder + "/report.json"));
    };
    const std::string own = run("own", "");
    CHECK(switchyard::parse_json(own, "own").at("routing") == json{{"source", "generator"}, {"seed", 3}});
    CHECK(run("three", " --seed 3") == own);
    CHECK(run("four", " --seed 4") != own);
}

TEST_CASE("what a command writes is counted in a file", "[cli]") {
    const std::string trace = scratch("counted.jsonl"), counts = scratch("counted.json");
    REQUIRE(sy_sched("routes " + tiny_model() + " --batches 7 -o " + trace + " --json " + counts).status == 0);
    const json routes = read_json(counts);
    CHECK(routes.at("format") == "switchyard-routes");
    CHECK(routes.at("batches") == 7);
    CHECK(routes.at("batch_samples") == 16);
    CHECK(routes.at("routes") == "generator");

    const std::string stream = scratch("counted.syks");
    REQUIRE(sy_sched("kernels configs/workloads/ace/instanas.yaml -o " + stream + " --json " + counts).status == 0);
    const json kernels = read_json(counts);
    const std::string lines = read_text(stream);
    CHECK(kernels.at("ctas") >= kernels.at("kernels"));
    CHECK(kernels.at("flops") > 0);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == kernels.at("kernels").get<long>());
}

TEST_CASE("a batch and routes other than the model's", "[cli]") {
    const std::string image = scratch("other.syk"), routing = scratch("routing.yaml");
    const std::string compile = "compile " + tiny_model() + " --platform " + kMini + " --design adyna -o " + image;
    const auto report = [&](const std::string& options) {
        const Outcome compiled = sy_sched(compile + options);
        INFO(compiled.err);
        REQUIRE(compiled.status == 0);
        const Outcome ran = sy_sim(std::string("run --platform ") + kMini + " --image " + image +
                                   " --batches 2 --report " + scratch("other"));
        INFO(ran.err);
        REQUIRE(ran.status == 0);
        return read_json(scratch("other/report.json"));
    };
    const auto samples_at_body = [](const json& run) {
        for (const json& op : run.at("operators"))
            if (op.at("operator") == "body") return op.at("samples_per_batch").get<double>();
        return -1.0;
    };
    write_text(routing, "seed: 4\nprobability: [0, 1]\n");
    const json small = report(" --batch 1 --routing " + routing), large = report(" --batch 128 --routing " + routing);
    CHECK(small.at("routing").at("seed") == 4);
    CHECK(samples_at_body(small) == 1);
    CHECK(samples_at_body(large) == 128);
    check_refused(sy_sched(compile + " --batch 0"), {"--batch"});
    write_text(routing, "probability: [0, 2]\n");
    check_refused(sy_sched(compile + " --routing " + routing),
                  {"routing.yaml:1: probability: expected 0 to 1, found 2"});
    check_refused(
        sy_sched(std::string("compile ") + kDigits + " --batch 64 --platform " + kMini + " --design adyna -o " + image),
        {"routing.jsonl:", "samples: expected at most 64, the samples of a batch of the model, found 128"});
}

TEST_CASE("a matrix multiplication runs through the same chain", "[cli]") {
    const std::string file = scratch("gemm.json");
    const Outcome outcome =
        sy_sim(std::string("gemm --platform ") + kMini + " --m 128 --n 128 --k 128 --tiles 1 --json " + file);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const json gemm = read_json(file);
    CHECK(gemm.at("ok") == true);
    CHECK(gemm.at("macs") == 128 * 128 * 128);
    // 8x8 PEs need 32768 cycles at least; memory, fill and drain cost less than a tenth of that.
    CHECK(gemm.at("cycles") > 32768);
    CHECK(gemm.at("cycles") < 32768 * 1.1);
    CHECK(gemm.at("utilisation").get<double>() == Approx(32768.0 / gemm.at("cycles").get<double>()));
    CHECK(gemm.at("hbm_bandwidth") < 1);
}

TEST_CASE("a memory is characterised", "[cli][memory]") {
    const auto mem = [](const std::string& options) {
        const bool banks = options.find("--impl bandwidth") == std::string::npos;
        const Outcome outcome = sy_sim(std::string("mem --requests 50000 ") + (banks ? "--check " : "") + "--json " +
                                       scratch("mem.json") + " " + options);
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_json(scratch("mem.json"));
    };
    const json sequential = mem("--device hbm2 --pattern sequential --read-share 1 --request-bytes 64 --impl bank");
    CHECK(sequential.at("peak_gbps") == 256);
    CHECK(sequential.at("achieved_gbps") > 0.9 * 256 * (1 - 260.0 / 3900));
    CHECK(sequential.at("row_hit_rate") > 0.9);
    CHECK(sequential.at("latency_ns") > 30);
    CHECK(sequential.at("refresh_share").get<double>() == Approx(260.0 / 3900).epsilon(0.2));
    CHECK(sequential.at("timing_checked") == true);
    const std::string first = read_text(scratch("mem.json"));
    mem("--device hbm2 --pattern sequential --read-share 1 --request-bytes 64 --impl bank");
    CHECK(read_text(scratch("mem.json")) == first);

    CHECK(mem("--device hbm2 --pattern random --impl bandwidth").at("row_hit_rate").is_null());
    CHECK(mem("--device lpddr4 --pattern strided --stride-bytes 8192 --read-share 0.5").at("turnarounds") > 0);
    CHECK(mem("--device ddr4 --mapping column-row-bank-bankgroup --page closed --load 1")
              .at("achieved_gbps")
              .get<double>() == Approx(1).epsilon(0.01));
    CHECK(mem("--pattern random --set timing.tfaw_cycles=60").at("achieved_gbps").get<double>() <
          0.6 * mem("--pattern random").at("achieved_gbps").get<double>());

    check_refused(sy_sim("mem --device sdram"), {"sdram: expected a file or one of "});
    check_refused(sy_sim("mem --mapping row-column"),
                  {"controller.mapping: field channel: expected 3 bits, found none"});
    check_refused(sy_sim("mem --pattern trace"),
                  {"--trace: expected together with --pattern trace, found one without the other"});
    check_refused(sy_sim("mem --pattern trace --trace none.csv"), {"none.csv: cannot be read"});
    check_refused(sy_sim("mem --set timing.x=1"), {"--set: timing.x: expected a known key, found timing.x"});
    CHECK(sy_sim("mem --read-share 2").status == 2);
}

TEST_CASE("the chip runs on banks, and its requests can be replayed", "[cli][memory]") {
    const std::string log = scratch("requests");
    const std::string run = std::string("run --platform ") + kMini + " --image " + digits_image() + " --trace " +
                            kDigitsTrace + " --batches 2 --set hbm.impl=bank --set hbm.check_timing=yes --report ";
    REQUIRE(sy_sim(run + scratch("banks") + " --set hbm.request_log=" + log).status == 0);
    const json report = read_json(scratch("banks/report.json"));
    CHECK(report.at("ok") == true);
    CHECK(report.at("fidelity").at("hbm") == "bank");
    CHECK(report.at("fidelity").at("chip") == "tiles");
    for (const json& check : report.at("conservation")) CHECK(check.at("ok") == true);
    const std::string first = read_text(scratch("banks/report.json"));
    REQUIRE(sy_sim(run + scratch("again")).status == 0);
    CHECK(read_text(scratch("again/report.json")) == first);

    const Outcome replay = sy_sim("mem --device hbm2_2400 --set geometry.channels=2 --check --pattern trace --trace " +
                                  log + ".0.csv --json " + scratch("replay.json"));
    INFO(replay.err);
    REQUIRE(replay.status == 0);
    const json replayed = read_json(scratch("replay.json"));
    CHECK(replayed.at("requests") > 100);
    CHECK(replayed.at("row_hit_rate") > 0.5);
    const auto timed = [&](const std::string& impl) {
        const Outcome outcome =
            sy_sim("mem --device hbm2_2400 --set geometry.channels=2 --pattern trace --timed --trace " + log +
                   ".0.csv --impl " + impl + " --json " + scratch("timed.json"));
        INFO(outcome.err);
        REQUIRE(outcome.status == 0);
        return read_json(scratch("timed.json"));
    };
    const json banks = timed("bank"), bandwidth = timed("bandwidth");
    CHECK(banks.at("bytes") == replayed.at("bytes"));
    CHECK(banks.at("time_ns") > replayed.at("time_ns"));
    CHECK(banks.at("time_ns").get<double>() == Approx(bandwidth.at("time_ns").get<double>()).epsilon(0.05));
    CHECK(banks.at("latency_ns") > bandwidth.at("latency_ns"));
    check_refused(sy_sim("mem --timed"), {"--timed: expected with --trace and without --load, found otherwise"});
    write_text(scratch("bad.csv"), "time_ns,operation,address,bytes\n1,R,0,64\n2,X,0,64\n");
    check_refused(sy_sim("mem --pattern trace --trace " + scratch("bad.csv")),
                  {"bad.csv:3: operation: expected R or W"});
}

TEST_CASE("--help and the documents exit with 0", "[cli]") {
    CHECK(sy_sim("--help").status == 0);
    CHECK(sy_sched("compile --help").status == 0);
    CHECK(sy_sim("keys").out == read_text("docs/platform_keys.md"));
    CHECK(sy_sim("registers").out == read_text("docs/registers.md"));
    CHECK_THAT(read_text("docs/models/dram.md"), Catch::Matchers::ContainsSubstring(sy_sim("mem --keys").out));
}
