// SPDX-License-Identifier: Apache-2.0
// Kernels at load percentiles, padding, and the launches of each way to compute a mixture of experts.
#include <algorithm>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/brainstorm/fusion.h"
#include "switchyard/sw_scheduler/brainstorm/network_generators.h"
#include "switchyard/sw_scheduler/brainstorm/stage_compiler.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;
using namespace switchyard::sched::brainstorm;

TEST_CASE("kernels are tuned for percentiles of the loads of branches that have cells", "[fusion]") {
    CellProfile profile(CellProfile::Level::loads, {4});
    // Loads 6, 3, 1, 0.
    profile.add({CellRoutes{{0}, {0}, {0}, {0}, {0}, {0}, {1}, {1}, {1}, {2}}});
    CHECK(tuned_loads(profile, 0, {0.33, 0.66, 1.0}) == std::vector<std::uint64_t>{1, 3, 6});
    CHECK(tuned_loads(profile, 0, {0.9, 1.0}) == std::vector<std::uint64_t>{6});
    CHECK(tuned_loads(profile, 0, {0.33, 0.66, 1.0}, 4) == std::vector<std::uint64_t>{4, 8});
    CHECK_THROWS_AS(tuned_loads(profile, 0, {}), InputError);
}

TEST_CASE("a load is padded to the nearest kernel above, as in Fig. 4", "[fusion]") {
    const std::vector<std::uint64_t> tuned{32, 64};
    CHECK(padded_loads(tuned, 28) == std::vector<std::uint64_t>{32});
    CHECK(padded_loads(tuned, 62) == std::vector<std::uint64_t>{64});
    CHECK(padded_loads(tuned, 64) == std::vector<std::uint64_t>{64});
    CHECK(padded_loads(tuned, 150) == std::vector<std::uint64_t>{64, 64, 32});
    CHECK(padded_loads(tuned, 0).empty());
}

namespace {

/// A feed-forward layer of 8 experts, 256 -> 1024 -> 256, for 64 cells.
RoutedNetwork moe_network() {
    CellRouter router;
    router.branches = 8;
    RoutedNetwork network;
    network.cells = 64;
    network.stages.push_back(expert_stage("moe", {}, router, 256, 1024, 1));
    return network;
}

GpuKernel plain_kernel(const GpuOperator& op) {
    GpuKernel kernel;
    kernel.name = op.name;
    kernel.grid = {static_cast<std::uint32_t>((op.outputs() + 127) / 128), 1, 1};
    kernel.block = {128, 1, 1};
    kernel.work = {op.flops(), 0, op.input_bytes() + op.weight_bytes(), op.output_bytes()};
    return kernel;
}

std::uint64_t flops_of(const HostSteps& steps, const std::string& name) {
    std::uint64_t flops = 0;
    for (const HostStep& step : steps)
        if (step.kernel && step.kernel->name == name) flops += step.kernel->work.flops;
    return flops;
}

std::size_t launches(const HostSteps& steps) {
    return static_cast<std::size_t>(
        std::count_if(steps.begin(), steps.end(), [](const HostStep& s) { return !!s.kernel; }));
}

const std::vector<std::uint64_t> kLoads{20, 16, 10, 7, 6, 5, 0, 0};
constexpr std::uint64_t kCellFlops = 2 * 2 * 256 * 1024;  ///< of both layers

RoutedSteps routed(BranchDesign design, std::uint64_t capacity = 32) {
    const RoutedNetwork network = moe_network();
    StageCompiler compiler(network, design, {}, &plain_kernel, {{4, 8, 16, 32}});
    return compiler.branches(0, kLoads, 64, capacity);
}

}  // namespace

TEST_CASE("each design launches what it says, with the work of what it pads", "[fusion]") {
    CHECK(launches(routed(BranchDesign::serial).steps) == 6 * 5);
    CHECK(launches(routed(BranchDesign::vertical).steps) == 6 * 2);
    CHECK(launches(routed(BranchDesign::horizontal).steps) == 3);
    CHECK(launches(routed(BranchDesign::batched).steps) == 5);
    CHECK(launches(routed(BranchDesign::einsum).steps) == 5);
    CHECK(routed(BranchDesign::serial).host_needs_loads);
    CHECK(routed(BranchDesign::batched).host_needs_loads);
    CHECK_FALSE(routed(BranchDesign::horizontal).host_needs_loads);
    CHECK_FALSE(routed(BranchDesign::einsum).host_needs_loads);

    CHECK(routed(BranchDesign::serial).padded_cells == 64);
    CHECK(routed(BranchDesign::vertical).padded_cells == 32 + 16 + 16 + 8 + 8 + 8);
    CHECK(routed(BranchDesign::batched).padded_cells == 8 * 20);
    CHECK(routed(BranchDesign::einsum).padded_cells == 8 * 32);
    CHECK(flops_of(routed(BranchDesign::serial).steps, "linear") == 64 * kCellFlops);
    // Tuned kernels of 4, 8, 16 and 32 rows have threads that fill their warps.
    CHECK(flops_of(routed(BranchDesign::vertical).steps, "linear") == 88 * kCellFlops);
    CHECK(flops_of(routed(BranchDesign::horizontal).steps, "fused") == 88 * kCellFlops);
    CHECK(flops_of(routed(BranchDesign::batched).steps, "linear") == 8 * 20 * kCellFlops);
    for (const auto& [name, design] : branch_designs())
        for (const HostStep& step : routed(design).steps)
            if (step.kernel) CHECK(validation_error(*step.kernel).empty());
}

TEST_CASE("the loop of PyTorch visits all experts and waits twice for each", "[fusion]") {
    RoutedNetwork network = moe_network();
    network.stages[0].loops_over_branches = true;
    StageCompiler compiler(network, BranchDesign::serial, {}, &plain_kernel, {});
    const RoutedSteps steps = compiler.branches(0, kLoads, 64, 0);
    CHECK(steps.steps.size() - launches(steps.steps) == 2 * 8);
    CHECK(launches(steps.steps) == 8 * 3 + 6 * 5);
    CHECK_FALSE(steps.host_needs_loads);
}

TEST_CASE("loads that do not fit are refused", "[fusion]") {
    CHECK_THROWS_WITH(routed(BranchDesign::einsum, 16),
                      "expected a load of at most the capacity of 16 cells, found 20");
    const RoutedNetwork network = moe_network();
    StageCompiler compiler(network, BranchDesign::serial, {}, &plain_kernel, {});
    CHECK_THROWS_AS(compiler.branches(0, {16}, 64, 0), InputError);
    CHECK(compiler.branches(0, std::vector<std::uint64_t>(8), 64, 0).steps.empty());
    CHECK_THROWS_AS(fused_kernel("none", {}), InputError);
    // The threads of one part and the registers of another are more than an SM has.
    GpuKernel wide, deep;
    wide.block = {1024, 1, 1};
    wide.registers_per_thread = 32;
    deep.block = {128, 1, 1};
    deep.registers_per_thread = 255;
    const GpuKernel both = fused_kernel("both", {wide, deep});
    CHECK(both.threads_per_cta() == 1024);
    CHECK(both.registers_per_thread == 64);
    CHECK(fused_kernel("deep", {deep, deep}).registers_per_thread == 255);
    wide.block = {736, 1, 1};  // 23 warps, six of them in a partition of 16384 registers
    CHECK(fused_kernel("both", {wide, deep}).registers_per_thread == 80);
    CHECK_THROWS_AS(padded_loads({}, 1), InputError);
    GpuKernel kernel;
    kernel.reads.assign(kMaxSegments + 1, {0, 4});
    kernel.writes.assign(kMaxSegments, {0, 4});
    limit_segments(kernel);
    CHECK(kernel.reads.empty());
    CHECK(kernel.writes.size() == kMaxSegments);
}
