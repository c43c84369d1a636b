// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchyard {

/// Instead of the number of an operator, tensor or switch: none.
inline constexpr std::uint16_t kNone = 0xFFFF;

inline constexpr std::uint32_t kElementBytes = 2;      ///< binary16
inline constexpr std::uint32_t kWideElementBytes = 4;  ///< binary32: partial sums, a gate's logits

enum class OpKind : std::uint8_t { convolution, depthwise, matmul, attention, elementwise, pool, norm, merge };

/// Sizes of one sample of an operator. Output: channels x rows x columns; matmul on T tokens: rows = T, columns = 1.
struct OperatorShape {
    OpKind kind = OpKind::matmul;
    std::uint16_t out_channels = 1, in_channels = 1;
    std::uint16_t out_rows = 1, out_columns = 1;
    std::uint16_t in_rows = 1, in_columns = 1;
    std::uint16_t filter_rows = 1, filter_columns = 1;
    std::uint16_t stride = 1, pad = 0;
    /// Of an attention: its input holds, head by head, the queries, the keys and the values of a head, and its output
    /// the heads one after another; both numbers of channels are multiples of it.
    std::uint16_t heads = 1;
    /// Of an attention or a pool: samples of an input whose values each of them needs, the tokens of the attention or
    /// what the pool reduces. They follow one another and none is missing. 1: each sample needs its own values.
    std::uint16_t joined = 1;
    /// Binary16, or binary32 of partial sums: of the elements that a merge adds up, and of those of the result.
    std::uint8_t operand_bytes = kElementBytes, element_bytes = kElementBytes;

    /// Depthwise, element-wise, pool, norm and merge: an output channel needs only its own input channel.
    bool channelwise() const {
        return kind == OpKind::depthwise || kind == OpKind::elementwise || kind == OpKind::pool ||
               kind == OpKind::norm || kind == OpKind::merge;
    }
};

/// Weights that an output channel has, each of them once: channels x filter rows x filter columns of its input.
std::uint32_t filter_elements(const OperatorShape& shape);

/// global_pool: rows x columns of a tensor are averaged to 1x1 where it is made.
enum class EdgeReduce : std::uint8_t { none, global_pool };

/// What an operand is to its operator.
enum class OperandRole : std::uint8_t {
    input,
    second_operand,  ///< added by a fused element-wise step
    factor           ///< multiplies each sample by its largest channel, a fused step too; one row and column
};

/// Steps on the way from an accumulator to the output, in binary32; then one rounding to binary16, unless the output is
/// binary32 (OperatorShape::element_bytes).
enum class EpilogueStep : std::uint8_t {
    bias,  ///< + bias[k]
    norm,  ///< * gain[k] + offset[k]
    relu,
    sigmoid,
    add,         ///< + the second operand
    gate,        ///< the result so far is the gate's logit: kept in binary32 for the routing mask
    position,    ///< + position[k][token]
    layer_norm,  ///< (v - mean) / sqrt(variance + 1e-5) * gain[k] + offset[k], statistics over the channels of a token
    softmax,     ///< exp(v) / sum of exp(v), over the channels of a token
    scale        ///< * the largest channel of the factor
};
/// Needs all channels of a token: the steps in front of it are carried out for all of them, and their results kept in
/// binary32.
inline bool is_across_channels(EpilogueStep step) {
    return step == EpilogueStep::layer_norm || step == EpilogueStep::softmax;
}
enum class PoolKind : std::uint8_t { maximum, mean };
/// How a gate's logits, the binary32 values of its step EpilogueStep::gate, become a routing mask.
enum class GateRule : std::uint8_t {
    threshold,  ///< one logit: branch 1 if it is larger than the threshold, otherwise branch 0
    each,       ///< a logit a branch: those that are larger than the threshold
    largest,    ///< a logit a branch: the one with the largest, of several the first
    patience    ///< a logit a label: branch 1, leave, if the largest is the same for `gate_patience` gates in a row
                ///< behind the one that first had it, otherwise branch 0
};

}  // namespace switchyard
