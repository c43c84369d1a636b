// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/result_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {

using Column = KernelAddresses::Column;
using Fused = KernelAddresses::Fused;

const ResultWriter::Extent& ResultWriter::extent(const Column* columns, std::size_t count) {
    if (extent_.columns == columns && extent_.count == count) return extent_;
    extent_ = {columns, count, columns[0].output, 0, true};
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
        extent_.first = std::min(extent_.first, columns[i].output);
        last = std::max(last, columns[i].output);
    }
    extent_.all_wanted = last != BlockAddresses::kUnwanted;
    extent_.bytes = last - extent_.first + static_cast<std::uint32_t>(sizeof(std::uint16_t));
    return extent_;
}

unsigned char* ResultWriter::find(std::uint64_t address, const Column* columns, std::size_t count) {
    const Extent& of = extent(columns, count);
    return of.all_wanted ? memory_.find(address + of.first, of.bytes) : nullptr;
}

const float* ResultWriter::parameters(std::size_t step, const Column* columns, std::size_t count) {
    for (const Parameters& one : known_)
        if (one.columns == columns && one.step == step) return one.values.data();
    Parameters& one = known_.emplace_back();
    one.columns = columns;
    one.step = step;
    for (std::size_t i = 0; i < count; ++i)
        if (columns[i].output != BlockAddresses::kUnwanted)
            one.values[i] =
                numerics::widen(memory_.load(epilogue_[step].address + std::uint64_t{2} * columns[i].channel));
    return one.values.data();
}

bool ResultWriter::fuse(std::size_t step, const KernelAddresses::Row& row, const Column* columns, std::size_t count,
                        float* values) {
    const Fused& fused = epilogue_[step];
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
            if (const unsigned char* const at = find(fused.address + row.second, columns, count)) {
                std::array<std::uint16_t, numerics::kTileColumns> bits;
                std::array<float, numerics::kTileColumns> second;
                for (std::size_t i = 0; i < count; ++i)
                    std::memcpy(&bits[i], at + (columns[i].output - extent_.first), sizeof bits[i]);
                numerics::vector_kernels().widen(second.data(), bits.data(), count);
                for (std::size_t i = 0; i < count; ++i) values[i] += second[i];
                return true;
            }
            for (std::size_t i = 0; i < count; ++i)
                if (columns[i].output != BlockAddresses::kUnwanted)
                    values[i] +=
                        numerics::widen(memory_.load(fused.address + row.second + std::uint64_t{columns[i].output}));
            return true;
        case Fused::Kind::position:
            for (std::size_t i = 0; i < count; ++i)
                if (columns[i].output != BlockAddresses::kUnwanted)
                    values[i] += numerics::widen(memory_.load(
                        fused.address + 2 * (std::uint64_t{columns[i].channel} * fused.count + row.token)));
            return true;
        case Fused::Kind::factor: {
            const float factor = largest_factor(fused, row, memory_);
            for (std::size_t i = 0; i < count; ++i) values[i] *= factor;
            return true;
        }
        case Fused::Kind::sigmoid:
        case Fused::Kind::keep:
            return false;
    }
    return false;
}

void ResultWriter::store(const KernelAddresses::Row& row, const Column* columns, std::size_t count,
                         const float* values) {
    if (row.output == BlockAddresses::kUnwanted) return;
    alignas(64) std::array<float, numerics::kTileColumns> results;
    for (std::size_t i = 0; i < count; ++i) results[i] = numerics::canonical(values[i]);
    std::size_t step = 0;
    while (step < epilogue_.size() && fuse(step, row, columns, count, results.data())) ++step;
    if (step < epilogue_.size()) {
        for (std::size_t i = 0; i < count; ++i)
            if (columns[i].output != BlockAddresses::kUnwanted)
                results[i] = fused_result(epilogue_, row, columns[i], results[i], memory_, step);
    }
    if (wide_)
        write_wide(output_ + std::uint64_t{2} * row.output, columns, count, results.data());
    else
        write(output_ + std::uint64_t{row.output}, columns, count, results.data());
}

void ResultWriter::write(std::uint64_t address, const Column* columns, std::size_t count, const float* results) {
    std::array<std::uint16_t, numerics::kTileColumns> narrow;
    numerics::vector_kernels().narrow(narrow.data(), results, count);
    if (unsigned char* const at = find(address, columns, count)) {
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(at + (columns[i].output - extent_.first), &narrow[i], sizeof narrow[i]);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        if (columns[i].output != BlockAddresses::kUnwanted) memory_.store(address + columns[i].output, narrow[i]);
}

void ResultWriter::write_wide(std::uint64_t address, const Column* columns, std::size_t count, const float* results) {
    for (std::size_t i = 0; i < count; ++i)
        if (columns[i].output != BlockAddresses::kUnwanted)
            memory_.store_wide(address + std::uint64_t{2} * columns[i].output, numerics::canonical(results[i]));
}

}  // namespace switchyard::hw
