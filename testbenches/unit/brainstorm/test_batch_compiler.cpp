// SPDX-License-Identifier: Apache-2.0
// What hosts of devices do: collectives with the cells that cross, weights that come and go, speculation.
#include <algorithm>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/brainstorm/batch_compiler.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using namespace switchyard::sched::brainstorm;

namespace {

GpuKernel any_kernel(const GpuOperator& op) {
    GpuKernel kernel;
    kernel.name = op.name;
    kernel.work = {op.flops(), 0, op.input_bytes(), op.output_bytes()};
    return kernel;
}

RoutedNetwork described(const std::string& name, std::map<std::string, std::string> overrides) {
    return read_routed_network(std::string(SOURCE_FOLDER) + "/configs/workloads/brainstorm/" + name + ".yaml",
                               overrides);
}

std::shared_ptr<const LinkTopology> switch_of(unsigned devices) {
    return devices == 1 ? nullptr
                        : std::make_shared<const LinkTopology>(make_link_topology("switch", devices, LinkKind{}));
}

BatchProgram program_of(const RoutedNetwork& network, const Mechanisms& mechanisms, unsigned devices = 1,
                        std::uint64_t batch = 0, BranchDesign design = BranchDesign::serial) {
    const NetworkProfile profile(network, devices, 99, 0, 20, CellProfile::Level::correlation);
    StageCompiler stages(network, design, {}, &any_kernel, {});
    BatchCompiler compiler(network, stages, profile, mechanisms, switch_of(devices));
    return compiler.compile(stage_routes(network, network.routes, devices, 5, batch));
}

std::size_t count(const HostSteps& steps, HostStep::Kind kind) {
    return static_cast<std::size_t>(
        std::count_if(steps.begin(), steps.end(), [kind](const HostStep& step) { return step.kind == kind; }));
}

}  // namespace

TEST_CASE("cells cross between devices as a count by hand has it", "[batch_compiler]") {
    const RoutedNetwork network = described("shifted_exchange", {{"network.cells", "14"},
                                                                 {"network.elements", "8"},
                                                                 {"network.router.branches", "4"},
                                                                 {"network.routes.weights", "[5, 2]"}});
    Mechanisms mechanisms;
    const BatchProgram block = program_of(network, mechanisms, 2);
    CHECK(block.collectives.size() == 2);
    CHECK(block.counts.crossing_cells == 2 * 2 * 10);  // two devices, there and back, two branches of five cells
    CHECK(block.counts.crossing_bytes == 2 * 2 * 10 * 32);
    mechanisms.placement = "profile";
    CHECK(program_of(network, mechanisms, 2).counts.crossing_cells == 2 * 2 * 4);
    mechanisms.sparse = false;
    CHECK(program_of(network, mechanisms, 2).counts.crossing_bytes == 2 * 2 * 10 * 32);  // two branches of five, padded
    for (const HostSteps& steps : block.devices) CHECK(count(steps, HostStep::Kind::collective) == 2);
}

TEST_CASE("cells are dropped by full branches alone, at most all that come to routers", "[batch_compiler]") {
    for (const char* name : {"swin_moe", "switch_transformer", "shifted_exchange"}) {
        double before = 1;
        for (const char* capacity : {"1", "3", "10", "40", "100000"}) {
            RoutedNetwork network = described(name, {});
            std::uint64_t routers = 0;
            for (Stage& stage : network.stages) {
                stage.router.capacity = std::stoull(capacity);
                routers += stage.routed;
            }
            const BatchProgram::Counts counts = program_of(network, Mechanisms{}).counts;
            CAPTURE(name, capacity, routers);
            REQUIRE(counts.decided_cells > 0);
            CHECK(counts.decided_cells <= network.cells * routers);
            const double share = static_cast<double>(counts.dropped_cells) / static_cast<double>(counts.decided_cells);
            CHECK(share <= before);
            before = share;
        }
        CHECK(before == 0);
        // Without a capacity a router may send a cell to fewer branches than k, but drops none.
        RoutedNetwork open = described(name, {});
        for (Stage& stage : open.stages) stage.router.capacity = 0;
        CHECK(program_of(open, Mechanisms{}).counts.dropped_cells == 0);
    }
}

TEST_CASE("cells that stay cross less than cells that return", "[batch_compiler]") {
    RoutedNetwork network = described("task_moe", {{"network.batch", "32"}, {"network.experts_of_a_task", "1"}});
    Mechanisms mechanisms;
    mechanisms.placement = "profile";
    const BatchProgram stay = program_of(network, mechanisms, 4);
    network.cells_stay = false;
    const BatchProgram back = program_of(network, mechanisms, 4);
    CHECK(stay.collectives.size() == 3);
    CHECK(back.collectives.size() == 6);
    CHECK(stay.counts.crossing_cells < back.counts.crossing_cells / 2);
}

TEST_CASE("weights come and go, and fewer are there at a time", "[batch_compiler]") {
    const RoutedNetwork network = described("dynamic_routing", {});
    Mechanisms mechanisms;
    const BatchProgram resident = program_of(network, mechanisms);
    CHECK(resident.counts.loads == 0);
    CHECK(resident.peak_weight_bytes == network.fixed_weight_bytes() + network.branch_weight_bytes());
    mechanisms.weights = "on_demand";
    const BatchProgram on_demand = program_of(network, mechanisms);
    CHECK(on_demand.counts.loads == on_demand.counts.loads_on_demand);
    CHECK(on_demand.counts.loads > 20);
    mechanisms.weights = "preloaded";
    const BatchProgram preloaded = program_of(network, mechanisms);
    CHECK(preloaded.counts.loads_on_demand < on_demand.counts.loads_on_demand / 2);
    CHECK(on_demand.peak_weight_bytes <= preloaded.peak_weight_bytes);
    CHECK(preloaded.peak_weight_bytes < resident.peak_weight_bytes);
    CHECK(count(on_demand.devices[0], HostStep::Kind::await_load) == on_demand.counts.loads);
}

TEST_CASE("a load into memory that was given back waits for the kernels before", "[batch_compiler]") {
    WeightPlan plan(256);
    HostSteps steps;
    CHECK(plan.load(steps, {0, 0}, 100));
    CHECK(plan.load(steps, {0, 1}, 100));
    CHECK_FALSE(plan.load(steps, {0, 1}, 100));
    CHECK(steps.size() == 2);
    CHECK(steps[1].address == 512);
    plan.unload({0, 0});
    CHECK(plan.load(steps, {1, 0}, 50));
    REQUIRE(steps.size() == 4);
    CHECK(steps[2].kind == HostStep::Kind::fork);
    CHECK(steps[3].address == 256);
    CHECK(plan.peak_bytes() == 200);
    CHECK(plan.resident_bytes() == 150);
    CHECK_FALSE(plan.load(steps, {2, 0}, 0));
}

TEST_CASE("a load that may be left out is no wait for later ones", "[batch_compiler]") {
    WeightPlan plan(0);
    HostSteps host, speculation;
    plan.load(host, {0, 0}, 256);
    plan.load(host, {0, 1}, 256);
    plan.unload({0, 0});
    plan.unload({0, 1});
    plan.load(speculation, {1, 0}, 256, false);
    CHECK(count(speculation, HostStep::Kind::fork) == 1);
    plan.load(host, {2, 0}, 256);
    CHECK(count(host, HostStep::Kind::fork) == 1);
    plan.unload({2, 0});
    plan.load(host, {3, 0}, 256);
    CHECK(count(host, HostStep::Kind::fork) == 2);
}

TEST_CASE("behind a speculation memory is given back when its check is known", "[batch_compiler]") {
    const RoutedNetwork network = described("dynamic_routing", {{"network.routes.certainty", "0.8"}});
    Mechanisms mechanisms;
    mechanisms.weights = "on_demand";
    const std::uint64_t none = program_of(network, mechanisms).peak_weight_bytes;
    std::uint64_t before = none;
    mechanisms.speculative_routing = true;
    for (const std::size_t depth : {1, 2, 4, 8}) {
        mechanisms.speculation_depth = depth;
        const std::uint64_t peak = program_of(network, mechanisms).peak_weight_bytes;
        CHECK(peak >= before);
        before = peak;
    }
    CHECK(before > none);
    mechanisms.speculation_depth = 1000;
    const BatchProgram all = program_of(network, mechanisms);
    CHECK(all.peak_weight_bytes >= before);
    CHECK(count(all.devices[0], HostStep::Kind::fork) == count(all.devices[0], HostStep::Kind::speculate));
}

TEST_CASE("a speculation checks, and has what to do when it was wrong", "[batch_compiler]") {
    const RoutedNetwork network =
        described("matrix_branches", {{"network.routes.weights", "[3, 1, 1, 1, 1, 1, 1, 1]"}});
    Mechanisms mechanisms;
    mechanisms.speculative_routing = true;
    std::size_t hits = 0;
    for (std::uint64_t batch = 0; batch < 20; ++batch) {
        const BatchProgram program = program_of(network, mechanisms, 1, batch);
        const auto& steps = program.devices[0];
        REQUIRE(count(steps, HostStep::Kind::speculate) == 1);
        const Speculation& speculation = *steps.back().speculation;
        CHECK(speculation.hit == (program.counts.hits == 1));
        CHECK(speculation.actual.empty() == speculation.hit);
        CHECK(count(speculation.check, HostStep::Kind::read_back) == 1);
        hits += speculation.hit;
    }
    CHECK(hits > 0);
    CHECK(hits < 20);
    mechanisms.speculation_certainty = 0.99;
    CHECK(count(program_of(network, mechanisms).devices[0], HostStep::Kind::speculate) == 0);
}

TEST_CASE("the router's own time comes behind what it reads back", "[batch_compiler]") {
    const RoutedNetwork network = described("matrix_branches", {{"network.router_us", "700"}});
    Mechanisms mechanisms;
    mechanisms.decision_us = 3;
    const HostSteps steps = program_of(network, mechanisms).devices[0];
    const auto read_back = std::find_if(steps.begin(), steps.end(),
                                        [](const HostStep& step) { return step.kind == HostStep::Kind::read_back; });
    REQUIRE(read_back != steps.end());
    CHECK(count({steps.begin(), read_back}, HostStep::Kind::work) == 0);
    CHECK((read_back + 1)->kind == HostStep::Kind::work);
    CHECK((read_back + 1)->us == Approx(703));
}

TEST_CASE("a miss without a missing path has nothing to launch, and does again what followed", "[batch_compiler]") {
    // The profile has all paths open; the run closes some of them.
    const RoutedNetwork network = described("dynamic_routing", {{"network.rows", "256"},
                                                                {"network.columns", "256"},
                                                                {"network.layers", "3"},
                                                                {"network.routes.certainty", "1"},
                                                                {"network.routes.open", "0.6"},
                                                                {"network.profile_routes.kind", "gates"},
                                                                {"network.profile_routes.certainty", "1"},
                                                                {"network.profile_routes.open", "1"}});
    Mechanisms mechanisms;
    mechanisms.speculative_routing = true;
    const StageRoutes routes = stage_routes(network, network.routes, 1, 5, 0);
    std::size_t misses = 0;
    for (std::size_t s = 0; s < network.stages.size(); ++s)
        if (network.stages[s].routed && reached_stages(network, routes)[s])
            misses += routes[s][0].size() < network.stages[s].router.branches;
    const BatchProgram program = program_of(network, mechanisms);
    std::size_t found = 0;
    for (const HostStep& step : program.devices[0]) {
        if (!step.speculation || step.speculation->hit) continue;
        ++found;
        CHECK(step.speculation->actual.empty());
        CHECK_FALSE(step.speculation->predicted.empty());
    }
    CHECK(found == misses);
    CHECK(misses > 0);
}

TEST_CASE("a wrong prediction of several paths launches what is missing", "[batch_compiler]") {
    const RoutedNetwork network = described("dynamic_routing", {});
    Mechanisms mechanisms;
    mechanisms.speculative_routing = true;
    std::size_t misses = 0, nothing_missing = 0;
    for (std::uint64_t batch = 0; batch < 6; ++batch) {
        const BatchProgram program = program_of(network, mechanisms, 1, batch);
        for (const HostStep& step : program.devices[0]) {
            if (!step.speculation || step.speculation->hit) continue;
            ++misses;
            nothing_missing += step.speculation->actual.empty();
            // What is common to the paths of a cell is not computed again.
            if (!step.speculation->predicted.empty())
                CHECK(step.speculation->actual.size() < step.speculation->predicted.size());
        }
    }
    CHECK(misses > 0);
    CHECK(nothing_missing < misses);
}

TEST_CASE("what does not go together is refused", "[batch_compiler]") {
    Mechanisms speculation, loading;
    speculation.speculative_routing = true;
    loading.weights = "preloaded";
    CHECK_THROWS_AS(program_of(described("matrix_branches", {}), {}, 2), InputError);
    CHECK_THROWS_AS(program_of(described("live_sr", {}), speculation), InputError);
    CHECK_THROWS_AS(program_of(described("live_sr", {}), loading), InputError);
    CHECK_THROWS_AS(program_of(described("dynamic_routing", {}), {}, 1, 0, BranchDesign::batched), InputError);
}
