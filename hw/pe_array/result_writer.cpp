// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/result_writer.h"

#include <algorithm>
#include <cstdint>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {

using Column = KernelAddresses::Column;
using Fused = KernelAddresses::Fused;

const float* ResultWriter::parameters(std::size_t step, const Column* columns, std::size_t count) {
    for (const Parameters& one : known_)
        if (one.columns == columns && one.step == step) return one.values.data();
    Parameters& one = known_.emplace_back();
    one.columns = columns;
    one.step = step;
    for (std::size_t i = 0; i < count; ++i)
        if (columns[i].output != BlockAddresses::kUnwanted)
            one.values[i] =
                numerics::widen(memory_.load(kernel_.epilogue[step].address + std::uint64_t{2} * columns[i].channel));
    return one.values.data();
}

bool ResultWriter::fuse(std::size_t step, const KernelAddresses::Row& row, const Column* columns, std::size_t count,
                        float* values) {
    const Fused& fused = kernel_.epilogue[step];
    switch (fused.kind) {
        case Fused::Kind::bias: {
            const float* const bias = parameters(step, columns, count);
            for (std::size_t i = 0; i < count; ++i) values[i] += bias[i];
            return true;
        }
        case Fused::Kind::scale: {
            const float* const scale = parameters(step, columns, count);
            for (std::size_t i = 0; i < count; ++i) values[i] *= scale[i];
            return true;
        }
        case Fused::Kind::relu:
            for (std::size_t i = 0; i < count; ++i) values[i] = values[i] <= 0 ? 0 : values[i];
            return true;
        case Fused::Kind::add:
            if (fused.wide) return false;
            for (std::size_t i = 0; i < count; ++i)
                if (columns[i].output != BlockAddresses::kUnwanted)
                    values[i] +=
                        numerics::widen(memory_.load(fused.address + row.second + std::uint64_t{columns[i].output}));
            return true;
        case Fused::Kind::sigmoid:
        case Fused::Kind::keep:
        case Fused::Kind::position:
        case Fused::Kind::factor:
            return false;
    }
    return false;
}

void ResultWriter::store(const KernelAddresses::Row& row, const Column* columns, std::size_t count,
                         const float* values) {
    if (row.output == BlockAddresses::kUnwanted) return;
    alignas(64) std::array<float, numerics::kTileColumns> results{};
    for (std::size_t i = 0; i < count; ++i) results[i] = numerics::canonical(values[i]);
    std::size_t step = 0;
    while (step < kernel_.epilogue.size() && fuse(step, row, columns, count, results.data())) ++step;
    const bool across = kernel_.across.kind != KernelAddresses::Across::Kind::none;
    if (step < kernel_.epilogue.size() || across || kernel_.wide_output) {
        for (std::size_t i = 0; i < count; ++i) store_result(kernel_, row, columns[i], results[i], memory_, step);
        return;
    }
    std::array<std::uint16_t, numerics::kTileColumns> narrow;
    numerics::vector_kernels().narrow(narrow.data(), results.data(), count);
    const std::uint64_t output = kernel_.output + std::uint64_t{row.output};
    for (std::size_t i = 0; i < count; ++i)
        if (columns[i].output != BlockAddresses::kUnwanted) memory_.store(output + columns[i].output, narrow[i]);
}

}  // namespace switchyard::hw
