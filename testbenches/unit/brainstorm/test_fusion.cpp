// SPDX-License-Identifier: Apache-2.0
// Kernels at load percentiles, padding, and the launches of each way to compute a mixture of experts.
#include <numeric>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/brainstorm/fusion.h"
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

TEST_CASE("each design launches what it says, with the work of what it pads", "[fusion]") {
    const MoeLayer layer{64, 8, 256, 1024};
    MoeCompiler compiler(layer, {}, {4, 8, 16, 32}, 32);
    const std::vector<std::uint64_t> loads{20, 16, 10, 7, 6, 5, 0, 0};
    const auto linear_flops = [&](const MoeKernels& kernels, const std::string& name) {
        std::uint64_t flops = 0;
        for (const GpuKernel& kernel : kernels.kernels)
            if (kernel.name == name) flops += kernel.work.flops;
        return flops;
    };
    const auto one = [&](MoeDesign design) { return compiler.compile(design, loads); };
    const std::uint64_t routing = 3, cell = 2 * 2 * 256 * 1024;  // flops of a cell in both layers
    const std::uint64_t scores = 2 * 64 * 256 * 8;
    CHECK(one(MoeDesign::serial).kernels.size() == routing + 6 * 5);
    CHECK(one(MoeDesign::vertical).kernels.size() == routing + 6 * 2);
    CHECK(one(MoeDesign::horizontal).kernels.size() == routing + 3);
    CHECK(one(MoeDesign::batched).kernels.size() == routing + 5);
    CHECK(one(MoeDesign::einsum).kernels.size() == routing + 5);
    CHECK(one(MoeDesign::serial).host_needs_loads);
    CHECK_FALSE(one(MoeDesign::horizontal).host_needs_loads);

    CHECK(one(MoeDesign::serial).padded_cells == 64);
    CHECK(one(MoeDesign::vertical).padded_cells == 32 + 16 + 16 + 8 + 8 + 8);
    CHECK(one(MoeDesign::batched).padded_cells == 8 * 20);
    CHECK(one(MoeDesign::einsum).padded_cells == 8 * 32);
    // A schedule's tiles divide the rows, so that its threads need not fill their warps; an SM executes whole warps,
    // and `flops` counts all their lanes. Rows of an odd load are not padded.
    const MoeKernels serial = one(MoeDesign::serial);
    std::uint64_t lanes_flops = 0;
    std::vector<GpuKernel> linears;
    for (std::size_t i = serial.before_loads; i < serial.kernels.size(); ++i)
        if (serial.kernels[i].name == "linear") linears.push_back(serial.kernels[i]);
    REQUIRE(linears.size() == 2 * 6);
    for (std::size_t i = 0; i < linears.size(); ++i) {
        const std::uint64_t threads = linears[i].threads_per_cta(), lanes = (threads + 31) / 32 * 32;
        lanes_flops += loads[i / 2] * (cell / 2) / threads * lanes;
    }
    CHECK(linear_flops(serial, "linear") == scores + lanes_flops);
    CHECK(lanes_flops >= 64 * cell);
    CHECK(linear_flops(one(MoeDesign::vertical), "linear") == scores + 88 * cell);
    const MoeKernels fused = one(MoeDesign::horizontal);
    CHECK(linear_flops(fused, "fused_first") + linear_flops(fused, "fused_second") == 88 * cell);
    for (const auto& [name, design] : moe_designs())
        for (const GpuKernel& kernel : one(design).kernels) CHECK(validation_error(kernel).empty());
}

TEST_CASE("loads that do not fit are refused", "[fusion]") {
    MoeCompiler compiler({16, 2, 64, 64}, {}, {8}, 8);
    CHECK_THROWS_WITH(compiler.compile(MoeDesign::einsum, {10, 6}), "a load of 10 cells, the capacity is 8");
    CHECK_THROWS_AS(compiler.compile(MoeDesign::serial, {16}), InputError);
    CHECK(compiler.compile(MoeDesign::serial, {0, 0}).kernels.size() == 3);
    CHECK_THROWS_AS(fused_kernel("none", {}), InputError);
    CHECK_THROWS_AS(padded_loads({}, 1), InputError);
}
