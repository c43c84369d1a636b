// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/array_timing.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard {
namespace {

constexpr std::int64_t kMinusInfinity = -(std::int64_t{1} << 60);  // the sum of two is still a number

enum Time : std::size_t { kFed, kFetched, kDrained, kReleasedBefore, kReleased, kWritten };

std::int64_t whole(std::uint64_t count) {
    return static_cast<std::int64_t>(count);
}

}  // namespace

ArrayBlock BlockLoop::clipped(ArrayBlock block, std::uint32_t outputs) const {
    (over_columns ? block.columns : block.rows) *= ceil_div(outputs, reg);
    (over_columns ? block.column_outputs : block.row_outputs) *= std::min<std::uint32_t>(reg, outputs);
    return block;
}

/// What one block adds to the times before it.
struct ArrayTimeline::Ticks {
    std::int64_t cycle;
    std::int64_t step_read, later_reads;  // of one step; of all but the first
    std::int64_t step_waves, later_waves;
    std::int64_t to_drain;                     // from the end of the last wave to the first beat
    std::int64_t drain, to_release, to_write;  // from the first beat

    void pass(State& state) const {
        const std::int64_t first_read = state[kFetched] + step_read;
        const std::int64_t first_wave = std::max({state[kFed], first_read - cycle, state[kReleasedBefore]});
        const std::int64_t last_read = std::max(first_read, first_wave) + later_reads;
        const std::int64_t last_step = std::max(first_wave + later_waves, last_read - cycle);
        state[kFed] = last_step + step_waves;
        state[kFetched] = std::max(last_read, last_step);  // operands are fetched one step ahead, not more
        const std::int64_t first_beat = std::max(state[kFed] + to_drain, state[kDrained]);
        state[kDrained] = first_beat + drain;
        state[kReleasedBefore] = state[kReleased];
        state[kReleased] = first_beat + to_release;
        state[kWritten] = std::max(state[kWritten], first_beat + to_write);
    }
};

/// What a sequence of blocks does to any state: column j is the state behind them if only entry j of the one before
/// them ever was, at 0.
struct ArrayTimeline::Matrix {
    std::array<State, std::tuple_size_v<State>> columns;

    static Matrix identity() {
        Matrix matrix;
        for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
            matrix.columns[j].fill(kMinusInfinity);
            matrix.columns[j][j] = 0;
        }
        return matrix;
    }
    State after(const State& before) const {
        State result;
        result.fill(kMinusInfinity);
        for (std::size_t j = 0; j < columns.size(); ++j)
            for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], columns[j][i] + before[j]);
        return result;
    }
    Matrix after(const Matrix& before) const {
        Matrix result;
        for (std::size_t j = 0; j < columns.size(); ++j) result.columns[j] = after(before.columns[j]);
        return result;
    }
    Matrix power(std::uint64_t exponent) const {
        Matrix square = *this;
        for (; exponent % 2 == 0; exponent /= 2) square = square.after(square);
        Matrix result = square;
        while ((exponent /= 2) > 0) {
            square = square.after(square);
            if (exponent % 2 != 0) result = square.after(result);
        }
        return result;
    }
};

ArrayTimeline::ArrayTimeline(const ArrayPorts& ports, std::uint64_t latency_cycles) {
    const std::uint32_t common = std::lcm(ports.read_bytes_per_cycle, ports.write_bytes_per_cycle);
    cycle_ = common;
    read_byte_ = common / ports.read_bytes_per_cycle;
    written_byte_ = common / ports.write_bytes_per_cycle;
    state_ = {0, whole(latency_cycles) * cycle_, 0, 0, 0, 0};
}

void ArrayTimeline::add(const ArrayBlock& block, std::uint64_t repeats) {
    constexpr std::uint64_t kMany = 32;  // take longer than a power
    if (repeats < kMany) {
        const Ticks one = ticks(block);
        for (std::uint64_t n = 0; n < repeats; ++n) one.pass(state_);
    } else {
        state_ = matrix(block).power(repeats).after(state_);
    }
}

void ArrayTimeline::add(const BlockNest& nest, const ArrayBlock& like) {
    if (std::any_of(nest.begin(), nest.end(), [](const BlockLoop& loop) { return loop.extent == 0; })) return;
    ArrayBlock unit = like;
    unit.rows = unit.columns = unit.row_outputs = unit.column_outputs = 1;
    state_ = matrix(nest, 0, unit).after(state_);
}

void ArrayTimeline::hold(std::uint64_t cycle) {
    state_[kFed] = std::max(state_[kFed], whole(cycle) * cycle_);
}

std::uint64_t ArrayTimeline::fed() const {
    return static_cast<std::uint64_t>((state_[kFed] + cycle_ - 1) / cycle_);
}

std::uint64_t ArrayTimeline::written() const {
    return static_cast<std::uint64_t>((state_[kWritten] + cycle_ - 1) / cycle_);
}

ArrayTimeline::Ticks ArrayTimeline::ticks(const ArrayBlock& block) const {
    const std::int64_t later_steps = whole(block.reduction) - 1;
    const std::int64_t write = whole(block.beat_bytes()) * written_byte_, beat = std::max(cycle_, write);
    Ticks ticks;
    ticks.cycle = cycle_;
    ticks.step_read = whole(block.step_bytes()) * read_byte_;
    ticks.later_reads = ticks.step_read * later_steps;
    ticks.step_waves = whole(block.waves()) * cycle_;
    ticks.later_waves = ticks.step_waves * later_steps;
    ticks.to_drain = (whole(block.rows) - 1) * cycle_;
    ticks.drain = whole(block.beats()) * beat;
    ticks.to_release = ticks.drain - whole(block.rows) * beat + cycle_;
    ticks.to_write = ticks.drain - beat + std::max(whole(block.columns) * cycle_, write);
    return ticks;
}

ArrayTimeline::Matrix ArrayTimeline::matrix(const ArrayBlock& block) const {
    const Ticks one = ticks(block);
    Matrix matrix = Matrix::identity();
    for (State& column : matrix.columns) one.pass(column);
    return matrix;
}

ArrayTimeline::Matrix ArrayTimeline::matrix(const BlockNest& nest, std::size_t depth, const ArrayBlock& block) const {
    if (depth == nest.size()) return matrix(block);
    const BlockLoop& loop = nest[depth];
    const auto of_blocks = [&](std::uint32_t outputs) { return matrix(nest, depth + 1, loop.clipped(block, outputs)); };
    if (loop.full() == 0) return of_blocks(loop.rest());
    const Matrix full = of_blocks(loop.block()).power(loop.full());
    return loop.rest() == 0 ? full : of_blocks(loop.rest()).after(full);
}

}  // namespace switchyard
