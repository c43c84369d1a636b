// SPDX-License-Identifier: Apache-2.0
// The design dynn-offload with a trained pilot, several GPUs, and what managers cost.
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"
#include "switchyard/testbenches/sim_test.h"

namespace switchyard::platform {
std::unique_ptr<System> make_dynn_offload_system();
}

using namespace switchyard;
using namespace switchyard::platform;
using nlohmann::ordered_json;
using Settings = std::map<std::string, std::string>;

namespace {

const std::string kConfigFiles = std::string(SOURCE_FOLDER) + "/configs/";

ordered_json run_steps(const std::string& design, const std::string& network, const Settings& overrides,
                       std::size_t steps) {
    Point point;
    point.design = design;
    point.platform = kConfigFiles + "platforms/training_rtx6000.yaml";
    point.workload = kConfigFiles + "workloads/dynn_offload/" + network + ".yaml";
    point.overrides = overrides;
    point.overrides["training.functional"] = "yes";
    point.work.batches = steps;
    const std::unique_ptr<System> system = make_dynn_offload_system();
    ordered_json report = system->prepare(point)->run();
    for (const ordered_json& check : report.at("conservation")) {
        INFO(check.dump());
        CHECK(check.at("ok") == true);
    }
    return report;
}

sched::TrainingNetwork network_of(const std::string& name, Settings settings) {
    return sched::read_training_network(kConfigFiles + "workloads/dynn_offload/" + name + ".yaml",
                                        describe_gpu(read_gpu_platform(kConfigFiles + "gpus/rtx6000.yaml")), settings);
}

dynn_offload::Pilot trained_pilot(const sched::TrainingNetwork& network, std::uint32_t neurons, std::uint32_t epochs,
                                  std::uint32_t samples) {
    dynn_offload::PilotConfig config;
    config.neurons = neurons;
    config.epochs = epochs;
    dynn_offload::BlockPlanner planner(network, dynn_offload::label_partition(network));
    dynn_offload::Pilot pilot(config);
    pilot.train({dynn_offload::record_trace(network, planner, dynn_offload::Representation::idiom, 9, samples)});
    return pilot;
}

double mean_step_us(const ordered_json& report) {
    return report.at("summary").at("latency_us").at("mean").get<double>();
}

}  // namespace

TEST_CASE("the design with a pilot counts mispredictions as its evaluation does", "[dynn_offload_system]") {
    const sched::TrainingNetwork network =
        network_of("ugan", {{"training.width", "256"}, {"training.label_buffer_gb", "0.02"}});
    const dynn_offload::Pilot pilot = trained_pilot(network, 32, 4, 400);
    const std::string file =
        (std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_pilot_design.json")).string();
    pilot.write(file);

    constexpr std::size_t kSteps = 60;
    const dynn_offload::PilotEvaluation evaluated = dynn_offload::evaluate_pilot(network, pilot, 1, kSteps);
    REQUIRE(evaluated.mispredictions > 0);
    REQUIRE(evaluated.mispredictions < kSteps);
    Settings settings{{"network.width", "256"},
                      {"network.label_buffer_gb", "0.02"},
                      {"training.budget_gb", "0.04"},
                      {"training.pilot", file},
                      {"training.handling", "no"}};
    const ordered_json without = run_steps("dynn-offload", "ugan", settings, kSteps);
    CHECK(without.at("summary").at("mispredictions") == evaluated.mispredictions);
    CHECK(without.at("counters").at("on_demand_fetches") > 0);
    settings["training.handling"] = "yes";
    CHECK(run_steps("dynn-offload", "ugan", settings, kSteps).at("summary").at("mispredictions") == evaluated.handled);
    settings.erase("training.pilot");
    settings.erase("training.handling");
    // What is fetched on demand is waited for; inference and mapping come on top.
    CHECK(mean_step_us(without) > mean_step_us(run_steps("sentinel-oracle", "ugan", settings, kSteps)));
    settings["training.wrong_share"] = "1";
    CHECK(run_steps("sentinel-oracle", "ugan", settings, kSteps).at("summary").at("mispredictions") > 0);
    std::filesystem::remove(file);

    settings["training.pilot"] = kConfigFiles + "workloads/dynn_offload/ugan.yaml";
    CHECK_THROWS_AS(run_steps("dynn-offload", "ugan", settings, 1), InputError);
}

namespace {

void train_with_pilots(const std::vector<std::pair<const char*, Settings>>& networks) {
    const std::string file =
        (std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + "_pilots.json")).string();
    for (const auto& [name, settings] : networks) {
        INFO(name);
        Settings small = settings;
        small["network.batch"] = "16";
        const double peak_gb =
            run_steps("unmanaged", name, small, 6).at("summary").at("unmanaged_peak_bytes").get<double>() * 1e-9;
        // Labels of as many blocks as a step wants whose memory is halved.
        small["network.label_buffer_gb"] = std::to_string(peak_gb * 0.4);
        Settings training;
        for (const auto& [key, value] : small) training["training." + key.substr(key.find('.') + 1)] = value;
        const sched::TrainingNetwork network = network_of(name, training);
        const dynn_offload::Pilot pilot = trained_pilot(network, 16, 2, 100);
        pilot.write(file);
        Settings with_pilot = small;
        with_pilot["training.budget_gb"] = std::to_string(peak_gb * 0.9);
        with_pilot["training.pilot"] = file;
        with_pilot["training.handling"] = "no";
        // run_steps() checks that contents and weights are those of unlimited memory.
        const ordered_json report = run_steps("dynn-offload", name, with_pilot, 12);
        CHECK(report.at("summary").at("trained") == 12);
        CHECK(report.at("summary").at("mispredictions") ==
              dynn_offload::evaluate_pilot(network, pilot, 1, 12).mispredictions);
        CHECK(report.at("counters").at("to_host_bytes") > 0);
    }
    std::filesystem::remove(file);
}

}  // namespace

TEST_CASE("the design with a pilot trains dynamic networks", "[dynn_offload_system]") {
    train_with_pilots({{"tree_cnn", {{"network.width", "16"}}}, {"var_lstm", {{"network.width", "256"}}}});
}

TEST_CASE("the design with a pilot trains the other dynamic networks", "[.ci-long][dynn_offload_system]") {
    train_with_pilots({{"tree_lstm", {{"network.width", "256"}}},
                       {"var_bert", {{"network.blocks", "8"}}},
                       {"alphafold", {{"network.rows", "64"}}}});
}

TEST_CASE("zero-offload trains the static networks", "[dynn_offload_system]") {
    for (const char* const network : {"fixed_lstm", "fixed_bert"}) {
        const ordered_json report = run_steps(
            "zero-offload", network, {{"network.width", "256"}, {"network.blocks", "8"}, {"network.batch", "4"}}, 1);
        CHECK(report.at("summary").at("host_optimiser_us") > 0);
        // Gradients go to the host, parameters come back: 4 bytes of each.
        CHECK(report.at("counters").at("to_device_bytes") == report.at("counters").at("to_host_bytes"));
    }
}

TEST_CASE("several GPUs: a step is that of the slowest, with gradients that are summed", "[dynn_offload_system]") {
    const Settings one{{"network.width", "512"}, {"network.batch", "32"}};
    Settings four = one;
    four["training.gpus"] = "4";
    const ordered_json alone = run_steps("unmanaged", "fixed_lstm", one, 3),
                       together = run_steps("unmanaged", "fixed_lstm", four, 3);
    CHECK(together.at("summary").at("batches") == 3);
    const double exposed_us = together.at("summary").at("breakdown_us").at("all-reduce not hidden").get<double>();
    CHECK(exposed_us > 0);
    CHECK(mean_step_us(together) == Approx(mean_step_us(alone) + exposed_us));
    four["training.topology"] = "../topologies/nvswitch_16.yaml";
    CHECK(mean_step_us(run_steps("unmanaged", "fixed_lstm", four, 3)) < mean_step_us(together));
    // All samples of a dynamic network are drawn alike: the slowest of four is no quicker than their mean.
    Settings dynamic = four;
    dynamic["training.gpus"] = "1";
    const double mean = mean_step_us(run_steps("unmanaged", "var_lstm", dynamic, 12));
    dynamic["training.gpus"] = "4";
    CHECK(mean_step_us(run_steps("unmanaged", "var_lstm", dynamic, 3)) > mean);
    four["training.gpus"] = "9";
    four["training.topology"] = "../topologies/two_servers_of_four.yaml";
    CHECK_THROWS_AS(run_steps("unmanaged", "fixed_lstm", four, 1), InputError);
}

TEST_CASE("bookkeeping of DTR takes its time, and fragmentation never helps", "[dynn_offload_system]") {
    Settings none{{"network.width", "512"},
                  {"network.batch", "64"},
                  {"training.dtr_operator_us", "0"},
                  {"training.dtr_examined_us", "0"}};
    none["training.budget_gb"] = std::to_string(
        run_steps("unmanaged", "var_lstm", none, 8).at("summary").at("unmanaged_peak_bytes").get<double>() * 0.6e-9);
    const ordered_json free_of_cost = run_steps("dtr", "var_lstm", none, 8);
    REQUIRE(free_of_cost.at("counters").at("recomputed_operators") > 0);
    CHECK(free_of_cost.at("summary").at("breakdown_us").at("manager") == 0);
    Settings costs = none;
    costs["training.dtr_operator_us"] = "20";
    costs["training.dtr_examined_us"] = "1";
    const ordered_json measured = run_steps("dtr", "var_lstm", costs, 8);
    const double manager_us = measured.at("summary").at("breakdown_us").at("manager").get<double>();
    CHECK(manager_us > 0);
    CHECK(mean_step_us(measured) == Approx(mean_step_us(free_of_cost) + manager_us));
    for (const char* const design : {"dtr", "sentinel-oracle", "unmanaged"}) {
        Settings fragmented = none;
        if (design == std::string("unmanaged")) fragmented["training.budget_gb"] = "2";
        const double whole = mean_step_us(run_steps(design, "var_lstm", fragmented, 4));
        fragmented["training.fragmentation"] = "yes";
        CHECK(mean_step_us(run_steps(design, "var_lstm", fragmented, 4)) >= whole * 0.999);
    }
}
