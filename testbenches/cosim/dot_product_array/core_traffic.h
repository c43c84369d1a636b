// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "switchyard/hw/dot_product_array/dot_product_core.h"
#include "switchyard/hw/dot_product_array/line_buffer.h"
#include "switchyard/hw/numerics/requantise.h"
#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::testing {

/// Weights, windows and idle cycles in any order; values at the ends of their range more often than elsewhere, so that
/// the largest sums and the smallest occur.
class CoreTraffic {
public:
    CoreTraffic(const sched::DotProductShape& shape, std::uint64_t seed)
        : shape_(shape), random_(seed, 3), in_(shape) {}
    const hw::DotProductInput& next() {
        using Kind = hw::DotProductInput::Kind;
        // Of each row first, since registers begin with anything.
        in_.kind = sent_ < shape_.rows    ? Kind::weights
                   : random_.chance(0.25) ? Kind::weights
                   : random_.chance(0.8)  ? Kind::window
                                          : Kind::idle;
        in_.row = sent_ < shape_.rows ? static_cast<std::uint32_t>(sent_) : random_.integer(0, shape_.rows - 1);
        ++sent_;
        const bool extreme = random_.chance(0.2), largest = random_.chance(0.1);
        const std::int8_t end = random_.chance(0.8) ? -128 : 127;
        for (std::int8_t& byte : in_.bytes)
            byte = largest   ? end
                   : extreme ? (random_.chance(0.8) ? -128 : 127)
                             : static_cast<std::int8_t>(static_cast<int>(random_.integer(0, 255)) - 128);
        return in_;
    }

private:
    sched::DotProductShape shape_;
    RandomSource random_;
    hw::DotProductInput in_;
    std::uint64_t sent_ = 0;
};

/// Passes of any size, stride and band, with any pixels. The widest rows, the most rows, the first and the last band
/// and the largest stride that the RTL's inputs hold occur more often than others.
class LinePasses {
public:
    LinePasses(std::uint32_t side, std::uint32_t max_width, std::uint32_t max_height, std::uint64_t seed)
        : side_(side), max_width_(max_width), max_height_(max_height), random_(seed, side) {}

    /// The next pass, and how many pixels it has: those of its rows, and as many behind them as push out the last
    /// window.
    std::uint64_t begin(hw::LineBufferPass& pass) {
        sched::Convolution layer;
        layer.side = side_;
        layer.stride = random_.chance(0.1) ? random_.integer(4, kMaxStride) : random_.integer(1, 3);
        layer.height = random_.chance(0.1) ? max_height_ : random_.integer(1, 9);
        layer.width = random_.chance(0.2) ? max_width_ : random_.integer(1, 9);
        const std::uint32_t end = layer.output_height();
        const std::uint32_t first = random_.chance(0.3)   ? 0
                                    : random_.chance(0.5) ? end - 1
                                                          : random_.integer(0, end - 1);
        const sched::RowBand band =
            sched::row_band(layer, first, random_.chance(0.5) ? end : random_.integer(first + 1, end));
        pass = hw::LineBufferPass::of(layer, band);
        pass.zero = pixel();
        return pass.fill + sched::pass_cycles(layer, band).stream;
    }
    std::int8_t pixel() { return static_cast<std::int8_t>(static_cast<int>(random_.integer(0, 255)) - 128); }
    bool pauses() { return random_.chance(0.1); }

private:
    static constexpr std::uint32_t kMaxStride = 7;  // STRIDE_WIDTH

    std::uint32_t side_, max_width_, max_height_;
    RandomSource random_;
};

/// A line buffer in RTL against the model: passes one after another, with pauses. "" or what is wrong. `windows`: how
/// many left.
template <class Rtl>
std::string line_buffer_differs(Rtl& rtl, LinePasses& passes, std::uint32_t side, int count, std::uint64_t& windows) {
    hw::CycleLineBuffer model;
    std::vector<std::int8_t> expected(std::size_t{side} * side), got(expected.size());
    for (int p = 0; p < count; ++p) {
        hw::LineBufferPass pass;
        const std::uint64_t pixels = passes.begin(pass);
        model.begin(pass);
        rtl.begin(pass);
        for (std::uint64_t n = 0; n < pixels; ++n) {
            if (passes.pauses() && rtl.idle()) return "a window leaves without a pixel";
            const std::int8_t pixel = passes.pixel();
            const bool is_window = model.step(pixel, expected.data());
            if (rtl.step(pixel, got.data()) != is_window) return "windows differ";
            if (is_window && got != expected) return "a window's pixels differ";
            windows += is_window ? 1 : 0;
        }
    }
    return "";
}

/// rtl/dot_product_array/requantiser.sv against hw::quantised_output(). `Top`: the Verilated class.
template <class Top>
class RequantiserBench : private rtl::ClockedModel<Top> {
    using Model = rtl::ClockedModel<Top>;

public:
    RequantiserBench() {
        this->top_.valid_i = 0;
        this->reset();
    }
    /// "" or what is wrong.
    std::string run(std::uint64_t seed, std::uint64_t cycles) {
        RandomSource random(seed, 4);
        std::deque<std::pair<bool, std::int8_t>> expected{{false, 0}, {false, 0}, {false, 0}};
        Top& top = this->top_;
        for (std::uint64_t i = 0; i < cycles; ++i) {
            hw::QuantisedMultiplier used{static_cast<std::int32_t>(random.integer(0, 0x7FFFFFFF) >>
                                                                   (random.chance(0.2) ? random.integer(0, 30) : 0)),
                                         random.chance(0.3) ? random.integer(0, 2) : random.integer(0, 31)};
            // Small sums, in which ties are frequent, and any.
            std::int32_t accumulator =
                static_cast<std::int32_t>(random.integer(0, 0xFFFFFFFF) >> random.integer(0, 31));
            if (random.chance(0.5)) accumulator = static_cast<std::int32_t>(~static_cast<std::uint32_t>(accumulator));
            if (random.chance(0.1)) accumulator = beside_power(random);
            if (random.chance(0.3)) used.m0 = 1 << 30;
            if (random.chance(0.1)) used.m0 = std::max(0, beside_power(random));
            if (random.chance(0.02)) {
                // The last product below a tie.
                accumulator = 1;
                used = {(1 << 30) - 1, 0};
            }
            const auto offset = static_cast<std::int8_t>(static_cast<int>(random.integer(0, 255)) - 128);
            const bool valid = random.chance(0.9);
            top.valid_i = valid;
            top.accumulator_i = static_cast<std::uint32_t>(accumulator);
            top.multiplier_i = static_cast<std::uint32_t>(used.m0);
            top.shift_i = static_cast<std::uint8_t>(used.shift);
            top.offset_i = static_cast<std::uint8_t>(offset);
            Model::settle();
            const auto [is_due, value] = expected.front();
            expected.pop_front();
            if ((top.valid_o != 0) != is_due) return "cycle " + std::to_string(i) + ": valid differs";
            if (is_due && static_cast<std::int8_t>(top.result_o) != value)
                return "cycle " + std::to_string(i) + ": the result differs";
            expected.emplace_back(valid, hw::quantised_output(accumulator, used, offset));
            Model::clock();
        }
        return "";
    }
    void save_coverage(const std::string& file) const { Model::save_coverage(file); }

private:
    /// A power of two, or one more or less, of either sign, with the ends of the range: at these a carry goes far.
    static std::int32_t beside_power(RandomSource& random) {
        const std::int64_t value = (std::int64_t{1} << random.integer(0, 31)) + random.integer(0, 2) - std::int64_t{1};
        return static_cast<std::int32_t>(
            std::clamp<std::int64_t>(random.chance(0.5) ? value : -value, INT32_MIN, INT32_MAX));
    }
};

}  // namespace switchyard::testing
