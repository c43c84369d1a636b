// SPDX-License-Identifier: Apache-2.0
// Speculation with weights that come and go: every kernel that a decision wants runs, and finds its weights.
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"
#include "switchyard/testbenches/sim_test.h"

namespace switchyard::platform {
std::unique_ptr<System> make_brainstorm_system();
}

using namespace switchyard;
using namespace switchyard::platform;
using nlohmann::ordered_json;

namespace {

/// In a process of its own; all checks of the report hold.
void check_run(const std::string& design, const std::string& network, std::map<std::string, std::string> set,
               std::uint64_t seed, bool misses) {
    testing::in_child([&] {
        const std::string configs = std::string(SOURCE_FOLDER) + "/configs/";
        Point point;
        point.design = design;
        point.platform = configs + "platforms/brainstorm_a100.yaml";
        point.workload = configs + "workloads/brainstorm/" + network + ".yaml";
        point.overrides = std::move(set);
        point.overrides["brainstorm.functional"] = "yes";
        point.work.seed = seed;
        point.work.batches = 4;
        const ordered_json report = make_brainstorm_system()->prepare(point)->run();
        REQUIRE(report.at("conservation").size() == 7);  // the last one: kernels that find their weights
        for (const ordered_json& check : report.at("conservation")) {
            INFO(check.dump());
            CHECK(check.at("ok") == true);
        }
        if (misses) CHECK(report.at("counters").at("rollbacks").get<int>() > 0);
    });
}

}  // namespace

TEST_CASE("kernels of the decisions find their weights, however many checks are open", "[brainstorm_speculation]") {
    for (const char* const weights : {"on_demand", "preloaded"})
        for (const char* const depth : {"0", "1", "2", "1000"})
            for (const std::uint64_t seed : {1, 2}) {
                CAPTURE(weights, depth, seed);
                const bool speculates = std::string(depth) != "0";
                std::map<std::string, std::string> set{
                    {"network.rows", "256"},         {"network.columns", "256"},
                    {"network.layers", "6"},         {"network.routes.certainty", "0.8"},
                    {"brainstorm.weights", weights}, {"brainstorm.speculative_routing", speculates ? "yes" : "no"}};
                if (speculates) set["brainstorm.speculation_depth"] = depth;
                check_run("brt-vertical", "dynamic_routing", set, seed, speculates);
                set["brainstorm.speculation_certainty"] = "0.7";  // some routers are not speculated on
                check_run("brt-horizontal", "dynamic_routing", set, seed, false);
            }
}

TEST_CASE("the same of a network with one branch a router and of one with exits", "[brainstorm_speculation]") {
    for (const char* const depth : {"1", "4"})
        for (const char* const weights : {"on_demand", "preloaded"}) {
            CAPTURE(weights, depth);
            check_run("brt-vertical", "matrix_branches",
                      {{"network.routes.weights", "[3, 1, 1, 1, 1, 1, 1, 1]"},
                       {"brainstorm.weights", weights},
                       {"brainstorm.speculative_routing", "yes"},
                       {"brainstorm.speculation_depth", depth}},
                      3, true);
            check_run("brt-vertical", "msdnet",
                      {{"brainstorm.weights", weights},
                       {"brainstorm.speculative_routing", "yes"},
                       {"brainstorm.speculation_depth", depth}},
                      2, true);
        }
}
