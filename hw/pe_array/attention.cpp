// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/pe_array/attention.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "switchyard/hw/numerics/channel_steps.h"
#include "switchyard/hw/numerics/fp16.h"
#include "switchyard/hw/pe_array/block_math.h"

namespace switchyard::hw {
namespace {

/// Products added up as in a PE.
class Sum {
public:
    explicit Sum(bool acc_fp16) : acc_fp16_(acc_fp16) {}
    void add(std::uint16_t a, std::uint16_t b) {
        if (acc_fp16_)
            half_ = numerics::fma16(a, b, half_);
        else
            single_ = numerics::mac32(a, b, single_);
    }
    float value() const { return acc_fp16_ ? numerics::widen(half_) : single_; }

private:
    bool acc_fp16_;
    std::uint16_t half_ = 0;
    float single_ = 0;
};

/// A row's head: its elements, and what its query pays attention to.
class Head {
public:
    Head(const KernelAddresses::Attention& attention, std::int64_t first, OperandMemory& memory)
        : attention_(attention), first_(first), memory_(memory) {}

    /// Probability of each token, binary16, for the query of `token`.
    std::vector<std::uint16_t> probabilities(std::int64_t token, bool acc_fp16) const {
        const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(attention_.head_channels)));
        const std::int64_t channels = attention_.head_channels;
        std::vector<float> scores;
        for (std::uint32_t j = 0; j < attention_.tokens; ++j) {
            Sum sum(acc_fp16);
            for (std::int64_t c = 0; c < channels; ++c) sum.add(element(c, token), element(channels + c, j));
            scores.push_back(sum.value() * scale);
        }
        numerics::softmax(scores.data(), scores.size());
        std::vector<std::uint16_t> result;
        result.reserve(scores.size());
        for (const float score : scores) result.push_back(numerics::narrow(score));
        return result;
    }

    /// The value of a token whose channel begins `channel` bytes behind the head's first query.
    std::uint16_t value(std::int64_t channel, std::uint32_t token) const {
        return memory_.load(
            static_cast<std::uint64_t>(first_ + channel + token * std::int64_t{attention_.token_bytes}));
    }

private:
    std::uint16_t element(std::int64_t channel, std::int64_t token) const {
        return memory_.load(
            static_cast<std::uint64_t>(first_ + channel * attention_.channel_bytes + token * attention_.token_bytes));
    }

    const KernelAddresses::Attention& attention_;
    std::int64_t first_;
    OperandMemory& memory_;
};

}  // namespace

void attend_block(const BlockAddresses& block, bool acc_fp16, OperandMemory& memory) {
    const KernelAddresses::Attention& attention = block.kernel->attention;
    for (const BlockAddresses::Row& row : block.rows) {
        if (row.output == BlockAddresses::kUnwanted) continue;
        std::map<std::int32_t, std::vector<std::uint16_t>> known;  // probabilities of the row's heads
        for (const BlockAddresses::Column& column : block.columns) {
            if (column.output == BlockAddresses::kUnwanted) continue;
            const Head head(attention, std::int64_t{row.input} + column.input, memory);
            const auto [at, added] = known.try_emplace(column.input);
            if (added) at->second = head.probabilities(row.y, acc_fp16);
            Sum sum(acc_fp16);
            for (std::uint32_t j = 0; j < attention.tokens; ++j) sum.add(at->second[j], head.value(column.weights, j));
            store_result(*block.kernel, row, column, sum.value(), memory);
        }
    }
}

}  // namespace switchyard::hw
