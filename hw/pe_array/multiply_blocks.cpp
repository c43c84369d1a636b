// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/hw/pe_array/block_math.h"
#include "switchyard/hw/pe_array/result_writer.h"

namespace switchyard::hw {
namespace {

using Row = BlockAddresses::Row;
using Column = BlockAddresses::Column;
using Step = KernelAddresses::Step;

using numerics::kTileColumns;
using numerics::kTileRows;

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
        numerics::vector_kernels().widen(values_.data(), bits_.data(), bits_.size());
    }
    float operator[](std::int64_t address) const { return values_[index(address)]; }
    std::uint16_t bits(std::int64_t address) const { return bits_[index(address)]; }
    /// Of an element, if it and all from `before` bytes before it to `behind` bytes behind it are there; else null.
    const float* span(std::int64_t address, std::int64_t before, std::int64_t behind) const {
        const std::int64_t bytes = 2 * static_cast<std::int64_t>(values_.size());
        if (address + before < first_ || address + behind - first_ >= bytes) return nullptr;
        return values_.data() + (address - first_) / 2;
    }

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

/// What the steps of a kernel have in common for all rows and columns.
struct Steps {
    /// Steps at the same filter row and column.
    struct Place {
        std::int32_t y = 0, x = 0;
        std::vector<std::uint32_t> steps;
    };
    const KernelAddresses* kernel = nullptr;
    Range inputs, weights;               ///< offsets
    Range y, x;                          ///< filter rows and columns
    std::vector<std::int32_t> elements;  ///< of each step, where its input lies from the window's corner
    std::vector<Place> places;
    bool rising = true;  ///< inputs of the steps of a place, in their order

    void read(const KernelAddresses& from) {
        if (kernel == &from) return;
        *this = {};
        kernel = &from;
        elements.reserve(from.steps.size());
        for (const Step& step : from.steps) {
            inputs.include(step.input);
            weights.include(step.weights);
            y.include(step.y);
            x.include(step.x);
            auto place = std::find_if(places.begin(), places.end(),
                                      [&step](const Place& one) { return one.y == step.y && one.x == step.x; });
            if (place == places.end()) place = places.insert(place, {step.y, step.x, {}});
            rising = rising && (place->steps.empty() || elements[place->steps.back()] <= step.input / 2);
            place->steps.push_back(static_cast<std::uint32_t>(elements.size()));
            elements.push_back(step.input / 2);
        }
    }
    bool stored(const Row& row, const Place& place) const {
        const std::int32_t at_y = row.y + place.y, at_x = row.x + place.x;
        return at_y >= 0 && at_y < kernel->rows && at_x >= 0 && at_x < kernel->columns;
    }
    /// No step of the row meets the padding.
    bool all_stored(const Row& row) const {
        return row.y + y.first >= 0 && row.y + y.last < kernel->rows && row.x + x.first >= 0 &&
               row.x + x.last < kernel->columns;
    }
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
        if (channelwise_) return multiply_one_by_one(block);
        steps_.read(*block.kernel);
        gather_weights(block);
        ResultWriter writer(*block.kernel, memory_);
        for (std::size_t r = 0; r < block.rows.size(); r += kTileRows) {
            const std::size_t rows = std::min<std::size_t>(kTileRows, block.rows.size() - r);
            find_inputs(block, r, rows);
            for (std::size_t c = 0; c < block.columns.size(); c += kTileColumns)
                multiply_tile(block, r, rows, c, writer);
        }
    }

private:
    void include(const BlockAddresses& block) {
        steps_.read(*block.kernel);
        Range inputs, channels, weights;
        for (const Column& column : block.columns) {
            if (column.output == BlockAddresses::kUnwanted) continue;
            channels.include(channelwise_ ? column.input : 0);
            weights.include(column.weights);
        }
        for (const Row& row : block.rows)
            if (row.output != BlockAddresses::kUnwanted) inputs.include(row.input);
        if (inputs.empty() || weights.empty()) return;
        inputs_.include(inputs.first + channels.first + steps_.inputs.first,
                        inputs.last + channels.last + steps_.inputs.last);
        weights_.include(weights.first + steps_.weights.first, weights.last + steps_.weights.last);
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

    /// Those of a block are often those of the block before it.
    void gather_weights(const BlockAddresses& block) {
        const auto weights_of = [](const Column& column) {
            return column.output == BlockAddresses::kUnwanted ? kZero : std::int64_t{column.weights};
        };
        const bool known = gathered_kernel_ == block.kernel && gathered_.size() == block.columns.size() &&
                           std::equal(gathered_.begin(), gathered_.end(), block.columns.begin(),
                                      [&](std::int64_t at, const Column& column) { return at == weights_of(column); });
        if (known) return;
        gathered_kernel_ = block.kernel;
        gathered_.clear();
        for (const Column& column : block.columns) gathered_.push_back(weights_of(column));
        const std::vector<Step>& steps = block.kernel->steps;
        const std::size_t tile = steps.size() * kTileColumns;
        tile_weights_.assign((gathered_.size() + kTileColumns - 1) / kTileColumns * tile, 0);
        for (std::size_t c = 0; c < gathered_.size(); ++c) {
            if (gathered_[c] == kZero) continue;
            float* to = tile_weights_.data() + c / kTileColumns * tile + c % kTileColumns;
            if (const float* const from = weights_.span(gathered_[c], steps_.weights.first, steps_.weights.last)) {
                for (std::size_t s = 0; s < steps.size(); ++s) to[s * kTileColumns] = from[steps[s].weights / 2];
            } else {
                for (std::size_t s = 0; s < steps.size(); ++s)
                    to[s * kTileColumns] = weights_[gathered_[c] + steps[s].weights];
            }
        }
    }

    /// Rows whose inputs are all stored are read where they lie. If one of the tile meets the padding, all are copied.
    void find_inputs(const BlockAddresses& block, std::size_t first, std::size_t rows) {
        const KernelAddresses& kernel = *block.kernel;
        bool in_place = true;
        row_inputs_.fill(nullptr);
        for (std::size_t r = 0; r < rows && in_place; ++r) {
            const Row& row = block.rows[first + r];
            if (row.output == BlockAddresses::kUnwanted) continue;
            if (steps_.all_stored(row))
                row_inputs_[r] = inputs_.span(row.input, steps_.inputs.first, steps_.inputs.last);
            in_place = row_inputs_[r] != nullptr;
        }
        const auto any =
            std::find_if(row_inputs_.begin(), row_inputs_.end(), [](const float* at) { return at != nullptr; });
        if (in_place && any != row_inputs_.end()) {
            for (const float*& at : row_inputs_)
                if (at == nullptr) at = *any;  // whatever it gives is not wanted
            offsets_ = steps_.elements.data();
            return;
        }
        const std::size_t steps = kernel.steps.size();
        tile_inputs_.resize(steps * kTileRows);
        for (std::size_t r = 0; r < kTileRows; ++r) {
            float* const to = tile_inputs_.data() + r * steps;
            if (r < rows && block.rows[first + r].output != BlockAddresses::kUnwanted)
                copy_inputs(block.rows[first + r], to);
            else
                std::fill(to, to + steps, 0.0f);
        }
        for (std::size_t r = 0; r < kTileRows; ++r) row_inputs_[r] = tile_inputs_.data() + r * steps;
        for (std::size_t s = in_order_.size(); s < steps; ++s) in_order_.push_back(static_cast<std::int32_t>(s));
        offsets_ = in_order_.data();
    }

    /// Of all steps, zeros in the padding.
    void copy_inputs(const Row& row, float* to) const {
        for (const Steps::Place& place : steps_.places) {
            if (!steps_.stored(row, place)) {
                for (const std::uint32_t s : place.steps) to[s] = 0;
                continue;
            }
            const std::int64_t low = 2 * std::int64_t{steps_.elements[place.steps.front()]},
                               high = 2 * std::int64_t{steps_.elements[place.steps.back()]};
            if (const float* const from = steps_.rising ? inputs_.span(row.input, low, high) : nullptr) {
                for (const std::uint32_t s : place.steps) to[s] = from[steps_.elements[s]];
            } else {
                for (const std::uint32_t s : place.steps)
                    to[s] = inputs_[std::int64_t{row.input} + 2 * std::int64_t{steps_.elements[s]}];
            }
        }
    }

    void multiply_tile(const BlockAddresses& block, std::size_t first_row, std::size_t rows, std::size_t first_column,
                       ResultWriter& writer) {
        const std::size_t columns = std::min<std::size_t>(kTileColumns, block.columns.size() - first_column);
        const std::size_t steps = block.kernel->steps.size();
        alignas(64) std::array<float, std::size_t{kTileRows} * kTileColumns> sums;
        const numerics::VectorKernels& kernels = numerics::vector_kernels();
        (acc_fp16_ ? kernels.mac16_tile : kernels.mac32_tile)(sums.data(), row_inputs_.data(), offsets_,
                                                              tile_weights_.data() + first_column * steps, steps,
                                                              static_cast<unsigned>(columns));
        for (std::size_t r = 0; r < rows; ++r)
            writer.store(block.rows[first_row + r], &block.columns[first_column], columns, &sums[r * kTileColumns]);
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
    Steps steps_;
    const KernelAddresses* gathered_kernel_ = nullptr;
    std::vector<std::int64_t> gathered_;  ///< addresses of the columns' weights in tile_weights_, or kZero
    std::vector<float> tile_weights_;     ///< [tile of columns][step][column]
    std::vector<float> tile_inputs_;      ///< [row][step] of a tile of rows that meets the padding
    std::array<const float*, kTileRows> row_inputs_{};
    const std::int32_t* offsets_ = nullptr;  ///< of each step, from row_inputs_
    std::vector<std::int32_t> in_order_;     ///< 0, 1, 2 ...
};

}  // namespace

void multiply_blocks(const PeWorkExtension& work, bool acc_fp16, OperandMemory& memory) {
    BlockMultiplier multiplier(work, acc_fp16, memory);
    for (std::uint64_t n = 0; n < work.repeats; ++n) multiplier.multiply(work.addresses[n]);
}

}  // namespace switchyard::hw
