// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "experiment_text.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string> names(const std::vector<ExperimentPoint>& points) {
    std::vector<std::string> result;
    result.reserve(points.size());
    for (const ExperimentPoint& point : points) result.push_back(point.name());
    return result;
}

}  // namespace

TEST_CASE("points are all networks with all designs, the swept ones for each value", "[experiment]") {
    Experiment experiment = experiment_of(std::string(kHead) +
                                          "sweep: {key: batch_size, values: [8, 16], designs: adyna}\n"
                                          "figures: [{name: f, measure: a, series: sweep, designs: adyna}]\n");
    override_settings(experiment, {{"batches", "3"}, {"seed", "9"}, {"noc.link_cycles", "2"}}, registry());
    const std::vector<ExperimentPoint> points = points_of(experiment, registry());
    CHECK(names(points) == std::vector<std::string>{"moe, m-tile", "moe, adyna-static", "moe, adyna, batch_size 8",
                                                    "moe, adyna, batch_size 16", "early_exit, m-tile",
                                                    "early_exit, adyna-static", "early_exit, adyna, batch_size 8",
                                                    "early_exit, adyna, batch_size 16"});
    const Point& last = points.back().run;
    CHECK(last.workload == "testbenches/data/early_exit.yaml");
    CHECK(last.platform == "configs/platforms/mini.yaml");
    CHECK(last.design == "adyna");
    CHECK(last.work.batch_inputs == 16);
    CHECK(last.work.batches == 3);
    CHECK(last.work.seed == 9);
    CHECK(last.overrides == std::map<std::string, std::string>{{"noc.link_cycles", "2"}});
    CHECK(last.parameters == std::map<std::string, std::string>{{"sampling", "profile"}});
    CHECK(points.front().run.work.batch_inputs == 0);
    CHECK(points.front().run.parameters.empty());
}

TEST_CASE("a swept key is a platform key, a parameter, or the batch size", "[experiment]") {
    const auto swept = [](const std::string& key, const std::string& value) {
        return points_of(
                   experiment_of(std::string(kHead) + "sweep: {key: " + key + ", values: [" + value +
                                 "], designs: adyna-static}\nfigures: [{name: f, measure: a, designs: m-tile}]\n"),
                   registry())
            .at(1)
            .run;
    };
    CHECK(swept("noc.link_bytes_per_cycle", "96").overrides.at("noc.link_bytes_per_cycle") == "96");
    CHECK(swept("without", "multi_kernel").parameters.at("without") == "multi_kernel");
    CHECK(swept("batch_size", "3").work.batch_inputs == 3);
    CHECK_THROWS_WITH(swept("batch_size", "0"),
                      ContainsSubstring("experiment.yaml:9: batch_size: expected an integer"));
    CHECK_THROWS_WITH(
        swept("noc.link_bytes_per_cycl", "96"),
        ContainsSubstring("noc.link_bytes_per_cycl: expected a known key, found noc.link_bytes_per_cycl"));
    CHECK_THROWS_WITH(swept("batchsize", "1"),
                      ContainsSubstring("experiment.yaml:9: designs: design adyna-static: expected one of "
                                        "without, invocation, routing, batches_in_flight, unit_samples"));
}

TEST_CASE("designs, parameters and files are checked before anything runs", "[experiment][bad]") {
    const auto refused = [](const std::string& from, const std::string& to, const std::string& message) {
        std::string text = std::string(kHead) + kFigures;
        text.replace(text.find(from), from.size(), to);
        INFO(text);
        CHECK_THROWS_WITH(points_of(experiment_of(text), registry()), ContainsSubstring(message));
    };
    refused("- adyna-static", "- adyna-statik",
            "experiment.yaml:7: designs: design: expected one of adyna, adyna-static");
    refused("sampling: profile", "samplin: profile",
            "experiment.yaml:8: designs: design adyna: expected one of sampling, without, "
            "invocation, routing, batches_in_flight, unit_samples");
    refused("- m-tile", "- {design: m-tile, set: {sampling: profile}}",
            "experiment.yaml:6: designs: design m-tile: expected one of without, "
            "batches_in_flight, unit_samples");
    refused("sampling: profile", "noc.link_cycles: wide", "noc.link_cycles: expected a plain integer");
    refused("- adyna-static", "- {design: m-tenant, set: {group: free}}",
            "experiment.yaml:7: designs: design m-tenant: expected one of file, impl, "
            "exact_kernels, reallocation_gain, groups, shares, ");
    refused("- adyna-static", "- {design: m-tenant, set: {groups: three}}",
            "experiment.yaml:7: designs: --set: m_tenant.groups: expected one of free, power_of_two, found \"three\"");
    refused("- adyna-static", "- {design: gpu, set: {launch_us: soon}}",
            "experiment.yaml:7: designs: --set: gpu.launch_us: ");
    refused("moe.yaml", "nowhere.yaml", "testbenches/data/nowhere.yaml: cannot be read");
    refused("mini.yaml", "nowhere.yaml", "configs/platforms/nowhere.yaml: cannot be read");
}

TEST_CASE("settings that contradict the experiment are refused", "[experiment][bad]") {
    const auto refused = [](const std::string& key, const std::string& value, const std::string& message) {
        Experiment experiment = experiment_of(
            std::string(kHead) + "  - {design: adyna, name: wide, set: {noc.link_bytes_per_cycle: 384}}\n" +
            "sweep: {key: noc.link_cycles, values: [1, 2], designs: adyna}\n" +
            "figures: [{name: f, measure: a, designs: m-tile}]\n");
        CHECK_THROWS_WITH(override_settings(experiment, {{key, value}}, registry()), ContainsSubstring(message));
    };
    refused("batches", "0", "--set: batches: expected an integer from 1, found \"0\"");
    refused("seed", "x", "--set: seed: expected an integer from 0, found \"x\"");
    refused("title", "x", "--set: title: expected batches, seed or a key of the platform, found title");
    refused("noc.link_cycles", "3",
            "--set: noc.link_cycles: expected a key that is not swept, found one that is swept by ");
    refused("noc.link_bytes_per_cycle", "3",
            "--set: noc.link_bytes_per_cycle: expected a key that is set once, found one that is set by design "
            "\"wide\" of ");
}
