// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/cycle_core.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/hw/numerics/fp16.h"

namespace switchyard::hw {

CycleCore::CycleCore(unsigned rows, unsigned columns, unsigned accumulators, bool acc_fp16)
    : rows_(rows),
      columns_(columns),
      accumulators_(accumulators),
      acc_fp16_(acc_fp16),
      sums_(std::size_t{2} * rows * columns * accumulators),
      chains_(std::size_t{rows} * columns),
      waves_(std::size_t{rows} + columns),
      beats_(columns) {}

void CycleCore::step(const ArrayInput& in, ArrayOutput& out) {
    const ArrayState::Set& draining = sets_[drain_set_];
    out.in_ready = !fresh_ || !sets_[feed_set_].busy;
    out.out_valid = beats_left_ > 0 || (draining.filled && draining.wait == 0);
    accept(in, in.valid && out.in_ready);
    take(in.out_ready && out.out_valid);
    shift_chains(out);
    multiply();
    ++cycle_;
}

void CycleCore::accept(const ArrayInput& in, bool accepted) {
    for (ArrayState::Set& set : sets_) set.wait -= set.wait > 0;
    Wave& wave = waves_[cycle_ % waves_.size()];
    wave.valid = accepted;
    if (!accepted) return;
    wave.first = in.first;
    wave.has_values = in.has_values;
    wave.set = feed_set_;
    wave.accumulator = in.accumulator;
    wave.rows = in.rows;
    wave.column_begin = in.column_begin;
    wave.column_end = in.column_end;
    if (in.has_values) {
        multiply_until_ = cycle_ + rows_ + columns_ - 1;
        wave.row_operands = in.row_operands;
        wave.column_operands = in.column_operands;
    }
    ArrayState::Set& set = sets_[feed_set_];
    set.busy = true;
    fresh_ = in.last;
    if (!in.last) return;
    set.filled = true;
    set.wait = in.rows - 1;
    set.rows = in.rows;
    set.accumulators = in.accumulators;
    feed_set_ ^= 1;
}

void CycleCore::take(bool taken) {
    Beat& beat = beats_[cycle_ % beats_.size()];
    beat.valid = taken;
    if (!taken) return;
    shift_until_ = cycle_ + columns_;
    ArrayState::Set& set = sets_[drain_set_];
    beat.load = beats_left_ == 0;
    beat.set = drain_set_;
    beat.accumulator = drain_accumulator_;
    if (!beat.load) {
        --beats_left_;
        return;
    }
    beats_left_ = set.rows - 1;
    if (++drain_accumulator_ < set.accumulators) return;
    drain_accumulator_ = 0;
    set.busy = set.filled = false;
    drain_set_ ^= 1;
}

void CycleCore::shift_chains(ArrayOutput& out) {
    std::fill(out.lane_valid.begin(), out.lane_valid.end(), std::uint8_t{0});
    if (cycle_ >= shift_until_) return;
    for (unsigned j = 0; j < columns_; ++j) {
        const Beat& beat = this->beat(j);
        if (!beat.valid) continue;
        out.lane_valid[j] = 1;
        // What stands at each row: the accumulator if the chain is loaded, else the chain. It moves up by one.
        const auto here = [&](unsigned i) {
            return beat.load ? sums_[sum_index(i, j, beat.set, beat.accumulator)] : chain(i, j);
        };
        out.lanes[j] = here(0);
        for (unsigned i = 0; i + 1 < rows_; ++i) chain(i, j) = here(i + 1);
    }
}

void CycleCore::multiply() {
    if (cycle_ >= multiply_until_) return;
    for (unsigned age = 0; age + 1 < rows_ + columns_ && age <= cycle_; ++age) {
        const Wave& wave = this->wave(age);
        if (!wave.valid || !wave.has_values) continue;
        const unsigned end = std::min(wave.rows, age + 1);
        for (unsigned i = age - std::min(age, columns_ - 1); i < end; ++i) {
            const unsigned j = age - i;
            if (j < wave.column_begin || j >= wave.column_end) continue;
            std::uint32_t& sum = sums_[sum_index(i, j, wave.set, wave.accumulator)];
            const std::uint32_t before = wave.first ? 0 : sum;
            const std::uint16_t a = wave.row_operands[i], b = wave.column_operands[j];
            sum = acc_fp16_ ? numerics::fma16(a, b, static_cast<std::uint16_t>(before))
                            : numerics::to_bits(numerics::mac32(a, b, numerics::to_float(before)));
        }
    }
}

ArrayState CycleCore::state() const {
    ArrayState state;
    state.columns = columns_;
    state.accumulators = accumulators_;
    state.fresh = fresh_;
    state.feed_set = feed_set_;
    state.drain_set = drain_set_;
    state.drain_accumulator = drain_accumulator_;
    state.beats_left = beats_left_;
    state.sets = sets_;
    state.sums = sums_;
    return state;
}

std::string to_text(const ArrayState& state) {
    std::string text =
        fmt::format("next wave: set {}{}; next beat: set {}, accumulator {}, {} left in the chains", state.feed_set,
                    state.fresh ? " (new block)" : "", state.drain_set, state.drain_accumulator, state.beats_left);
    for (const ArrayState::Set& set : state.sets)
        text += fmt::format("; {}{} rows {} accumulators {} wait {}", set.busy ? "busy" : "free",
                            set.filled ? " filled" : "", set.rows, set.accumulators, set.wait);
    const std::size_t of_a_pe = std::size_t{2} * state.accumulators;
    for (std::size_t i = 0; i < state.sums.size(); ++i) {
        const std::size_t pe = i / of_a_pe;
        if (i % of_a_pe == 0) text += fmt::format("\nPE ({}, {}):", pe / state.columns, pe % state.columns);
        if (i % state.accumulators == 0) text += i % of_a_pe == 0 ? " set 0" : " set 1";
        text += fmt::format(" {:08x}", state.sums[i]);
    }
    return text + "\n";
}

}  // namespace switchyard::hw
