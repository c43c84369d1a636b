// SPDX-License-Identifier: Apache-2.0
// The dot-product array: numerics, values and cycles of all implementations in C++.
#include "switchyard/hw/dot_product_array/pass_sequencer.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/sushi/dot_product_bench.h"

using namespace switchyard;
using sched::Convolution;
using sched::DotProductShape;
using test::DotProductBench;
using test::RandomLayer;

namespace {

/// As the definition has it, with divisions.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
std::int32_t by_definition(std::int32_t accumulator, std::int32_t m0, unsigned shift) {
    const std::int64_t product = std::int64_t{accumulator} * m0;
    const std::int64_t high = floor_divide(product + (std::int64_t{1} << 30), std::int64_t{1} << 31);
    const std::int64_t divisor = std::int64_t{1} << shift, rest = high % divisor;
    const bool away = 2 * (rest < 0 ? -rest : rest) >= divisor && shift > 0;
    return static_cast<std::int32_t>(high / divisor + (away ? (high < 0 ? -1 : 1) : 0));
}

}  // namespace

TEST_CASE("re-quantisation rounds as Jacob et al. do", "[sushi]") {
    // Ties of both roundings, by hand.
    CHECK(hw::requantise(1, {1 << 30, 0}) == 1);    // 0.5, up
    CHECK(hw::requantise(-1, {1 << 30, 0}) == 0);   // -0.5, up
    CHECK(hw::requantise(6, {1 << 30, 1}) == 2);    // 3 / 2, away from zero
    CHECK(hw::requantise(-6, {1 << 30, 1}) == -2);  // -3 / 2, away from zero
    CHECK(hw::quantised_output(1 << 20, {0x7FFFFFFF, 0}, -128) == 127);
    CHECK(hw::quantised_output(-(1 << 20), {0x7FFFFFFF, 0}, -128) == -128);
    RandomSource random(1, 1);
    for (int i = 0; i < 200000; ++i) {
        const auto shift = random.integer(0, 31);
        const auto m0 = static_cast<std::int32_t>(random.integer(1U << 30, 0x7FFFFFFF));
        const auto accumulator = static_cast<std::int32_t>(random.integer(0, 0xFFFFFFFF) >> random.integer(0, 31)) *
                                 (random.chance(0.5) ? 1 : -1);
        if (accumulator == INT32_MIN) continue;
        const std::int32_t expected = by_definition(accumulator, m0, shift),
                           got = hw::requantise(accumulator, {m0, shift});
        if (got != expected) {
            CAPTURE(accumulator, m0, shift);
            REQUIRE(got == expected);
        }
    }
}

TEST_CASE("operations a cycle come out of the array's shape", "[sushi]") {
    CHECK(DotProductShape{12, 12}.peak_operations_per_cycle() == 2592);
    CHECK(DotProductShape{16, 32}.peak_operations_per_cycle() == 9216);
}

TEST_CASE("how kernels lie on the columns", "[sushi]") {
    const DotProductShape shape{12, 12};
    Convolution layer;
    layer.channels = 64;
    layer.kernels = 64;
    CHECK(map_to_array(layer, shape).passes == 1);  // nine channels of a 1x1 kernel in a column: 108 a pass
    layer.channels = 109;
    CHECK(map_to_array(layer, shape).passes == 2);
    layer.side = 3;
    layer.channels = 25;
    CHECK(map_to_array(layer, shape).passes == 3);
    layer.side = 5;  // three columns a channel
    CHECK(map_to_array(layer, shape).passes == 7);
    layer.depthwise = true;
    layer.kernels = layer.channels;
    CHECK(map_to_array(layer, shape).kernels_per_tile == 4);
    layer.side = 11;  // 14 columns
    CHECK(map_to_array(layer, shape).kernels_per_tile == 0);
    CHECK_THAT(
        plan_layer(layer, {}, shape, {}).error,
        Catch::Matchers::ContainsSubstring("12 columns for a depthwise window of 121, as the array has, found 14"));
}

TEST_CASE("cycles of a pass: the closed form counts what the sequencer does", "[sushi]") {
    // By hand: 8x8, 3x3, 4 kernels: the line buffer fills for a row and a pixel, 9 cycles, then 64 windows.
    Convolution layer;
    layer.side = 3;
    layer.height = layer.width = 8;
    layer.kernels = 4;
    CHECK(pass_cycles(layer, row_band(layer, 0, 8)).total(4) == 9 + 64);
    CHECK(pass_cycles(layer, row_band(layer, 0, 8)).total(12) == 12 + 64);
    CHECK(pass_cycles(layer, row_band(layer, 4, 8)).total(4) == 8 + 9 + 32);  // a row above the band as well
    RandomSource random(3, 0);
    for (int i = 0; i < 3000; ++i) {
        const RandomLayer any(random, {4, 6});
        const std::uint32_t begin = random.integer(0, any.layer.output_height() - 1);
        sched::WorkUnit unit;
        unit.kernels = random.integer(1, 4);
        unit.band = row_band(any.layer, begin, random.integer(begin + 1, any.layer.output_height()));
        sched::ArrayMapping mapping = map_to_array(any.layer, {4, 6});
        hw::PassSequencer sequencer(any.layer, unit, mapping);
        std::uint64_t cycles = 0, windows = 0, weights = 0;
        for (; !sequencer.done(); ++cycles) {
            const auto step = sequencer.next();
            windows += step.kind == hw::PassSequencer::Step::Kind::window ? 1 : 0;
            weights += step.kind == hw::PassSequencer::Step::Kind::weights ? 1 : 0;
        }
        REQUIRE(cycles == mapping.passes * pass_cycles(any.layer, unit.band).total(unit.kernels));
        REQUIRE(windows == mapping.passes * (unit.band.end - unit.band.begin) * any.layer.output_width());
        REQUIRE(weights == mapping.passes * unit.kernels);
    }
}

TEST_CASE("every implementation computes a convolution, whatever is cached, in the same cycles", "[sushi]") {
    for (const DotProductShape shape : {DotProductShape{4, 4}, DotProductShape{3, 6}, DotProductShape{1, 7}})
        testing::in_child([&] {
            hw::DotProductArray::Config config;
            config.rows = shape.rows;
            config.columns = shape.columns;
            DotProductBench analytic("analytic", config);
            config.impl = "cycle";
            DotProductBench cycle("cycle", config);
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            RandomSource random(7, shape.rows);
            std::uint64_t depthwise = 0, cached = 0;
            for (int i = 0; i < 120; ++i) {
                const RandomLayer layer(random, shape);
                const auto rows = random.integer(1, layer.layer.output_height());
                std::uint64_t of_analytic = 0, of_cycle = 0;
                const std::vector<std::uint8_t> expected =
                    layer.results(DotProductBench::kInputZero, DotProductBench::kOutputZero);
                CAPTURE(i, layer.layer.side, layer.layer.stride, layer.layer.depthwise, layer.layer.residual);
                REQUIRE(analytic.run(layer, rows, of_analytic) == expected);
                REQUIRE(cycle.run(layer, rows, of_cycle) == expected);
                REQUIRE(of_analytic == of_cycle);
                depthwise += layer.layer.depthwise ? 1 : 0;
                cached += layer.cached.kernels > 0 ? 1 : 0;
            }
            CHECK(depthwise > 5);
            CHECK(cached > 20);
        });
}
