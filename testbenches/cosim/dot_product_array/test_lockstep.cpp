// SPDX-License-Identifier: Apache-2.0
#include <Vdot_product_array_covered.h>
#include <Vdot_product_array_faulty.h>
#include <Vrequantiser_covered.h>

#include <filesystem>

#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"
#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/cosim/coverage.h"
#include "switchyard/testbenches/cosim/dot_product_array/core_traffic.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("dot-product array: random weights and windows in lockstep", "[cosim]") {
    for (const sched::DotProductShape shape : {sched::DotProductShape{4, 4}, sched::DotProductShape{3, 6}}) {
        const auto core = rtl::make_dot_product_core("lockstep", shape, "array");
        CoreTraffic traffic(shape, random_seed());
        hw::DotProductOutput out(shape);
        std::uint64_t sums = 0;
        for (int cycle = 0; cycle < 20000; ++cycle) {
            REQUIRE_NOTHROW(core->step(traffic.next(), out));
            for (const std::uint8_t valid : out.valid) sums += valid;
        }
        CHECK(sums > 20000);
    }
}

TEST_CASE("requantiser: the model's arithmetic, three cycles later", "[cosim][coverage]") {
    RequantiserBench<Vrequantiser_covered> bench;
    CHECK(bench.run(random_seed(), 200000) == "");
    bench.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/requantiser.dat");
}

TEST_CASE("dot-product array: coverage", "[cosim][coverage]") {
    const sched::DotProductShape shape{2, 2};
    hw::CycleDotProductCore model(shape);
    rtl::VerilatedDotProduct<Vdot_product_array_covered, false> covered(shape);
    CoreTraffic traffic(shape, random_seed());
    hw::DotProductOutput expected(shape), out(shape);
    for (int cycle = 0; cycle < 5000; ++cycle) {
        const hw::DotProductInput& in = traffic.next();
        model.step(in, expected);
        covered.step(in, out);
        REQUIRE(out == expected);
    }
    covered.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/dot_product_array.dat");
}

TEST_CASE("dot-product array: lockstep finds a fault and leaves its waveform", "[cosim][bad]") {
    const sched::DotProductShape shape{4, 4};
    std::string found;
    {
        rtl::LockstepDotProduct core(
            shape, "faulty", std::make_unique<rtl::VerilatedDotProduct<Vdot_product_array_faulty, true>>(shape));
        CoreTraffic traffic(shape, random_seed());
        hw::DotProductOutput out(shape);
        try {
            for (int cycle = 0; cycle < 2000; ++cycle) core.step(traffic.next(), out);
        } catch (const RtlFault& fault) {
            found = fault.what();
        }
    }
    CHECK_THAT(found, ContainsSubstring("the model has sum") && ContainsSubstring("waveform: faulty.lockstep.fst"));
    CHECK(std::filesystem::file_size("faulty.lockstep.fst") > 100);
    std::filesystem::remove("faulty.lockstep.fst");
}

TEST_CASE("dot-product array: sizes without RTL are refused", "[cosim][bad]") {
    CHECK_THROWS_WITH(rtl::make_dot_product_core("rtl", {12, 12}, "a"),
                      ContainsSubstring("no RTL dot-product array of 12 x 12; there is, of 4 x 4 and 3 x 6"));
    CHECK_NOTHROW(rtl::make_dot_product_core("cycle", {12, 12}, "a"));
}
