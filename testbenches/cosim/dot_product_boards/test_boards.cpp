// SPDX-License-Identifier: Apache-2.0
// The arrays of the boards in RTL beside the model: weights and windows in any order, and random convolutions whose
// results are those of their definition.
#include <Vdot_product_array_12x12.h>
#include <Vdot_product_array_16x32.h>

#include <memory>

#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"
#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"
#include "switchyard/testbenches/cosim/dot_product_array/core_traffic.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/sushi/dot_product_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using test::DotProductBench;
using test::RandomLayer;

namespace {

std::unique_ptr<hw::DotProductCore> lockstep(const sched::DotProductShape& shape, const std::string& module) {
    std::unique_ptr<rtl::DotProductRtl> array;
    if (shape.rows == 12)
        array = std::make_unique<rtl::VerilatedDotProduct<Vdot_product_array_12x12, false>>(shape);
    else
        array = std::make_unique<rtl::VerilatedDotProduct<Vdot_product_array_16x32, false>>(shape);
    return std::make_unique<rtl::LockstepDotProduct>(shape, module, std::move(array));
}

constexpr sched::DotProductShape kBoards[] = {{12, 12}, {16, 32}};

}  // namespace

TEST_CASE("the boards' arrays in RTL: random weights and windows in lockstep", "[cosim]") {
    for (const sched::DotProductShape shape : kBoards) {
        INFO(shape.rows << " x " << shape.columns);
        const auto core = lockstep(shape, "array");
        CoreTraffic traffic(shape, 5);
        hw::DotProductOutput out(shape);
        std::uint64_t sums = 0;
        for (int cycle = 0; cycle < 3000; ++cycle) {
            REQUIRE_NOTHROW(core->step(traffic.next(), out));
            for (const std::uint8_t valid : out.valid) sums += valid;
        }
        CHECK(sums > 1000 * shape.rows);
    }
}

TEST_CASE("the boards' arrays in RTL: random convolutions", "[cosim]") {
    for (const sched::DotProductShape shape : kBoards)
        in_child([&] {
            hw::DotProductArray::Config config;
            config.rows = shape.rows;
            config.columns = shape.columns;
            config.impl = "lockstep";
            DotProductBench bench(
                "bench", config,
                [](const std::string&, const sched::DotProductShape& of, const std::string& module) {
                    return lockstep(of, module);
                },
                &rtl::make_line_buffer);
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            RandomSource random(19, shape.rows);
            for (int i = 0; i < 30; ++i) {
                const RandomLayer layer(random, shape);
                std::uint64_t cycles = 0;
                REQUIRE(bench.run(layer, random.integer(1, layer.layer.output_height()), cycles) ==
                        layer.results(DotProductBench::kInputZero, DotProductBench::kOutputZero));
            }
        });
}
