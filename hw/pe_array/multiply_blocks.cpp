// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {
namespace {

using Row = BlockAddresses::Row;
using Column = BlockAddresses::Column;
using Step = KernelAddresses::Step;

constexpr unsigned kRowTile = 4, kColumnTile = 8;  // sums in flight: enough to hide the latency of an addition

struct Range {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
    void include(std::int64_t value) {
        first = std::min(first, value);
        last = std::max(last, value);
    }
    bool empty() const { return first > last; }
};

/// Elements of an operand of all blocks of a command, read at once and widened.
class Region {
public:
    void include(std::int64_t first, std::int64_t last) {
        addresses_.include(first);
        addresses_.include(last);
    }
    void load(OperandMemory& memory) {
        if (addresses_.empty()) return;
        first_ = std::max<std::int64_t>(addresses_.first, 0);  // windows begin in the padding
        const auto count = static_cast<std::size_t>(std::max(addresses_.last, first_) - first_) / 2 + 1;
        bits_.resize(count);
        bits_.resize(memory.load(static_cast<std::uint64_t>(first_), bits_.data(), count));
        values_.resize(bits_.size());
        numerics::widen_row(values_.data(), bits_.data(), bits_.size());
    }
    float operator[](std::int64_t address) const { return values_[index(address)]; }
    std::uint16_t bits(std::int64_t address) const { return bits_[index(address)]; }

private:
    std::size_t index(std::int64_t address) const {
        const std::size_t index = static_cast<std::size_t>(address - first_) / 2;  // of one before the first: huge
        if (index >= bits_.size()) throw std::runtime_error(fmt::format("no operand at {:#x}", address));
        return index;
    }

    Range addresses_;
    std::int64_t first_ = 0;
    std::vector<std::uint16_t> bits_;
    std::vector<float> values_;
};

/// The operands of a command and the work space of its blocks.
class BlockMultiplier {
public:
    BlockMultiplier(const PeWorkExtension& work, bool acc_fp16, OperandMemory& memory)
        : acc_fp16_(acc_fp16), channelwise_(work.channelwise), memory_(memory) {
        for (std::uint64_t n = 0; n < work.repeats; ++n) include(work.addresses[n]);
        inputs_.load(memory);
        weights_.load(memory);
    }

    void multiply(const BlockAddresses& block) {
        steps_ = block.kernel->steps.size();
        if (acc_fp16_ || channelwise_) return multiply_one_by_one(block);
        for (std::size_t c = 0; c < block.columns.size(); c += kColumnTile) {
            const std::size_t columns = std::min<std::size_t>(kColumnTile, block.columns.size() - c);
            gather_weights(*block.kernel, &block.columns[c], columns);
            for (std::size_t r = 0; r < block.rows.size(); r += kRowTile)
                multiply_tile(block, r, std::min<std::size_t>(kRowTile, block.rows.size() - r), c, columns);
        }
    }

private:
    void include(const BlockAddresses& block) {
        Range inputs, channels, weights, step_inputs, step_weights;
        for (const Step& step : block.kernel->steps) {
            step_inputs.include(step.input);
            step_weights.include(step.weights);
        }
        for (const Column& column : block.columns) {
            if (column.output == BlockAddresses::kUnwanted) continue;
            channels.include(channelwise_ ? column.input : 0);
            weights.include(column.weights);
        }
        for (const Row& row : block.rows)
            if (row.output != BlockAddresses::kUnwanted) inputs.include(row.input);
        if (inputs.empty() || weights.empty()) return;
        inputs_.include(inputs.first + channels.first + step_inputs.first,
                        inputs.last + channels.last + step_inputs.last);
        weights_.include(weights.first + step_weights.first, weights.last + step_weights.last);
    }

    static constexpr std::int64_t kZero = std::numeric_limits<std::int64_t>::min();
    /// Address of the input of a step, or kZero.
    static std::int64_t input_address(const KernelAddresses& kernel, const Row& row, std::int32_t channel,
                                      const Step& step) {
        const auto y = static_cast<std::uint32_t>(row.y + step.y), x = static_cast<std::uint32_t>(row.x + step.x);
        const bool stored = y < static_cast<std::uint32_t>(kernel.rows) &&
                            x < static_cast<std::uint32_t>(kernel.columns) && row.output != BlockAddresses::kUnwanted;
        return stored ? std::int64_t{row.input} + channel + step.input : kZero;
    }

    void gather_weights(const KernelAddresses& kernel, const Column* columns, std::size_t count) {
        tile_weights_.assign(steps_ * kColumnTile, 0);
        for (std::size_t s = 0; s < steps_; ++s)
            for (std::size_t c = 0; c < count; ++c)
                if (columns[c].output != BlockAddresses::kUnwanted)
                    tile_weights_[s * kColumnTile + c] = weights_[columns[c].weights + kernel.steps[s].weights];
    }

    void multiply_tile(const BlockAddresses& block, std::size_t first_row, std::size_t rows, std::size_t first_column,
                       std::size_t columns) {
        tile_inputs_.assign(steps_ * kRowTile, 0);
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t s = 0; s < steps_; ++s) {
                const std::int64_t at =
                    input_address(*block.kernel, block.rows[first_row + r], 0, block.kernel->steps[s]);
                if (at != kZero) tile_inputs_[s * kRowTile + r] = inputs_[at];
            }
        }
        std::array<std::array<float, kColumnTile>, kRowTile> sums{};
        const float *a = tile_inputs_.data(), *b = tile_weights_.data();
        for (std::size_t s = 0; s < steps_; ++s, a += kRowTile, b += kColumnTile)
            for (unsigned r = 0; r < kRowTile; ++r)
                for (unsigned c = 0; c < kColumnTile; ++c) sums[r][c] += a[r] * b[c];
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c)
                store_result(*block.kernel, block.rows[first_row + r], block.columns[first_column + c],
                             numerics::canonical(sums[r][c]), memory_);
    }

    void multiply_one_by_one(const BlockAddresses& block) {
        const KernelAddresses& kernel = *block.kernel;
        for (const Column& column : block.columns) {
            if (column.output == BlockAddresses::kUnwanted) continue;
            const std::int32_t channel = channelwise_ ? column.input : 0;
            for (const Row& row : block.rows) {
                float sum = 0;
                std::uint16_t sum16 = 0;
                for (const Step& step : kernel.steps) {
                    const std::int64_t at = input_address(kernel, row, channel, step);
                    const std::uint16_t a = at == kZero ? 0 : inputs_.bits(at),
                                        b = weights_.bits(column.weights + step.weights);
                    if (acc_fp16_)
                        sum16 = numerics::fma16(a, b, sum16);
                    else
                        sum = numerics::mac32(a, b, sum);
                }
                store_result(kernel, row, column, acc_fp16_ ? numerics::widen(sum16) : sum, memory_);
            }
        }
    }

    bool acc_fp16_, channelwise_;
    OperandMemory& memory_;
    Region inputs_, weights_;
    std::size_t steps_ = 0;
    std::vector<float> tile_inputs_, tile_weights_;  ///< [step][row], [step][column] of a tile
};

}  // namespace

void multiply_blocks(const PeWorkExtension& work, bool acc_fp16, OperandMemory& memory) {
    BlockMultiplier multiplier(work, acc_fp16, memory);
    for (std::uint64_t n = 0; n < work.repeats; ++n) multiplier.multiply(work.addresses[n]);
}

}  // namespace switchyard::hw
