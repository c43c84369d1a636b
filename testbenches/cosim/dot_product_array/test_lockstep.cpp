// SPDX-License-Identifier: Apache-2.0
#include <Vdot_product_array_covered.h>
#include <Vdot_product_array_faulty.h>
#include <Vline_buffer_covered.h>
#include <Vline_buffer_faulty.h>
#include <Vrequantiser_covered.h>

#include <filesystem>

#include "switchyard/rtl/dot_product_array/lockstep_dot_product.h"
#include "switchyard/rtl/dot_product_array/lockstep_line_buffer.h"
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"
#include "switchyard/rtl/dot_product_array/verilated_dot_product.h"
#include "switchyard/rtl/dot_product_array/verilated_line_buffer.h"
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

TEST_CASE("line buffer: random passes in lockstep, for each window", "[cosim]") {
    for (const std::uint32_t side : {3U, 5U, 7U}) {
        INFO(side);
        const auto line = rtl::make_line_buffer("lockstep", side, "line_buffer");
        LinePasses passes(side, 256, 511, random_seed());
        std::vector<std::int8_t> window(std::size_t{side} * side);
        std::uint64_t windows = 0;
        for (int p = 0; p < 200; ++p) {
            hw::LineBufferPass pass;
            const std::uint64_t pixels = passes.begin(pass);
            line->begin(pass);
            for (std::uint64_t n = 0; n < pixels; ++n) {
                bool is_window = false;
                REQUIRE_NOTHROW(is_window = line->step(passes.pixel(), window.data()));
                windows += is_window ? 1 : 0;
            }
        }
        CHECK(windows > 2000);
    }
}

TEST_CASE("line buffer: coverage", "[cosim][coverage]") {
    rtl::VerilatedLineBuffer<Vline_buffer_covered, false> covered(16);
    LinePasses passes(3, 16, 15, random_seed());
    std::uint64_t windows = 0;
    CHECK(line_buffer_differs(covered, passes, 3, 1500, windows) == "");
    CHECK(windows > 10000);
    covered.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/line_buffer.dat");
}

TEST_CASE("line buffer: lockstep finds a fault and leaves its waveform; sizes without RTL are refused",
          "[cosim][bad]") {
    std::string found;
    {
        rtl::LockstepLineBuffer line("faulty_line",
                                     std::make_unique<rtl::VerilatedLineBuffer<Vline_buffer_faulty, true>>(16));
        LinePasses passes(3, 16, 15, random_seed());
        std::vector<std::int8_t> window(9);
        try {
            for (int p = 0; p < 100; ++p) {
                hw::LineBufferPass pass;
                const std::uint64_t pixels = passes.begin(pass);
                line.begin(pass);
                for (std::uint64_t n = 0; n < pixels; ++n) line.step(passes.pixel(), window.data());
            }
        } catch (const RtlFault& fault) {
            found = fault.what();
        }
    }
    CHECK_THAT(found, ContainsSubstring("of the window is") && ContainsSubstring("faulty_line.lockstep.fst"));
    CHECK(std::filesystem::file_size("faulty_line.lockstep.fst") > 100);
    std::filesystem::remove("faulty_line.lockstep.fst");

    CHECK_THROWS_WITH(rtl::make_line_buffer("rtl", 9, "l"),
                      ContainsSubstring("no RTL line buffer for windows of 9 x 9; there is, for 3, 5 and 7"));
    const auto line = rtl::make_line_buffer("rtl", 3, "l");
    CHECK_THROWS_WITH(line->begin({3, 1, 257, 1, 0, 258, 0}),
                      ContainsSubstring("rows of 256 pixels, the layer of 257"));
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
