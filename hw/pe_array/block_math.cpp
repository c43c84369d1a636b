// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/block_math.h"

#include <cmath>

#include <fmt/format.h>

#include "switchyard/hw/numerics/channel_steps.h"
#include "switchyard/hw/numerics/fp16.h"

namespace switchyard::hw {
namespace {

using numerics::narrow;
using numerics::widen;
using Fused = KernelAddresses::Fused;
using Reduce = KernelAddresses::Reduce;

constexpr std::uint16_t kOne = 0x3C00;

bool wanted(const BlockAddresses::Row& row) {
    return row.output != BlockAddresses::kUnwanted;
}

bool stored(const KernelAddresses& kernel, const BlockAddresses::Row& row, const KernelAddresses::Step& step) {
    const std::int32_t y = row.y + step.y, x = row.x + step.x;
    return y >= 0 && y < kernel.rows && x >= 0 && x < kernel.columns;
}

std::uint64_t address_of(std::int64_t address) {
    return static_cast<std::uint64_t>(address);  // a negative one is beyond every memory
}

/// The first accumulator holds the first element itself, so that a copy keeps the sign of a zero.
float reduced(Reduce reduce, bool first, bool acc_fp16, float sum, std::uint16_t element) {
    if (first) return widen(element);
    if (reduce == Reduce::maximum)
        return widen(element) > sum || widen(element) != widen(element) ? widen(element) : sum;
    return acc_fp16 ? widen(numerics::fma16(element, kOne, narrow(sum))) : numerics::mac32(element, kOne, sum);
}

/// Of a vector whose sum is one, the probability of what was chosen.
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
                   const BlockAddresses::Column& column, float value, OperandMemory& memory, std::size_t done = 0) {
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

void write_result(const KernelAddresses& kernel, const BlockAddresses::Row& row, const BlockAddresses::Column& column,
                  float value, OperandMemory& memory) {
    const std::uint64_t offset = row.output + std::uint64_t{column.output};
    if (kernel.wide_output)
        memory.store_wide(kernel.output + 2 * offset, numerics::canonical(value));
    else
        memory.store(kernel.output + offset, narrow(value));
}

}  // namespace

std::string address_error(const PeWorkExtension& work) {
    for (std::uint64_t n = 0; n < work.repeats; ++n) {
        const BlockAddresses& block = work.addresses[n];
        if (block.kernel == nullptr) return "addresses without a kernel";
        if (block.kernel->steps.size() != work.reduction)
            return fmt::format("addresses of {} steps of {}", block.kernel->steps.size(), work.reduction);
        if (block.rows.size() != std::size_t{work.rows} * work.row_outputs ||
            block.columns.size() != std::size_t{work.columns} * work.column_outputs)
            return fmt::format("addresses of {} x {} results of {} x {}", block.rows.size(), block.columns.size(),
                               work.rows * work.row_outputs, work.columns * work.column_outputs);
        if (!block.inputs.empty() && block.inputs.size() != block.rows.size() * block.kernel->steps.size())
            return fmt::format("{} inputs of {} rows and {} steps", block.inputs.size(), block.rows.size(),
                               block.kernel->steps.size());
    }
    return "";
}

std::uint16_t load_input(const BlockAddresses& block, const BlockAddresses::Row& row, std::int32_t column_input,
                         const KernelAddresses::Step& step, OperandMemory& memory) {
    if (!wanted(row) || !stored(*block.kernel, row, step)) return 0;
    return memory.load(address_of(std::int64_t{row.input} + column_input + step.input));
}

std::uint16_t load_weight(const BlockAddresses::Column& column, const KernelAddresses::Step& step,
                          OperandMemory& memory) {
    if (column.output == BlockAddresses::kUnwanted) return 0;
    return memory.load(address_of(std::int64_t{column.weights} + step.weights));
}

void store_result(const KernelAddresses& kernel, const BlockAddresses::Row& row, const BlockAddresses::Column& column,
                  float value, OperandMemory& memory, std::size_t done) {
    if (!wanted(row) || column.output == BlockAddresses::kUnwanted) return;
    value = fused_result(kernel.epilogue, row, column, value, memory, done);
    if (kernel.across.kind != KernelAddresses::Across::Kind::none)
        memory.store_wide(kernel.across.kept + 2 * (row.output + std::uint64_t{column.output}),
                          numerics::canonical(value));
    else
        write_result(kernel, row, column, value, memory);
}

void finish_across(const KernelAddresses& kernel, OperandMemory& memory) {
    const KernelAddresses::Across& across = kernel.across;
    if (across.kind == KernelAddresses::Across::Kind::none) return;
    std::vector<float> values(across.columns.size());
    for (const BlockAddresses::Row& row : across.rows) {
        for (std::size_t c = 0; c < values.size(); ++c)
            values[c] = memory.load_wide(across.kept + 2 * (row.output + std::uint64_t{across.columns[c].output}));
        if (across.kind == KernelAddresses::Across::Kind::layer_norm)
            numerics::normalise(values.data(), values.size());
        else
            numerics::softmax(values.data(), values.size());
        for (std::size_t c = 0; c < values.size(); ++c) {
            const BlockAddresses::Column& column = across.columns[c];
            write_result(kernel, row, column, fused_result(across.epilogue, row, column, values[c], memory), memory);
        }
    }
}

void reduce_block(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory) {
    const KernelAddresses& kernel = *block.kernel;
    const std::size_t steps = kernel.steps.size();
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
        const BlockAddresses::Row& row = block.rows[r];
        if (!wanted(row)) continue;
        for (const BlockAddresses::Column& column : block.columns) {
            float sum = 0;
            bool first = true;
            for (std::size_t s = 0; s < steps; ++s) {
                const KernelAddresses::Step& step = kernel.steps[s];
                const std::int32_t base = block.inputs.empty() ? row.input + step.input : block.inputs[r * steps + s];
                if (base == BlockAddresses::kAbsent || !stored(kernel, row, step)) continue;
                if (kernel.wide_inputs) {  // partial sums: always added up in binary32
                    const float element = memory.load_wide(address_of(std::int64_t{base} + 2 * column.input));
                    sum = first ? element : numerics::canonical(sum + element);
                    first = false;
                    continue;
                }
                const std::uint16_t element = memory.load(address_of(std::int64_t{base} + column.input));
                sum = reduced(kernel.reduce, first, acc_fp16, sum, element);
                first = false;
            }
            if (kernel.reduce == Reduce::mean) sum /= static_cast<float>(steps);
            store_result(kernel, row, column, sum, memory);
        }
    }
}

}  // namespace switchyard::hw
