// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchyard {

/// Where the operands and results of a kernel's blocks lie in the scratchpad: what a command to the PE array needs
/// beside its sizes in order to compute values. Elements are binary16, all addresses scratchpad bytes and even. Partial
/// sums and a gate's logits are binary32: what is 2 bytes from the first binary16 is 4 bytes from the first binary32.
///
/// Multiply-accumulate: result(row, column) = sum over the steps, in their order, from +0, of
///   input[row.input + column.input + step.input] * weight[column.weights + step.weights],
/// with an input of zero where (row.y + step.y, row.x + step.x) is outside the stored rows and columns.
/// Vector work: the same inputs reduced, without weights; an input that is outside or absent does not take part,
/// except that `mean` divides by the number of all steps.
/// Attention: the column's channel of the value tokens, weighted with the softmax of the row's scores
/// (hw/pe_array/attention.h). `steps` have no addresses then, only their number counts.
/// Then the epilogue in binary32, one rounding to binary16 unless the result is binary32, and the write to
///   output + row.output + column.output.
struct KernelAddresses {
    /// A result that is not wanted: the last PE of a dimension may hold fewer than the others.
    static constexpr std::uint32_t kUnwanted = 0xFFFFFFFF;

    /// One product of the reduction: c outermost, then r, then s.
    struct Step {
        std::int32_t input = 0, weights = 0;  ///< byte offsets
        std::int32_t y = 0, x = 0;            ///< filter row and column
    };
    enum class Reduce : std::uint8_t { sum, mean, maximum };

    /// Where a result of a block comes from and goes to: a row stands for a sample, output row and output column, a
    /// column for an output channel.
    struct Row {
        std::int32_t input = 0;     ///< of the window's top left corner, which may lie in the padding
        std::int32_t y = 0, x = 0;  ///< that corner in the stored input; attention: y is the query's token
        std::uint32_t output = 0;   ///< or kUnwanted
        std::uint32_t second = 0;   ///< as `output`, for a second operand
        std::uint32_t sample = 0;   ///< of the operator's samples on this tile
        std::uint32_t token = 0;    ///< of its input, all rows of all its samples counted

        bool wanted() const { return output != kUnwanted; }
    };
    struct Column {
        std::int32_t input = 0;    ///< channelwise and vector work: of the column's own channel; attention: of its head
        std::int32_t weights = 0;  ///< attention: of its channel of the values, from the head's first query on
        std::uint32_t output = 0;  ///< or kUnwanted
        std::uint32_t channel = 0;  ///< of parameters of the epilogue

        bool wanted() const { return output != kUnwanted; }
    };

    /// Fused on the way out. v: the result so far.
    struct Fused {
        enum class Kind : std::uint8_t {
            bias,      ///< v + value[address + 2 * column.channel]
            scale,     ///< v * value[address + 2 * column.channel]; with a bias: a folded norm
            add,       ///< v + value[address + row.second + column.output]: second operand, in the output's layout
            relu,      ///< v > 0 ? v : 0; a NaN stays
            sigmoid,   ///< 1 / (1 + exp(-v)), through binary64
            keep,      ///< v is written to address + 2 * (row.output + column.output), binary32: a gate's logit
            position,  ///< v + value[address + 2 * (column.channel * count + row.token)]: `count` tokens
            factor     ///< v * the largest of the `count` values from address + 2 * row.sample * count on
        };
        Kind kind = Kind::relu;
        std::uint32_t address = 0;
        bool wide = false;        ///< add: the second operand is binary32
        std::uint32_t count = 0;  ///< position, factor
    };

    /// A step that needs all channels of a row at once (hw/numerics/channel_steps.h). What the
    /// epilogue in front of it gives is kept in binary32; when all blocks of the invocation are done, the step is
    /// carried out for each row, and the epilogue behind it makes results of its values.
    struct Across {
        enum class Kind : std::uint8_t { none, layer_norm, softmax };
        Kind kind = Kind::none;
        std::uint32_t kept = 0;  ///< address of the kept values, binary32, in the output's layout
        std::vector<Row> rows;   ///< of the whole invocation
        std::vector<Column> columns;
        std::vector<Fused> epilogue;  ///< behind it, of a layer norm its gains and offsets first
    };

    /// Attention in place of steps: of a row's query over the keys and values of `tokens` tokens, in the column's head.
    /// Channel c of token j, counted from the head's first query, lies at
    ///   row.input + column.input + c * channel_bytes + j * token_bytes.
    struct Attention {
        std::uint32_t tokens = 0;         ///< 0: no attention
        std::uint32_t head_channels = 0;  ///< queries; as many keys follow, then values
        std::int32_t channel_bytes = 0, token_bytes = 0;
    };

    std::vector<Step> steps;             ///< `reduction` of them
    std::int32_t rows = 0, columns = 0;  ///< stored input: y in [0, rows), x in [0, columns) exist
    Reduce reduce = Reduce::sum;         ///< vector work only
    std::vector<Fused> epilogue;         ///< in this order
    Across across;
    Attention attention;
    std::uint32_t output = 0;
    bool wide_inputs = false, wide_output = false;  ///< binary32; inputs: of vector work with BlockAddresses::inputs
};

/// Of one block. The kernel must stay as it is until the invocation's last command has returned, the block's own lists
/// until its command has.
struct BlockAddresses {
    static constexpr std::uint32_t kUnwanted = KernelAddresses::kUnwanted;
    /// An operand that does not exist (a source of a merge without the sample).
    static constexpr std::int32_t kAbsent = INT32_MIN;

    using Row = KernelAddresses::Row;
    using Column = KernelAddresses::Column;

    const KernelAddresses* kernel = nullptr;
    std::vector<Row> rows;        ///< rows x row_outputs: PE i holds [i * row_outputs, (i + 1) * row_outputs)
    std::vector<Column> columns;  ///< columns x column_outputs, likewise
    /// Vector work whose operands have no common layout: instead of row.input + step.input, one a (row, step), or
    /// kAbsent. Empty: not used.
    std::vector<std::int32_t> inputs;
};

}  // namespace switchyard
