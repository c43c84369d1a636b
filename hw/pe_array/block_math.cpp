// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/block_math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include "switchyard/hw/numerics/channel_steps.h"
#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/hw/pe_array/result_writer.h"

namespace switchyard::hw {
namespace {

using numerics::kTileColumns;
using numerics::kTileRows;
using numerics::narrow;
using numerics::widen;
using Fused = KernelAddresses::Fused;
using Reduce = KernelAddresses::Reduce;

constexpr std::uint16_t kOne = 0x3C00;

bool stored(const KernelAddresses& kernel, const BlockAddresses::Row& row, const KernelAddresses::Step& step) {
    const std::int32_t y = row.y + step.y, x = row.x + step.x;
    return y >= 0 && y < kernel.rows && x >= 0 && x < kernel.columns;
}

std::uint64_t address_of(std::int64_t address) {
    return static_cast<std::uint64_t>(address);  // a negative one is beyond every memory
}

/// Their addresses, of one result.
using Operands = boost::container::small_vector<std::int64_t, 16>;

/// Some columns of vector work, side by side.
class VectorColumns {
public:
    VectorColumns(const BlockAddresses::Column* columns, std::size_t count) : columns_(columns), count_(count) {
        for (std::size_t c = 0; c < count; ++c) {
            first_ = std::min(first_, columns[c].input);
            last_ = std::max(last_, columns[c].input);
        }
        for (std::size_t c = 0; c < count; ++c) offsets_[c] = columns[c].input - first_;
    }

    /// Adds up, or finds the largest of, the operands at these addresses; the first one is taken as it is, so that a
    /// copy keeps the sign of a zero.
    void reduce(const Operands& operands, Reduce reduce, bool acc_fp16, float* sums, OperandMemory& memory) const {
        if (operands.empty()) std::fill(sums, sums + count_, 0.0f);
        std::array<std::uint16_t, kTileColumns> bits;
        std::array<float, kTileColumns> elements;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            load(operands[i], bits.data(), memory);
            numerics::vector_kernels().widen(i == 0 ? sums : elements.data(), bits.data(), count_);
            if (i == 0) continue;
            if (reduce == Reduce::maximum)
                for (std::size_t c = 0; c < count_; ++c)
                    sums[c] = elements[c] > sums[c] || elements[c] != elements[c] ? elements[c] : sums[c];
            else if (acc_fp16)
                for (std::size_t c = 0; c < count_; ++c)
                    sums[c] = widen(numerics::fma16(bits[c], kOne, narrow(sums[c])));
            else
                for (std::size_t c = 0; c < count_; ++c) sums[c] += elements[c];
        }
    }

    /// Of partial sums: always added up in binary32.
    void add_up_wide(const Operands& operands, float* sums, OperandMemory& memory) const {
        for (std::size_t c = 0; c < count_; ++c) {
            sums[c] = 0;
            for (std::size_t i = 0; i < operands.size(); ++i) {
                const std::int64_t address = operands[i] + 2 * std::int64_t{columns_[c].input};
                const float element = memory.load_wide(address_of(address));
                sums[c] = i == 0 ? element : numerics::canonical(sums[c] + element);
            }
        }
    }

private:
    void load(std::int64_t operand, std::uint16_t* bits, OperandMemory& memory) const {
        const std::uint64_t bytes = static_cast<std::uint64_t>(last_ - first_) + sizeof *bits;
        if (const unsigned char* const from = memory.find(address_of(operand + first_), bytes)) {
            for (std::size_t c = 0; c < count_; ++c) std::memcpy(bits + c, from + offsets_[c], sizeof *bits);
        } else {
            for (std::size_t c = 0; c < count_; ++c) bits[c] = memory.load(address_of(operand + columns_[c].input));
        }
    }

    const BlockAddresses::Column* columns_;
    std::size_t count_;
    std::array<std::int32_t, kTileColumns> offsets_;  ///< of each from the first one
    std::int32_t first_ = std::numeric_limits<std::int32_t>::max(), last_ = std::numeric_limits<std::int32_t>::min();
};

void write_result(const KernelAddresses& kernel, const BlockAddresses::Row& row, const BlockAddresses::Column& column,
                  float value, OperandMemory& memory) {
    const std::uint64_t offset = row.output + std::uint64_t{column.output};
    if (kernel.wide_output)
        memory.store_wide(kernel.output + 2 * offset, numerics::canonical(value));
    else
        memory.store(kernel.output + offset, narrow(value));
}

}  // namespace

float largest_factor(const Fused& fused, const BlockAddresses::Row& row, OperandMemory& memory) {
    const std::uint64_t first = fused.address + std::uint64_t{2} * row.sample * fused.count;
    float largest = widen(memory.load(first));
    for (std::uint32_t i = 1; i < fused.count; ++i) {
        const float one = widen(memory.load(first + std::uint64_t{2} * i));
        if (one > largest || one != one) largest = one;
    }
    return largest;
}

float fused_result(const std::vector<Fused>& epilogue, const BlockAddresses::Row& row,
                   const BlockAddresses::Column& column, float value, OperandMemory& memory, std::size_t done) {
    for (; done < epilogue.size(); ++done) {
        const Fused& fused = epilogue[done];
        const auto parameter = [&] { return widen(memory.load(fused.address + std::uint64_t{2} * column.channel)); };
        switch (fused.kind) {
            case Fused::Kind::bias:
                value += parameter();
                break;
            case Fused::Kind::scale:
                value *= parameter();
                break;
            case Fused::Kind::add: {
                const std::uint64_t offset = row.second + std::uint64_t{column.output};
                value += fused.wide ? memory.load_wide(fused.address + 2 * offset)
                                    : widen(memory.load(fused.address + offset));
                break;
            }
            case Fused::Kind::relu:
                value = value <= 0 ? 0 : value;
                break;
            case Fused::Kind::sigmoid:
                value = static_cast<float>(1 / (1 + std::exp(-double{value})));
                break;
            case Fused::Kind::keep:
                memory.store_wide(fused.address + 2 * (row.output + std::uint64_t{column.output}),
                                  numerics::canonical(value));
                break;
            case Fused::Kind::position:
                value +=
                    widen(memory.load(fused.address + 2 * (std::uint64_t{column.channel} * fused.count + row.token)));
                break;
            case Fused::Kind::factor:
                value *= largest_factor(fused, row, memory);
                break;
        }
    }
    return value;
}

std::string address_error(const PeWorkExtension& work) {
    for (std::uint64_t n = 0; n < work.repeats; ++n) {
        const BlockAddresses& block = work.addresses[n];
        if (block.kernel == nullptr) return "expected addresses with a kernel, found none";
        if (block.kernel->steps.size() != work.reduction)
            return fmt::format("expected addresses of {} steps, found {}", work.reduction, block.kernel->steps.size());
        if (block.rows.size() != std::size_t{work.rows} * work.row_outputs ||
            block.columns.size() != std::size_t{work.columns} * work.column_outputs)
            return fmt::format("expected addresses of {} x {} results, found {} x {}", work.rows * work.row_outputs,
                               work.columns * work.column_outputs, block.rows.size(), block.columns.size());
        if (!block.inputs.empty() && block.inputs.size() != block.rows.size() * block.kernel->steps.size())
            return fmt::format("expected inputs of {} rows and {} steps, found {}", block.rows.size(),
                               block.kernel->steps.size(), block.inputs.size());
    }
    return "";
}

std::uint16_t load_input(const BlockAddresses& block, const BlockAddresses::Row& row, std::int32_t column_input,
                         const KernelAddresses::Step& step, OperandMemory& memory) {
    if (!row.wanted() || !stored(*block.kernel, row, step)) return 0;
    return memory.load(address_of(std::int64_t{row.input} + column_input + step.input));
}

std::uint16_t load_weight(const BlockAddresses::Column& column, const KernelAddresses::Step& step,
                          OperandMemory& memory) {
    if (!column.wanted()) return 0;
    return memory.load(address_of(std::int64_t{column.weights} + step.weights));
}

void store_result(const KernelAddresses& kernel, const BlockAddresses::Row& row, const BlockAddresses::Column& column,
                  float value, OperandMemory& memory) {
    if (!row.wanted() || !column.wanted()) return;
    value = fused_result(kernel.epilogue, row, column, value, memory);
    if (kernel.across.kind != KernelAddresses::Across::Kind::none)
        memory.store_wide(kernel.across.kept + 2 * (row.output + std::uint64_t{column.output}),
                          numerics::canonical(value));
    else
        write_result(kernel, row, column, value, memory);
}

void finish_across(const KernelAddresses& kernel, OperandMemory& memory) {
    const KernelAddresses::Across& across = kernel.across;
    if (across.kind == KernelAddresses::Across::Kind::none) return;
    ResultWriter writer(kernel, memory, ResultWriter::Of::across);
    std::vector<float> values(across.columns.size());
    for (const BlockAddresses::Row& row : across.rows) {
        for (std::size_t c = 0; c < values.size(); ++c)
            values[c] = memory.load_wide(across.kept + 2 * (row.output + std::uint64_t{across.columns[c].output}));
        if (across.kind == KernelAddresses::Across::Kind::layer_norm)
            numerics::normalise(values.data(), values.size());
        else
            numerics::softmax(values.data(), values.size());
        for (std::size_t c = 0; c < values.size(); c += kTileColumns)
            writer.store({&row, 1, &across.columns[c], std::min<std::size_t>(kTileColumns, values.size() - c)},
                         &values[c]);
    }
}

void reduce_block(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory) {
    const KernelAddresses& kernel = *block.kernel;
    const std::size_t steps = kernel.steps.size();
    ResultWriter writer(kernel, memory);
    Operands operands;  // of a row, those that exist
    alignas(64) std::array<float, std::size_t{kTileRows} * kTileColumns> sums;
    const auto reduce_row = [&](std::size_t r, const VectorColumns& columns, std::size_t count, float* to) {
        const BlockAddresses::Row& row = block.rows[r];
        operands.clear();
        for (std::size_t s = 0; s < steps; ++s) {
            const KernelAddresses::Step& step = kernel.steps[s];
            const std::int32_t base = block.inputs.empty() ? row.input + step.input : block.inputs[r * steps + s];
            if (base != BlockAddresses::kAbsent && stored(kernel, row, step)) operands.push_back(base);
        }
        if (kernel.wide_inputs)
            columns.add_up_wide(operands, to, memory);
        else
            columns.reduce(operands, kernel.reduce, acc_fp16, to, memory);
        if (kernel.reduce == Reduce::mean)
            for (std::size_t c = 0; c < count; ++c) to[c] /= static_cast<float>(steps);
    };
    for (std::size_t first = 0; first < block.columns.size(); first += kTileColumns) {
        const std::size_t count = std::min<std::size_t>(kTileColumns, block.columns.size() - first);
        const VectorColumns columns(&block.columns[first], count);
        for (std::size_t r = 0; r < block.rows.size(); r += kTileRows) {
            const std::size_t rows = std::min<std::size_t>(kTileRows, block.rows.size() - r);
            for (std::size_t i = 0; i < rows; ++i)
                if (block.rows[r + i].wanted()) reduce_row(r + i, columns, count, &sums[i * kTileColumns]);
            writer.store({&block.rows[r], rows, &block.columns[first], count}, sums.data());
        }
    }
}

}  // namespace switchyard::hw
