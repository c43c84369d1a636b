// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/stepped_pe_array.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {
namespace {

/// Cycles in which a core has a wave or the result of a block before it and neither takes the one nor gives the other:
/// more than a wave takes through any array.
constexpr std::uint64_t kPatience = 4096;

}  // namespace

SteppedPeArray::SteppedPeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                               const MakeCore& make_core)
    : PeArray(name, config, registry),
      core_(make_core(this->name())),
      in_(config.rows, config.columns),
      out_(config.columns),
      beats_(config.columns) {}

std::uint64_t SteppedPeArray::run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t idle_cycles) {
    read_rate_ = traffic.read_bytes_per_cycle;
    write_rate_ = traffic.write_bytes_per_cycle;
    in_.valid = false;
    const std::uint64_t idle_end = cycle_ + idle_cycles;
    while (cycle_ < idle_end && !drained()) cycle();
    cycle_ = idle_end;
    stalled_ = 0;

    const std::uint64_t begin = cycle_;
    if (work.first) fetched_ = (cycle_ + traffic.latency_cycles) * read_rate_;
    const bool multiplies = work.addresses != nullptr && !attends(work);
    for (std::uint64_t n = 0; n < work.repeats; ++n) feed(work, multiplies ? work.addresses + n : nullptr, traffic);
    if (work.last) {
        in_.valid = false;
        while (!drained()) cycle();
        cycle_ = std::max(cycle_, ceil_div(written_, write_rate_));
    }
    return cycle_ - begin;
}

void SteppedPeArray::feed(const PeWorkExtension& work, const BlockAddresses* addresses, const Traffic& traffic) {
    const std::uint32_t passes = work.row_outputs * work.column_outputs;
    const std::uint64_t step_bytes = traffic.read_bytes / work.reduction;
    const int columns = work.channelwise ? static_cast<int>(work.columns) : 0;
    for (std::uint32_t step = 0; step < work.reduction; ++step) {
        const std::uint64_t ready = fetch(step_bytes);
        in_.valid = false;
        while (cycle_ < ready) cycle();
        bool begun = false;
        for (std::uint32_t pass = 0; pass < passes; ++pass) {
            for (int column = columns == 0 ? -1 : 0; column < columns; ++column) {
                prepare_wave(work, addresses, step, pass / work.column_outputs, pass % work.column_outputs, column);
                in_.last = step + 1 == work.reduction && pass + 1 == passes && column + 1 >= columns;
                if (in_.last) {
                    Draining block;
                    block.rows = work.rows;
                    block.columns = work.columns;
                    block.beat_bytes = std::uint64_t{work.columns} * work.result_bytes;
                    block.row_outputs = work.row_outputs;
                    block.column_outputs = work.column_outputs;
                    if (addresses != nullptr) {
                        block.kernel = addresses->kernel;
                        block.row_addresses = addresses->rows;
                        block.column_addresses = addresses->columns;
                    }
                    draining_.push_back(std::move(block));
                }
                do {
                    cycle();
                } while (!out_.in_ready);
                if (!begun) step_begin_ = cycle_ - 1;
                begun = true;
            }
        }
    }
}

std::uint64_t SteppedPeArray::fetch(std::uint64_t step_bytes) {
    fetched_ = std::max(fetched_, step_begin_ * read_rate_) + step_bytes;
    return (fetched_ - 1) / read_rate_;
}

void SteppedPeArray::prepare_wave(const PeWorkExtension& work, const BlockAddresses* addresses, std::uint32_t step,
                                  std::uint32_t r, std::uint32_t c, int column) {
    in_.valid = true;
    in_.first = step == 0;
    in_.accumulator = r * work.column_outputs + c;
    in_.rows = work.rows;
    in_.accumulators = work.row_outputs * work.column_outputs;
    in_.column_begin = column < 0 ? 0 : static_cast<std::uint32_t>(column);
    in_.column_end = column < 0 ? work.columns : in_.column_begin + 1;
    in_.has_values = addresses != nullptr;
    if (addresses == nullptr) return;
    const KernelAddresses::Step& at = addresses->kernel->steps[step];
    const std::int32_t channel = column < 0 ? 0 : addresses->columns[in_.column_begin * work.column_outputs + c].input;
    for (std::uint32_t i = 0; i < work.rows; ++i)
        in_.row_operands[i] = load_input(*addresses, addresses->rows[i * work.row_outputs + r], channel, at, memory());
    for (std::uint32_t j = in_.column_begin; j < in_.column_end; ++j)
        in_.column_operands[j] = load_weight(addresses->columns[j * work.column_outputs + c], at, memory());
}

void SteppedPeArray::cycle() {
    in_.out_ready = written_ < (cycle_ + 1) * write_rate_;
    core_->step(in_, out_);
    Beat& beat = beats_[stepped_ % beats_.size()];
    beat.valid = out_.out_valid && in_.out_ready;
    if (beat.valid) {
        if (beat_block_ - first_draining_ >= draining_.size())
            fault("out_valid: expected results of a block that has ended, found those of one that has not");
        Draining& block = draining_[beat_block_ - first_draining_];
        lanes_until_ = stepped_ + beats_.size();
        beat.block = beat_block_;
        beat.index = block.beats++;
        written_ = std::max(written_, cycle_ * write_rate_) + block.beat_bytes;
        if (block.beats == block.all_beats()) {
            block.end = cycle_ + block.columns;
            ++beat_block_;
        }
    }
    const bool owes = in_.valid || (in_.out_ready && beat_block_ - first_draining_ < draining_.size());
    stalled_ = beat.valid || (in_.valid && out_.in_ready) ? 0 : stalled_ + (owes ? 1 : 0);
    if (stalled_ > kPatience)
        fault(fmt::format("{}: expected progress within {} cycles, found none", in_.valid ? "in_ready" : "out_valid",
                          kPatience));
    collect_lanes();
    ++stepped_;
    ++cycle_;
    while (!draining_.empty() && first_draining_ < beat_block_ && draining_.front().end <= cycle_) {
        draining_.pop_front();
        ++first_draining_;
    }
}

void SteppedPeArray::collect_lanes() {
    if (stepped_ >= lanes_until_) {
        if (std::any_of(out_.lane_valid.begin(), out_.lane_valid.end(), [](std::uint8_t valid) { return valid != 0; }))
            fault("lane_valid: expected no result, as no block drains, found one");
        return;
    }
    for (std::uint32_t j = 0; j < beats_.size() && j <= stepped_; ++j) {
        const Beat& beat = beats_[(stepped_ - j) % beats_.size()];
        if (beat.valid != (out_.lane_valid[j] != 0))
            fault(fmt::format("lane_valid[{}]: expected {} of the column, found {}", j,
                              beat.valid ? "a result" : "no result", beat.valid ? "none" : "one"));
        if (!beat.valid || beat.block < first_draining_) continue;
        const Draining& block = draining_[beat.block - first_draining_];
        if (block.kernel != nullptr && j < block.columns) write_result(block, beat.index, j, out_.lanes[j]);
    }
}

void SteppedPeArray::write_result(const Draining& block, std::uint32_t beat, std::uint32_t column, std::uint32_t bits) {
    const std::uint32_t row = beat % block.rows, accumulator = beat / block.rows;
    const auto& row_address = block.row_addresses[row * block.row_outputs + accumulator / block.column_outputs];
    const auto& column_address =
        block.column_addresses[column * block.column_outputs + accumulator % block.column_outputs];
    const float value = acc_fp16() ? numerics::widen(static_cast<std::uint16_t>(bits)) : numerics::to_float(bits);
    store_result(*block.kernel, row_address, column_address, value, memory());
}

void SteppedPeArray::fault(const std::string& message) {
    throw RtlFault(fmt::format("cycle {} of the array: {}", stepped_, message + core_->evidence()));
}

bool SteppedPeArray::drained() const {
    return draining_.empty();
}

}  // namespace switchyard::hw
