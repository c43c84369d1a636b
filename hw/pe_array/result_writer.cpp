// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/result_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {
namespace {

using Column = KernelAddresses::Column;
using Fused = KernelAddresses::Fused;
using Row = KernelAddresses::Row;
using numerics::kTileColumns;

}  // namespace

void ResultWriter::find_extent(const Tile& tile) {
    if (extent_.columns == tile.columns && extent_.count == tile.count) return;
    extent_.columns = tile.columns;
    extent_.count = tile.count;
    extent_.first = tile.columns[0].output;
    std::uint32_t last = 0;
    for (std::size_t c = 0; c < tile.count; ++c) {
        extent_.first = std::min(extent_.first, tile.columns[c].output);
        last = std::max(last, tile.columns[c].output);
    }
    extent_.all_wanted = last != KernelAddresses::kUnwanted;
    extent_.bytes = last - extent_.first + static_cast<std::uint32_t>(sizeof(std::uint16_t));
    for (std::size_t c = 0; c < tile.count; ++c) extent_.offsets[c] = tile.columns[c].output - extent_.first;
}

ResultWriter::Place ResultWriter::find(std::uint64_t address, const Tile& tile, std::uint32_t Row::*offset) {
    if (!extent_.all_wanted) return {};
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max(), most = 0;
    for (std::size_t r = 0; r < tile.row_count; ++r) {
        if (!tile.rows[r].wanted()) continue;
        least = std::min(least, tile.rows[r].*offset);
        most = std::max(most, tile.rows[r].*offset);
    }
    if (least > most) return {};
    return {memory_.find(address + least + extent_.first, std::uint64_t{most} - least + extent_.bytes), least};
}

const float* ResultWriter::parameters(std::size_t step, const Tile& tile) {
    for (const Parameters& one : known_)
        if (one.columns == tile.columns && one.step == step) return one.values.data();
    Parameters& one = known_.emplace_back();
    one.columns = tile.columns;
    one.step = step;
    for (std::size_t c = 0; c < tile.count; ++c)
        if (tile.columns[c].wanted())
            one.values[c] =
                numerics::widen(memory_.load(epilogue_[step].address + std::uint64_t{2} * tile.columns[c].channel));
    return one.values.data();
}

void ResultWriter::add(const Fused& fused, const Tile& tile, Values& values) {
    const Place place = find(fused.address, tile, &Row::second);
    float* row_values = values.data();
    for (std::size_t r = 0; r < tile.row_count; ++r, row_values += tile.count) {
        const Row& row = tile.rows[r];
        if (!row.wanted()) continue;
        if (place.at == nullptr) {
            for (std::size_t c = 0; c < tile.count; ++c)
                if (tile.columns[c].wanted())
                    row_values[c] += numerics::widen(
                        memory_.load(fused.address + row.second + std::uint64_t{tile.columns[c].output}));
            continue;
        }
        const unsigned char* const from = place.at + (row.second - place.least);
        std::array<std::uint16_t, kTileColumns> bits;
        std::array<float, kTileColumns> second;
        for (std::size_t c = 0; c < tile.count; ++c) std::memcpy(&bits[c], from + extent_.offsets[c], sizeof bits[c]);
        numerics::vector_kernels().widen(second.data(), bits.data(), tile.count);
        for (std::size_t c = 0; c < tile.count; ++c) row_values[c] += second[c];
    }
}

bool ResultWriter::fuse(std::size_t step, const Tile& tile, Values& values) {
    const Fused& fused = epilogue_[step];
    const auto for_rows = [&](auto&& operation) {
        float* row_values = values.data();
        for (std::size_t r = 0; r < tile.row_count; ++r, row_values += tile.count)
            if (tile.rows[r].wanted()) operation(tile.rows[r], row_values);
    };
    const auto for_results = [&](const float* operands, auto&& operation) {
        for_rows([&](const Row&, float* row_values) {
            for (std::size_t c = 0; c < tile.count; ++c) row_values[c] = operation(row_values[c], operands[c]);
        });
    };
    switch (fused.kind) {
        case Fused::Kind::bias:
            for_results(parameters(step, tile), [](float v, float bias) { return v + bias; });
            return true;
        case Fused::Kind::scale:
            for_results(parameters(step, tile), [](float v, float scale) { return v * scale; });
            return true;
        case Fused::Kind::relu:
            for (std::size_t i = 0; i < tile.row_count * tile.count; ++i) values[i] = values[i] <= 0 ? 0 : values[i];
            return true;
        case Fused::Kind::add:
            if (fused.wide) return false;
            add(fused, tile, values);
            return true;
        case Fused::Kind::position:
            for_rows([&](const Row& row, float* row_values) {
                for (std::size_t c = 0; c < tile.count; ++c)
                    if (tile.columns[c].wanted())
                        row_values[c] += numerics::widen(memory_.load(
                            fused.address + 2 * (std::uint64_t{tile.columns[c].channel} * fused.count + row.token)));
            });
            return true;
        case Fused::Kind::factor:
            for_rows([&](const Row& row, float* row_values) {
                const float factor = largest_factor(fused, row, memory_);
                for (std::size_t c = 0; c < tile.count; ++c) row_values[c] *= factor;
            });
            return true;
        case Fused::Kind::sigmoid:
        case Fused::Kind::keep:
            return false;
    }
    return false;
}

void ResultWriter::store(const Tile& tile, const float* values, std::size_t distance) {
    find_extent(tile);
    alignas(64) Values results;
    for (std::size_t r = 0; r < tile.row_count; ++r) {
        const bool wanted = tile.rows[r].wanted();  // otherwise it has no values
        for (std::size_t c = 0; c < tile.count; ++c)
            results[r * tile.count + c] = wanted ? numerics::canonical(values[r * distance + c]) : 0;
    }
    std::size_t step = 0;
    while (step < epilogue_.size() && fuse(step, tile, results)) ++step;
    for (std::size_t r = 0; r < tile.row_count && step < epilogue_.size(); ++r) {
        for (std::size_t c = 0; c < tile.count; ++c) {
            float& result = results[r * tile.count + c];
            if (tile.rows[r].wanted() && tile.columns[c].wanted())
                result = fused_result(epilogue_, tile.rows[r], tile.columns[c], result, memory_, step);
        }
    }
    if (wide_)
        write_wide(tile, results);
    else
        write(tile, results);
}

void ResultWriter::write(const Tile& tile, const Values& results) {
    const Place place = find(output_, tile, &Row::output);
    std::array<std::uint16_t, std::tuple_size_v<Values>> bits;
    numerics::vector_kernels().narrow(bits.data(), results.data(), tile.row_count * tile.count);
    const std::uint16_t* row_bits = bits.data();
    for (std::size_t r = 0; r < tile.row_count; ++r, row_bits += tile.count) {
        const Row& row = tile.rows[r];
        if (!row.wanted()) continue;
        if (place.at == nullptr) {
            for (std::size_t c = 0; c < tile.count; ++c)
                if (tile.columns[c].wanted()) memory_.store(output_ + row.output + tile.columns[c].output, row_bits[c]);
            continue;
        }
        unsigned char* const to = place.at + (row.output - place.least);
        for (std::size_t c = 0; c < tile.count; ++c)
            std::memcpy(to + extent_.offsets[c], row_bits + c, sizeof *row_bits);
    }
}

void ResultWriter::write_wide(const Tile& tile, const Values& results) {
    for (std::size_t r = 0; r < tile.row_count; ++r) {
        if (!tile.rows[r].wanted()) continue;
        const std::uint64_t address = output_ + std::uint64_t{2} * tile.rows[r].output;
        for (std::size_t c = 0; c < tile.count; ++c)
            if (tile.columns[c].wanted())
                memory_.store_wide(address + std::uint64_t{2} * tile.columns[c].output,
                                   numerics::canonical(results[r * tile.count + c]));
    }
}

}  // namespace switchyard::hw
