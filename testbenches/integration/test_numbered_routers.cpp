// SPDX-License-Identifier: Apache-2.0
// A network whose router chooses by the number of a task, without a gate, on every system that reads model files.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

constexpr const char* kGate = "  - {name: router, kind: matmul, from: embed, out_channels: 8}\n";

/// testbenches/data/experts.yaml with a router by task or hash.
std::string model_by(const std::string& kind) {
    std::string text = read_text("testbenches/data/experts.yaml");
    const std::string gate = kGate, keys = "gate: router, branches: 8";
    REQUIRE(text.find(gate) != std::string::npos);
    REQUIRE(text.find(keys) != std::string::npos);
    text.replace(text.find(keys), keys.size(), "router: {kind: " + kind + ", branches: 8}");
    text.erase(text.find(gate), gate.size());
    const std::string model = scratch("by_" + kind + ".yaml");
    write_text(model, text.substr(0, text.find("routing:")) + "routing: {seed: 4" +
                          (kind == "task" ? ", tasks: {zipf: 0.5}" : "") + "}\n");
    return model;
}

json report_of(const std::string& arguments) {
    const Outcome outcome = sy_sim(arguments + " --report " + scratch("report"));
    INFO(arguments << "\n" << outcome.err);
    REQUIRE(outcome.status == 0);
    const json report = read_json(scratch("report/report.json"));
    CHECK(report.at("ok") == true);
    return report;
}

}  // namespace

TEST_CASE("routers by number run on each way of an Adyna chip", "[cli][router]") {
    for (const std::string kind : {"task", "hash"}) {
        const std::string model = model_by(kind);
        for (const char* options : {"", "--invocation batch", "--invocation batch --sample-routing on_chip"}) {
            CAPTURE(kind, options);
            const std::string image =
                compiled(fmt::format("{} --platform {} --design adyna {}", model, kMini, options), "numbers.syk");
            const auto run = [&](const char* impl) {
                return report_of_run(
                    fmt::format("--platform {} --image {} --batches 3 --set chip.impl={}", kMini, image, impl));
            };
            const json tiles = run("tiles"), stages = run("stages");
            CHECK(mean_latency_us(tiles) == Approx(mean_latency_us(stages)).epsilon(0.1));
            // The host writes 24 channels and a number of two bytes each, of 32 samples, and their recorded masks;
            // behind the first batch.
            CHECK(tiles.at("counters").at("host.dma_to_chip_bytes") == 2 * 32 * (24 * 2 + 2 + 8));
        }
    }
}

TEST_CASE("other systems run routers by number", "[cli][router]") {
    const std::string model = model_by("task");
    for (const char* design : {"m-tile", "m-tenant"})
        report_of(fmt::format("run --design {} --workload {} --platform {} --batches 3", design, model, kMini));
    report_of(fmt::format("run --design gpu --workload {} --platform configs/platforms/a100.yaml --batches 3", model));
    const std::string chips = scratch("chips.yaml");
    write_text(chips, fmt::format("system: expert_parallel\nchip_file: {}\nlinks: {{devices: 4, family: switch}}\n",
                                  std::filesystem::current_path().string() + "/" + kMini));
    const std::string parts = scratch("parts");
    const json report = report_of(
        fmt::format("run --design expert-parallel --workload {} --platform {} --batches 2 --set cluster.parts={}",
                    model, chips, parts));
    // In front of the experts the numbers are read as on a chip alone: 24 channels and a number in, 32 channels and a
    // mask out.
    const json front =
        report_of(fmt::format("run --design adyna --workload {}/front.yaml --platform {} --batches 2", parts, kMini));
    CHECK(front.at("counters").at("host.dma_to_chip_bytes") == 32 * (24 * 2 + 2));
}

TEST_CASE("a functional run of a router by number is refused", "[cli][router][bad]") {
    const std::string image =
        compiled(fmt::format("{} --platform {} --design adyna", model_by("hash"), kMini), "numbers.syk");
    check_refused(sy_sim(fmt::format("run --platform {} --image {} --set chip.functional=yes --weights {} --inputs {} "
                                     "--report {}",
                                     kMini, image, "configs/workloads/digits/skipnet/weights",
                                     "configs/workloads/digits/skipnet/input_batch0.npy", scratch("values"))),
                  {"input", "by which a router without a gate chooses"});
}
