// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/pe_array/regression.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "switchyard/hw/pe_array/cycle_core.h"

namespace switchyard::testing {
namespace {

const char* const kClasses[] = {"zero", "subnormal", "normal", "infinity", "NaN"};

std::size_t class_of(std::uint16_t value) {
    const unsigned exponent = value >> 10 & 0x1Fu, fraction = value & 0x3FFu;
    if (exponent == 0) return fraction == 0 ? 0 : 1;
    return exponent < 31 ? 2 : fraction == 0 ? 3 : 4;
}

/// One phase of random stimulus: blocks one after another with given chances of a wave and of room for a beat.
class Stimulus {
public:
    Stimulus(const ArraySize& size, std::mt19937& random)
        : size_(size),
          random_(random),
          in(size.rows, size.columns),
          valid_percent_(random() % 2 == 0 ? 100 : 10 + random() % 80),
          ready_percent_(random() % 2 == 0 ? 100 : 5 + random() % 90),
          longest_(random() % 2 == 0 ? 2 : 12),
          specials_(random() % 2 == 0),
          blocks_left_(1 + random() % 6) {
        begin_block();
    }

    bool done() const { return blocks_left_ == 0; }

    /// The input of the next cycle: a wave that was offered stays until it is taken.
    void offer() {
        in.out_ready = chance(ready_percent_);
        if (in.valid || done()) return;
        in.valid = chance(valid_percent_);
        if (in.valid) make_wave();
    }

    void taken() {
        in.valid = false;
        if (++column_ < columns_) return;
        column_ = 0;
        if (++in.accumulator < in.accumulators) return;
        in.accumulator = 0;
        if (++step_ < reduction_) return;
        --blocks_left_;
        begin_block();
    }

    std::uint32_t reduction() const { return reduction_; }
    bool inside_block() const { return step_ + in.accumulator + column_ > 0; }

private:
    bool chance(unsigned percent) { return random_() % 100 < percent; }
    /// One of 1..most, often one of the ends.
    unsigned upto(unsigned max) {
        const unsigned end = random_() % 4;
        return end == 0 ? 1 : end == 1 ? max : 1 + static_cast<unsigned>(random_() % max);
    }

    void begin_block() {
        in.accumulator = step_ = 0;
        in.rows = upto(size_.rows);
        in.accumulators = upto(size_.accumulators());
        reduction_ = upto(longest_);
        columns_ = random_() % 4 == 0 ? size_.columns : 1;  // channelwise: a wave for each column
    }

    void make_wave() {
        in.first = step_ == 0;
        in.last = step_ + 1 == reduction_ && in.accumulator + 1 == in.accumulators && column_ + 1 == columns_;
        in.column_begin = columns_ == 1 ? 0 : column_;
        in.column_end = columns_ == 1 ? size_.columns : column_ + 1;
        for (std::uint16_t& value : in.row_operands) value = operand();
        for (std::uint16_t& value : in.column_operands) value = operand();
    }

    std::uint16_t operand() {
        const auto bits = static_cast<std::uint16_t>(random_());
        if (!specials_) return static_cast<std::uint16_t>((bits & 0x83FFu) | (10 + random_() % 10) << 10);
        switch (random_() % 24) {
            case 0:
                return bits & 0x8000u;
            case 1:
                return bits & 0x83FFu;
            case 2:
                return static_cast<std::uint16_t>((bits & 0x8000u) | 0x7C00u);
            case 3:
                return bits | 0x7C00u;
            default:
                return bits;
        }
    }

    ArraySize size_;
    std::mt19937& random_;

public:
    hw::ArrayInput in;

private:
    unsigned valid_percent_, ready_percent_, longest_;
    bool specials_;
    unsigned blocks_left_;
    unsigned reduction_ = 1, columns_ = 1, step_ = 0, column_ = 0;
};

std::string difference(const hw::ArrayOutput& model, const hw::ArrayOutput& dut) {
    if (model.in_ready != dut.in_ready) return fmt::format("in_ready is {}", dut.in_ready);
    if (model.out_valid != dut.out_valid) return fmt::format("out_valid is {}", dut.out_valid);
    for (std::size_t j = 0; j < model.lanes.size(); ++j) {
        if (model.lane_valid[j] != dut.lane_valid[j]) return fmt::format("lane_valid[{}] is {}", j, dut.lane_valid[j]);
        if (model.lane_valid[j] != 0 && model.lanes[j] != dut.lanes[j])
            return fmt::format("lane[{}] is {:#x}, not {:#x}", j, dut.lanes[j], model.lanes[j]);
    }
    return "";
}

void cover(const Stimulus& stimulus, const hw::ArrayOutput& out, const hw::ArrayState& before, const ArraySize& size,
           ArrayCoverage& coverage) {
    const hw::ArrayInput& in = stimulus.in;
    const bool wave = in.valid && out.in_ready, beat = out.out_valid && in.out_ready;
    const bool load = before.beats_left == 0;
    const auto &feed = before.sets[before.feed_set], &drain = before.sets[before.drain_set],
               &after = before.sets[1 - before.drain_set];
    coverage.hit("cycle without wave or beat", !in.valid && !out.out_valid);
    coverage.hit("wave and beat in one cycle", wave && beat);
    coverage.hit("gap inside a block", !in.valid && stimulus.inside_block());
    coverage.hit("wave waits for its set", in.valid && !out.in_ready);
    coverage.hit("wave waits for a set that has not begun to drain", in.valid && !out.in_ready && feed.wait > 0);
    coverage.hit("beat offered and not taken: from a set", out.out_valid && !in.out_ready && load);
    coverage.hit("beat offered and not taken: from the chains", out.out_valid && !in.out_ready && !load);
    coverage.hit("beat from a set", beat && load);
    coverage.hit("beat from the chains", beat && !load);
    coverage.hit("set given back", beat && load && before.drain_accumulator + 1 == drain.accumulators);
    coverage.hit("set kept for the next accumulator",
                 beat && load && before.drain_accumulator + 1 < drain.accumulators);
    coverage.hit("both sets filled", drain.filled && after.filled);
    coverage.hit("drain waits for column 0 to finish", drain.filled && drain.wait > 0);
    if (!wave) return;
    const std::string set = fmt::format("set {}", before.feed_set);
    coverage.hit(set + ": free to busy", before.fresh && !in.last);
    coverage.hit(set + ": free to filled", before.fresh && in.last);
    coverage.hit(set + ": busy to busy", !before.fresh && !in.last);
    coverage.hit(set + ": busy to filled", !before.fresh && in.last);
    coverage.hit("wave begins its sum", in.first);
    coverage.hit("wave goes on with its sum", !in.first);
    coverage.hit("wave for all columns", in.column_end - in.column_begin == size.columns);
    coverage.hit("wave for one column", in.column_end - in.column_begin == 1);
    coverage.hit("one row", in.rows == 1);
    coverage.hit("all rows", in.rows == size.rows);
    coverage.hit("one accumulator", in.accumulators == 1);
    coverage.hit("all accumulators", in.accumulators == size.accumulators());
    for (std::size_t i = 0; i < in.rows; ++i)
        coverage.hit(std::string("row operand: ") + kClasses[class_of(in.row_operands[i])]);
    for (std::size_t j = in.column_begin; j < in.column_end; ++j)
        coverage.hit(std::string("column operand: ") + kClasses[class_of(in.column_operands[j])]);
}

}  // namespace

ArrayCoverage::ArrayCoverage() {
    for (const char* point : {"cycle without wave or beat",
                              "wave and beat in one cycle",
                              "gap inside a block",
                              "wave waits for its set",
                              "wave waits for a set that has not begun to drain",
                              "beat offered and not taken: from a set",
                              "beat offered and not taken: from the chains",
                              "beat from a set",
                              "beat from the chains",
                              "set given back",
                              "set kept for the next accumulator",
                              "both sets filled",
                              "drain waits for column 0 to finish",

                              "wave begins its sum",
                              "wave goes on with its sum",
                              "wave for all columns",
                              "wave for one column",
                              "one row",
                              "all rows",
                              "one accumulator",
                              "all accumulators"})
        points_[point] = 0;
    for (const char* set : {"set 0: ", "set 1: "})
        for (const char* arc : {"free to busy", "free to filled", "busy to busy", "busy to filled"})
            points_[std::string(set) + arc] = 0;
    for (const char* side : {"row operand: ", "column operand: "})
        for (const char* name : kClasses) points_[std::string(side) + name] = 0;
}

std::vector<std::string> ArrayCoverage::missed() const {
    std::vector<std::string> names;
    for (const auto& [point, hits] : points_)
        if (hits == 0) names.push_back(point);
    return names;
}

std::string array_regression(hw::ArrayCore& dut, const ArraySize& size, std::uint64_t seed, unsigned phases,
                             ArrayCoverage& coverage) {
    std::mt19937 random(static_cast<unsigned>(seed));
    hw::CycleCore model(size.rows, size.columns, size.accumulators(), size.acc_fp16);
    hw::ArrayOutput model_out(size.columns), dut_out(size.columns);
    std::uint64_t cycle = 0;
    for (unsigned phase = 0; phase < phases; ++phase) {
        Stimulus stimulus(size, random);
        // Phases follow one another closely or with everything drained.
        const unsigned pause = random() % 2 == 0 ? 0 : 40 + size.rows * size.accumulators() * 4;
        for (unsigned idle = 0; !stimulus.done() || idle < pause; ++cycle) {
            stimulus.offer();
            idle += stimulus.done();
            if (stimulus.done()) stimulus.in.out_ready = true;
            const hw::ArrayState before = model.state();
            model.step(stimulus.in, model_out);
            dut.step(stimulus.in, dut_out);
            if (const std::string how = difference(model_out, dut_out); !how.empty())
                return fmt::format("cycle {}, phase {}: {}\nmodel\n{}RTL\n{}", cycle, phase, how,
                                   to_text(model.state()), to_text(dut.state()));
            cover(stimulus, model_out, before, size, coverage);
            if (stimulus.in.valid && model_out.in_ready) stimulus.taken();
        }
    }
    return "";
}

}  // namespace switchyard::testing
