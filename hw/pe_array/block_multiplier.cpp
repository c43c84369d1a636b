// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/block_multiplier.h"

#include <algorithm>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {
namespace {

using numerics::kTileColumns;
using numerics::kTileRows;

/// Most weights that are kept gathered, unless one tile of columns has more.
constexpr std::size_t kGatheredFloats = std::size_t{1} << 16;

}  // namespace

void BlockMultiplier::multiply(const PeWorkExtension& work, bool acc_fp16) {
    acc_fp16_ = acc_fp16;
    channelwise_ = work.channelwise;
    read_operands(work);
    for (std::uint64_t n = 0; n < work.repeats; ++n) {
        if (channelwise_)
            multiply_one_by_one(work.addresses[n]);
        else
            multiply_block(work.addresses[n]);
    }
}

void BlockMultiplier::read_operands(const PeWorkExtension& work) {
    inputs_.clear();
    weights_.clear();
    window_range_ = {};
    steps_.kernel = nullptr;
    for (std::uint64_t n = 0; n < work.repeats; ++n) include(work.addresses[n]);
    if (inputs_.load(memory_)) changed_ = true;
    if (weights_.load(memory_)) gathered_.clear();
    laid_out_for_ = nullptr;
}

void BlockMultiplier::read_steps(const KernelAddresses& kernel) {
    if (steps_.kernel == &kernel || !steps_.read(kernel)) return;
    gathered_.clear();
    changed_ = true;
}

void BlockMultiplier::include(const BlockAddresses& block) {
    read_steps(*block.kernel);
    AddressRange inputs, channels, weights;
    for (const Column& column : block.columns) {
        if (!column.wanted()) continue;
        channels.include(channelwise_ ? column.input : 0);
        weights.include(column.weights);
    }
    for (const Row& row : block.rows) {
        if (!row.wanted()) continue;
        inputs.include(row.input);
        window_range_.include(row, *block.kernel);
    }
    if (inputs.empty() || weights.empty()) return;
    inputs_.include(inputs.first + channels.first + steps_.inputs.first,
                    inputs.last + channels.last + steps_.inputs.last);
    weights_.include(weights.first + steps_.weights.first, weights.last + steps_.weights.last);
}

void BlockMultiplier::multiply_block(const BlockAddresses& block) {
    read_steps(*block.kernel);
    if (!find_windows(block)) {
        multiply_one_by_one(block);
        return;
    }
    gather_weights(block);
    ResultWriter writer(*block.kernel, memory_);
    for (std::size_t r = 0; r < block.rows.size(); r += kTileRows) {
        const std::size_t rows = std::min<std::size_t>(kTileRows, block.rows.size() - r);
        for (std::size_t c = 0; c < block.columns.size(); c += kTileColumns) multiply_tile(block, r, rows, c, writer);
    }
}

/// False if the inputs of a row do not exist, or do not lie plane behind plane: then results are worked out one by one.
bool BlockMultiplier::find_windows(const BlockAddresses& block) {
    if (laid_out_for_ != block.kernel) {
        laid_out_ = padded_.lay_out(inputs_, steps_, window_range_, changed_);
        laid_out_for_ = block.kernel;
        changed_ = false;
    }
    if (!laid_out_) return false;
    windows_.resize((block.rows.size() + kTileRows - 1) / kTileRows * kTileRows);
    const float* any = nullptr;
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
        windows_[r] = nullptr;
        if (!block.rows[r].wanted()) continue;
        windows_[r] = any = padded_.window(block.rows[r]);
        if (any == nullptr) return false;
    }
    std::fill(windows_.begin() + static_cast<std::ptrdiff_t>(block.rows.size()), windows_.end(), any);
    std::replace(windows_.begin(), windows_.end(), static_cast<const float*>(nullptr), any);
    return any != nullptr;
}

/// The blocks of a command go through the same columns again and again, in one order.
void BlockMultiplier::gather_weights(const BlockAddresses& block) {
    const auto matches = [&block](const Gathered& one) {
        return std::equal(one.columns.begin(), one.columns.end(), block.columns.begin(), block.columns.end(),
                          [](std::int64_t at, const Column& column) {
                              return at == (column.wanted() ? std::int64_t{column.weights} : kZero);
                          });
    };
    for (std::size_t i = 0; i < gathered_.size(); ++i) {
        if (++current_ >= gathered_.size()) current_ = 0;
        if (matches(gathered_[current_])) return;
    }
    const std::size_t steps = block.kernel->steps.size(), tile = steps * kTileColumns;
    const std::size_t size = (block.columns.size() + kTileColumns - 1) / kTileColumns * tile;
    if (gathered_.empty() || (gathered_.size() + 1) * size <= kGatheredFloats) {
        current_ = gathered_.size();
        gathered_.emplace_back();
    } else if (++current_ >= gathered_.size()) {
        current_ = 0;
    }
    gather(block, gathered_[current_], size);
}

void BlockMultiplier::gather(const BlockAddresses& block, Gathered& to, std::size_t size) const {
    const std::vector<std::int32_t>& elements = steps_.weight_elements;
    to.columns.clear();
    to.columns.reserve(block.columns.size());
    to.weights.resize(size);
    for (const Column& column : block.columns) {
        const std::size_t c = to.columns.size();
        float* at = to.weights.data() + c / kTileColumns * elements.size() * kTileColumns + c % kTileColumns;
        to.columns.push_back(column.wanted() ? std::int64_t{column.weights} : kZero);
        const float* const from = weights_.span(column.weights, steps_.weights.first, steps_.weights.last);
        for (const std::int32_t element : elements) {
            if (!column.wanted())
                *at = 0;
            else
                *at = from ? from[element] : weights_[column.weights + 2 * std::int64_t{element}];
            at += kTileColumns;
        }
    }
}

void BlockMultiplier::multiply_tile(const BlockAddresses& block, std::size_t first_row, std::size_t rows,
                                    std::size_t first_column, ResultWriter& writer) const {
    const std::size_t columns = std::min<std::size_t>(kTileColumns, block.columns.size() - first_column);
    const std::size_t steps = steps_.elements.size();
    alignas(64) std::array<float, std::size_t{kTileRows} * kTileColumns> sums;
    const numerics::VectorKernels& kernels = numerics::vector_kernels();
    (acc_fp16_ ? kernels.mac16_tile : kernels.mac32_tile)(sums.data(), &windows_[first_row], padded_.offsets(),
                                                          gathered_[current_].weights.data() + first_column * steps,
                                                          steps, static_cast<unsigned>(columns));
    writer.store({&block.rows[first_row], rows, &block.columns[first_column], columns}, sums.data());
}

void BlockMultiplier::multiply_one_by_one(const BlockAddresses& block) const {
    const KernelAddresses& kernel = *block.kernel;
    for (const Column& column : block.columns) {
        if (!column.wanted()) continue;
        const std::int32_t channel = channelwise_ ? column.input : 0;
        for (const Row& row : block.rows) {
            float sum = 0;
            std::uint16_t sum16 = 0;
            for (const Step& step : kernel.steps) {
                const auto y = static_cast<std::uint32_t>(row.y + step.y),
                           x = static_cast<std::uint32_t>(row.x + step.x);
                const bool stored = y < static_cast<std::uint32_t>(kernel.rows) &&
                                    x < static_cast<std::uint32_t>(kernel.columns) && row.wanted();
                const std::uint16_t a = stored ? inputs_.bits(std::int64_t{row.input} + channel + step.input) : 0,
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

}  // namespace switchyard::hw
