// SPDX-License-Identifier: Apache-2.0
// The runner knows the interface only: a system that this file makes up runs as those of the library do.
#include <fstream>
#include <memory>

#include <nlohmann/json.hpp>

#include "experiment_text.h"
#include "switchyard/platform/experiment/run_experiment.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;
using nlohmann::ordered_json;

namespace {

/// A machine that serves a batch in `batch_us` and knows no network, no platform and no route.
class ToyPlan : public Plan {
public:
    explicit ToyPlan(const Point& point)
        : batch_us_(std::stod(point.parameters.at("batch_us"))), batches_(point.work.batches) {}
    ordered_json run() override {
        ordered_json batches = ordered_json::array();
        for (std::size_t i = 0; i < batches_; ++i) batches.push_back({{"latency_us", batch_us_}});
        return {{"summary", {{"latency_us", {{"mean", batch_us_}}}}}, {"batches", batches}};
    }

private:
    double batch_us_;
    std::size_t batches_;
};

class ToySystem : public System {
public:
    std::string name() const override { return "toy"; }
    std::string summary() const override { return "a machine of constant latency"; }
    std::vector<SystemDesign> designs() const override { return {{"toy", {"batch_us"}, "", true, {WorkKey::batches}}}; }
    std::unique_ptr<Plan> prepare(const Point& point) const override { return std::make_unique<ToyPlan>(point); }
    std::string table(const ordered_json& report) const override { return report.dump(); }
};

std::string text_of(const std::string& path) {
    return read_file(path, 1 << 20);
}

}  // namespace

TEST_CASE("the registry has the designs of the evaluations of all systems", "[experiment][systems]") {
    CHECK(registry().design_names() == std::vector<std::string>{"adyna",
                                                                "adyna-static",
                                                                "full-kernel",
                                                                "real-time",
                                                                "m-tile",
                                                                "m-tenant",
                                                                "gpu",
                                                                "gpu-serial",
                                                                "gpu-multi-stream",
                                                                "gpu-graph",
                                                                "ace-sw",
                                                                "ace-hw",
                                                                "gpu-full-graph",
                                                                "sushi-no-pb",
                                                                "sushi-state-unaware",
                                                                "sushi",
                                                                "sushi-lru",
                                                                "sushi-saved-bytes",
                                                                "sushi-oracle",
                                                                "dpu",
                                                                "cpu",
                                                                "sushi-table",
                                                                "unmanaged",
                                                                "uvm",
                                                                "dtr",
                                                                "zero-offload",
                                                                "sentinel-oracle",
                                                                "dynn-offload",
                                                                "brt-serial",
                                                                "brt-vertical",
                                                                "brt-horizontal",
                                                                "brt-batched",
                                                                "brt-einsum",
                                                                "expert-parallel"});
    CHECK(registry().system_of_design("m-tile").name() == "adyna");
    CHECK(registry().system_of_design("gpu").name() == "gpu_roofline");
    CHECK_THROWS_WITH(registry().system("npu"),
                      ContainsSubstring("system: expected one of adyna, m_tenant, gpu_roofline, ace, sushi, "
                                        "dynn_offload, brainstorm, expert_parallel, noc"));
    SystemRegistry twice;
    twice.add(std::make_unique<ToySystem>());
    CHECK_THROWS_AS(twice.add(std::make_unique<ToySystem>()), std::logic_error);
}

TEST_CASE("a system that the library does not have runs through the experiment runner", "[experiment][systems]") {
    SystemRegistry systems;
    systems.add(std::make_unique<ToySystem>());
    const ScratchFolder folder("switchyard-toy");
    const std::string file = folder.file("toy.yaml");
    std::ofstream(file) << "name: toy\nplatform: none.yaml\nbatches: 3\nnetworks: [a.yaml, b.yaml]\n"
                           "designs:\n  - {design: toy, name: slow, set: {batch_us: 8}}\n"
                           "  - {design: toy, name: fast, set: {batch_us: 2}}\n"
                           "figures: [{name: speedup, measure: summary.latency_us.mean, over: slow, inverse: yes}]\n";
    const Experiment experiment = read_experiment(file, systems);
    ExperimentOptions options;
    options.executor.jobs = 2;
    CHECK(run_experiment(experiment, systems, folder.file("out"), options));
    const ordered_json results = parse_ordered_json(text_of(folder.file("out/results.json")), "results.json");
    REQUIRE(results.at("points").size() == 4);
    CHECK(results.at("points").at(1).at("report").at("batches").size() == 3);
    CHECK(results.at("figures").at(0).at("series").at(1).at("values").at(0) == 4.0);
    CHECK_THAT(text_of(folder.file("out/plots/speedup.svg")), ContainsSubstring("</svg>"));
    CHECK_THAT(text_of(folder.file("out/table.txt")), ContainsSubstring("fast"));

    std::ofstream(file) << "name: toy\nplatform: none.yaml\nbatches: 3\nnetworks: [a.yaml]\n"
                           "designs:\n  - {design: toy, set: {batch: 8}}\n"
                           "figures: [{name: f, measure: summary.latency_us.mean}]\n";
    CHECK_THROWS_WITH(points_of(read_experiment(file, systems), systems),
                      ContainsSubstring("design toy: expected one of batch_us"));
}
