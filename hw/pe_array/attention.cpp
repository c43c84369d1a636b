// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <boost/container/vector.hpp>

#include "switchyard/hw/numerics/channel_steps.h"
#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/numerics/vector_kernels.h"
#include "switchyard/hw/pe_array/result_writer.h"

namespace switchyard::hw {
namespace {

using numerics::kTileColumns;
using numerics::kTileRows;
using Row = BlockAddresses::Row;
using Column = BlockAddresses::Column;

/// Whose new elements have no value until they get one.
using Floats = boost::container::vector<float>;

void resize(Floats& values, std::size_t size) {
    values.resize(size, boost::container::default_init);
}

/// The right factor of a product as the kernels of hw/numerics read it.
class Factor {
public:
    void resize(std::size_t steps, std::size_t columns) {
        steps_ = steps;
        columns_ = columns;
        hw::resize(values_, (columns + kTileColumns - 1) / kTileColumns * kTileColumns * steps);
    }
    std::size_t steps() const { return steps_; }
    std::size_t columns() const { return columns_; }
    float& at(std::size_t step, std::size_t column) {
        return values_[(column / kTileColumns * steps_ + step) * kTileColumns + column % kTileColumns];
    }
    /// Of the columns from `first` on.
    const float* tile(std::size_t first) const { return values_.data() + first * steps_; }

private:
    std::size_t steps_ = 0, columns_ = 0;
    Floats values_;
};

/// A head: the block's columns in it, and its keys and values for the sample that was met last.
struct Head {
    std::int32_t input = 0;  ///< Column::input
    std::vector<Column> columns;
    std::int64_t first = -1;  ///< address of its first query
    Factor keys, values;      ///< [channel][token], [token][column]
};

/// Multiplies queries of up to kTileRows rows of one sample at once.
class AttentionBlock {
public:
    AttentionBlock(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory)
        : attention_(block.kernel->attention), acc_fp16_(acc_fp16), memory_(memory), writer_(*block.kernel, memory) {
        for (const Column& column : block.columns) {
            if (!column.wanted()) continue;
            auto head = std::find_if(heads_.begin(), heads_.end(),
                                     [&column](const Head& one) { return one.input == column.input; });
            if (head == heads_.end()) head = heads_.insert(head, {column.input, {}, -1, {}, {}});
            head->columns.push_back(column);
        }
        offsets_.resize(std::max(attention_.head_channels, attention_.tokens));
        std::iota(offsets_.begin(), offsets_.end(), 0);
    }

    /// At least one row, all of one sample.
    void attend(const std::vector<Row>& rows) {
        for (Head& head : heads_) {
            read(head, std::int64_t{rows.front().input} + head.input);
            queries_.assign(std::size_t{kTileRows} * attention_.head_channels, 0);
            for (std::size_t r = 0; r < rows.size(); ++r)
                load(address_of(head.first, 0, rows[r].y), attention_.channel_bytes, attention_.head_channels,
                     &queries_[r * attention_.head_channels]);
            multiply(queries_, head.keys, probabilities_);
            for (std::size_t r = 0; r < rows.size(); ++r) scale(&probabilities_[r * attention_.tokens]);
            multiply(probabilities_, head.values, results_);
            for (std::size_t k = 0; k < head.columns.size(); k += kTileColumns) {
                const std::size_t columns = std::min<std::size_t>(kTileColumns, head.columns.size() - k);
                writer_.store({rows.data(), rows.size(), &head.columns[k], columns}, &results_[k], head.columns.size());
            }
        }
    }

private:
    std::int64_t address_of(std::int64_t first, std::int64_t channel, std::int64_t token) const {
        return first + channel * attention_.channel_bytes + token * attention_.token_bytes;
    }
    /// `count` elements, `stride` bytes from one to the next.
    void load(std::int64_t address, std::int64_t stride, std::size_t count, float* to) {
        bits_.resize(count);
        const auto first = static_cast<std::uint64_t>(address);
        const unsigned char* const from =
            stride < 0 ? nullptr
                       : memory_.find(first, (count - 1) * static_cast<std::uint64_t>(stride) + sizeof bits_[0]);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t offset = static_cast<std::int64_t>(i) * stride;
            if (from != nullptr)
                std::memcpy(&bits_[i], from + offset, sizeof bits_[i]);
            else
                bits_[i] = memory_.load(static_cast<std::uint64_t>(address + offset));
        }
        numerics::vector_kernels().widen(to, bits_.data(), count);
    }
    void read(Head& head, std::int64_t first) {
        if (head.first == first) return;
        head.first = first;
        const std::uint32_t channels = attention_.head_channels, tokens = attention_.tokens;
        head.keys.resize(channels, tokens);
        head.values.resize(tokens, head.columns.size());
        for (std::uint32_t c = 0; c < channels; ++c)
            for (std::uint32_t j = 0; j < tokens; j += kTileColumns)
                load(address_of(first, std::int64_t{channels} + c, j), attention_.token_bytes,
                     std::min<std::size_t>(kTileColumns, tokens - j), &head.keys.at(c, j));
        resize(value_, tokens);
        for (std::size_t k = 0; k < head.columns.size(); ++k) {
            load(first + head.columns[k].weights, attention_.token_bytes, tokens, value_.data());
            for (std::uint32_t j = 0; j < tokens; ++j) head.values.at(j, k) = value_[j];
        }
    }
    /// to[row][column] = sum over the factor's steps, in their order, of from[row][step] * factor[step][column].
    void multiply(const Floats& from, const Factor& factor, Floats& to) const {
        std::array<const float*, kTileRows> rows{};
        for (std::size_t r = 0; r < kTileRows; ++r) rows[r] = &from[r * factor.steps()];
        resize(to, kTileRows * factor.columns());
        alignas(64) std::array<float, std::size_t{kTileRows} * kTileColumns> sums;
        const numerics::VectorKernels& kernels = numerics::vector_kernels();
        for (std::size_t first = 0; first < factor.columns(); first += kTileColumns) {
            const std::size_t columns = std::min<std::size_t>(kTileColumns, factor.columns() - first);
            (acc_fp16_ ? kernels.mac16_tile : kernels.mac32_tile)(sums.data(), rows.data(), offsets_.data(),
                                                                  factor.tile(first), factor.steps(),
                                                                  static_cast<unsigned>(columns));
            for (std::size_t r = 0; r < kTileRows; ++r)
                for (std::size_t c = 0; c < columns; ++c)
                    to[r * factor.columns() + first + c] = numerics::canonical(sums[r * kTileColumns + c]);
        }
    }
    /// Makes binary16 probabilities of the scores of a row's tokens.
    void scale(float* scores) const {
        const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(attention_.head_channels)));
        for (std::uint32_t j = 0; j < attention_.tokens; ++j) scores[j] *= factor;
        numerics::softmax(scores, attention_.tokens);
        for (std::uint32_t j = 0; j < attention_.tokens; ++j) scores[j] = numerics::widen(numerics::narrow(scores[j]));
    }

    const KernelAddresses::Attention& attention_;
    bool acc_fp16_;
    OperandMemory& memory_;
    ResultWriter writer_;
    std::vector<Head> heads_;
    std::vector<std::int32_t> offsets_;         ///< 0, 1, 2 ...
    Floats queries_, probabilities_, results_;  ///< [row][channel], [row][token], [row][column]
    std::vector<std::uint16_t> bits_;           ///< scratch of load()
    Floats value_;                              ///< scratch of read(): a column's, [token]
};

}  // namespace

void attend_block(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory) {
    AttentionBlock attention(block, acc_fp16, memory);
    std::vector<Row> rows;
    for (const Row& row : block.rows) {
        if (!row.wanted()) continue;
        if (!rows.empty() && (rows.size() == kTileRows || rows.front().input != row.input)) {
            attention.attend(rows);
            rows.clear();
        }
        rows.push_back(row);
    }
    if (!rows.empty()) attention.attend(rows);
}

}  // namespace switchyard::hw
