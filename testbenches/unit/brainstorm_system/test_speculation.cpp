// SPDX-License-Identifier: Apache-2.0
// Speculation with weights that come and go: every kernel that a decision wants runs, and finds its weights.
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "small_runs.h"
#include "switchyard/platform/systems/brainstorm/cluster.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;
using nlohmann::ordered_json;

namespace {

/// In a process of its own; all checks of the report hold.
void check_run(const std::string& design, const std::string& network, std::map<std::string, std::string> set,
               std::uint64_t seed, bool misses) {
    testing::in_child([&] {
        Point point = point_of(design, network, std::move(set));
        point.overrides["brainstorm.functional"] = "yes";
        point.work.seed = seed;
        point.work.batches = 4;
        const ordered_json report = run(point);
        CHECK(report.at("conservation").size() == 7);  // the last one: kernels that find their weights
        if (misses) CHECK(report.at("counters").at("rollbacks").get<int>() > 0);
    });
}

void check_open_checks(std::uint64_t seed) {
    for (const char* const weights : {"on_demand", "preloaded"})
        for (const char* const depth : {"0", "1", "2", "1000"}) {
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

}  // namespace

TEST_CASE("kernels of the decisions find their weights, however many checks are open", "[brainstorm_speculation]") {
    check_open_checks(1);
}

TEST_CASE("kernels of other decisions find their weights, however many checks are open",
          "[.ci-long][brainstorm_speculation]") {
    check_open_checks(2);
}

TEST_CASE("a queue that kernels in vain have filled loses none", "[brainstorm_speculation]") {
    testing::in_child([] {
        using namespace sched::brainstorm;
        constexpr unsigned kMisses = 24, kKernels = 100;
        const platform::brainstorm::BrainstormConfig config = platform::brainstorm::read_brainstorm_config(
            kConfigs + "platforms/brainstorm_a100.yaml", {{"brainstorm.functional", "yes"},
                                                          {"brainstorm.speculative_routing", "yes"},
                                                          {"brainstorm.speculation_depth", "100"}});
        const LoadedWeights weights{std::uint64_t{1} << 30, 4096, 0};
        HostSteps steps(2);
        steps[0].kind = HostStep::Kind::load;
        steps[0].address = weights.address;
        steps[0].bytes = weights.bytes;
        steps[1].kind = HostStep::Kind::await_load;
        for (unsigned i = 0; i < kMisses; ++i) {
            HostStep fork, speculate;
            fork.kind = HostStep::Kind::fork;
            fork.queue = kCheckQueue;
            speculate.kind = HostStep::Kind::speculate;
            auto wrong = std::make_shared<Speculation>();
            wrong->hit = false;
            wrong->check = {work_step(600)};  // of the host: as long as it takes to launch what follows
            speculate.speculation = wrong;
            steps.insert(steps.end(), {fork, speculate});
        }
        const auto kernel = std::make_shared<sched::GpuKernel>();
        kernel->name = "slow";
        kernel->grid = {108, 1, 1};
        kernel->block = {128, 1, 1};
        kernel->registers_per_thread = 32;
        kernel->work.flops = 1000000000;
        for (unsigned i = 0; i < kKernels; ++i) {
            steps.push_back(launch_step(kernel));
            steps.back().weights = {weights};
        }
        BatchProgram program;
        program.devices = {steps};
        program.kernels_with_weights = kKernels;
        const platform::brainstorm::ClusterOutcome outcome = platform::brainstorm::run_cluster(config, {program}, 1);
        CHECK(outcome.host.rollbacks == kMisses);
        CHECK(outcome.weights.in_vain > 5 * kKernels);
        CHECK(outcome.weights.kernels == kKernels);
        CHECK(outcome.weights.in_place == kKernels);
        CHECK(outcome.kernels == kKernels + outcome.weights.in_vain);
    });
}

namespace {

void check_one_branch_and_exits(const char* depth) {
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

}  // namespace

TEST_CASE("kernels find their weights with one branch a router, and with exits", "[brainstorm_speculation]") {
    check_one_branch_and_exits("4");
}

TEST_CASE("kernels find their weights with one branch and one open check", "[.ci-long][brainstorm_speculation]") {
    check_one_branch_and_exits("1");
}
