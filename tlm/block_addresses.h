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
/// Then the epilogue in binary32, one rounding to binary16 unless the result is binary32, and the write to
///   output + row.output + column.output.
struct KernelAddresses {
    /// One product of the reduction: c outermost, then r, then s.
    struct Step {
        std::int32_t input = 0, weights = 0;  ///< byte offsets
        std::int32_t y = 0, x = 0;            ///< filter row and column
    };
    enum class Reduce : std::uint8_t { sum, mean, maximum };

    /// Fused on the way out. v: the result so far.
    struct Fused {
        enum class Kind : std::uint8_t {
            bias,     ///< v + value[address + 2 * column.channel]
            scale,    ///< v * value[address + 2 * column.channel]; with a bias: a folded norm
            add,      ///< v + value[address + row.second + column.output]: second operand, in the output's layout
            relu,     ///< v > 0 ? v : 0; a NaN stays
            sigmoid,  ///< 1 / (1 + exp(-v)), through binary64
            keep      ///< v is written to address + 2 * (row.output + column.output), binary32: a gate's logit
        };
        Kind kind = Kind::relu;
        std::uint32_t address = 0;
        bool wide = false;  ///< add: the second operand is binary32
    };

    std::vector<Step> steps;             ///< `reduction` of them
    std::int32_t rows = 0, columns = 0;  ///< stored input: y in [0, rows), x in [0, columns) exist
    Reduce reduce = Reduce::sum;         ///< vector work only
    std::vector<Fused> epilogue;         ///< in this order
    std::uint32_t output = 0;
    bool wide_inputs = false, wide_output = false;  ///< binary32; inputs: of vector work with BlockAddresses::inputs
};

/// Of one block. The kernel must stay as it is until the invocation's last command has returned, the block's own lists
/// until its command has.
struct BlockAddresses {
    /// A result that is not wanted: the last PE of a dimension may hold fewer than the others.
    static constexpr std::uint32_t kUnwanted = 0xFFFFFFFF;
    /// An operand that does not exist (a source of a merge without the sample).
    static constexpr std::int32_t kAbsent = INT32_MIN;

    struct Row {
        std::int32_t input = 0;     ///< of the window's top left corner, which may lie in the padding
        std::int32_t y = 0, x = 0;  ///< that corner in the stored input
        std::uint32_t output = 0;   ///< or kUnwanted
        std::uint32_t second = 0;   ///< as `output`, for a second operand
    };
    struct Column {
        std::int32_t input = 0;  ///< channelwise and vector work: of the column's own channel
        std::int32_t weights = 0;
        std::uint32_t output = 0;   ///< or kUnwanted
        std::uint32_t channel = 0;  ///< of parameters of the epilogue
    };

    const KernelAddresses* kernel = nullptr;
    std::vector<Row> rows;        ///< rows x row_outputs: PE i holds [i * row_outputs, (i + 1) * row_outputs)
    std::vector<Column> columns;  ///< columns x column_outputs, likewise
    /// Vector work whose operands have no common layout: instead of row.input + step.input, one a (row, step), or
    /// kAbsent. Empty: not used.
    std::vector<std::int32_t> inputs;
};

}  // namespace switchyard
