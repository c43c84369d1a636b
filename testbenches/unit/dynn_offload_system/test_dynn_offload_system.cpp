// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/sim_test.h"

namespace switchyard::platform {
std::unique_ptr<System> make_dynn_offload_system();
}

using namespace switchyard;
using namespace switchyard::platform;
using nlohmann::ordered_json;

namespace {

const std::string kConfigs = std::string(SOURCE_FOLDER) + "/configs/";

Point point_of(const std::string& design, const std::string& network, std::map<std::string, std::string> overrides) {
    Point point;
    point.design = design;
    point.platform = kConfigs + "platforms/training_rtx6000.yaml";
    point.workload = kConfigs + "workloads/dynn_offload/" + network + ".yaml";
    point.overrides = std::move(overrides);
    point.overrides["training.functional"] = "yes";
    point.work.batches = 6;
    return point;
}

ordered_json run(const Point& point) {
    const std::unique_ptr<System> system = make_dynn_offload_system();
    const ordered_json report = system->prepare(point)->run();
    for (const ordered_json& check : report.at("conservation")) {
        INFO(check.dump());
        CHECK(check.at("ok") == true);
    }
    return report.at("summary");
}

double mean_us(const ordered_json& summary) {
    return summary.at("latency_us").at("mean").get<double>();
}

}  // namespace

TEST_CASE("managers of a step that fits half of its memory at most", "[dynn_offload_system]") {
    const ordered_json all = run(point_of("unmanaged", "tree_lstm", {}));
    CHECK(all.at("trained") == 6);
    CHECK(all.at("over_unlimited_memory").get<double>() == Approx(1));
    const double peak_gb = all.at("unmanaged_peak_bytes").get<double>() * 1e-9;
    const std::string less = std::to_string(peak_gb * 0.8);
    CHECK(run(point_of("unmanaged", "tree_lstm", {{"training.budget_gb", less}})).at("out_of_memory") > 0);
    CHECK_THROWS_AS(
        run(point_of("unmanaged", "tree_lstm", {{"training.budget_gb", less}, {"training.all_must_train", "yes"}})),
        Infeasible);
    CHECK_THROWS_AS(
        run(point_of("uvm", "tree_lstm", {{"training.budget_gb", less}, {"training.max_overhead", "0.001"}})),
        Infeasible);
    // run() checks that the device computes all that the host's optimiser does not.
    CHECK(run(point_of("zero-offload", "fixed_lstm", {})).at("host_optimiser_us").get<double>() > 0);
    // More host link never costs time; a slower one does.
    const double slow = mean_us(run(point_of("sentinel-oracle", "tree_lstm", {{"training.budget_gb", less}})));
    const double quick = mean_us(
        run(point_of("sentinel-oracle", "tree_lstm", {{"training.budget_gb", less}, {"host_link.generation", "5"}})));
    CHECK(quick < slow);
    CHECK(quick >= mean_us(all));
    const ordered_json uvm = run(point_of("uvm", "tree_lstm", {{"training.budget_gb", less}}));
    CHECK(uvm.at("trained") == 6);
    CHECK(mean_us(uvm) > mean_us(all));
}

TEST_CASE("the closed form of copies is within 1 % of messages on the modelled link", "[dynn_offload_system]") {
    for (const char* const network : {"tree_lstm", "ugan"}) {
        testing::in_child([&] {
            const double analytic = mean_us(run(point_of("sentinel-oracle", network, {})));
            const double tlm = mean_us(run(point_of("sentinel-oracle", network, {{"training.impl", "tlm"}})));
            CHECK(analytic == Approx(tlm).epsilon(0.01));
        });
    }
}

TEST_CASE("what cannot be is refused with a sentence", "[dynn_offload_system]") {
    CHECK_THROWS_AS(run(point_of("sentinel-oracle", "tree_lstm", {{"training.budget_gb", "0.001"}})), Infeasible);
    CHECK_THROWS_AS(run(point_of("zero-offload", "tree_lstm", {})), Infeasible);
    CHECK_THROWS_AS(run(point_of("dynn-offload", "tree_lstm", {})), InputError);
    CHECK_THROWS_AS(run(point_of("unmanaged", "tree_lstm", {{"training.budget_gb", "-1"}})), InputError);
    CHECK_THROWS_AS(run(point_of("unmanaged", "tree_lstm", {{"training.bdget_gb", "1"}})), InputError);
    CHECK_THROWS_AS(run(point_of("unmanaged", "tree_lstm", {{"network.wdth", "1"}})), InputError);
}
