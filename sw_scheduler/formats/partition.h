#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchyard {

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

/// How the kernel for `dyn_dim` samples spreads over an operator's tiles: n ways over samples, p over output rows.
/// The k ways over output channels are the operator's (weights stay where they are): rank = (in * p + ip) * k_ways +
/// ik.
struct Partition {
    std::uint16_t dyn_dim = 1, n = 1, p = 1;
};

/// False if a block of samples of this cut ends inside one of the groups of samples that the operator joins.
bool keeps_groups(const OperatorShape& shape, const Partition& partition);

/// Half-open ranges; samples are positions in the operator's SampleSet, not ids.
struct Box {
    std::uint32_t n0 = 0, n1 = 0, k0 = 0, k1 = 0, p0 = 0, p1 = 0;
    bool empty() const { return n0 >= n1 || k0 >= k1 || p0 >= p1; }
    bool operator==(const Box& o) const {
        return n0 == o.n0 && n1 == o.n1 && k0 == o.k0 && k1 == o.k1 && p0 == o.p0 && p1 == o.p1;
    }
};

/// The best-fit kernel (section VI-B): the entry with the smallest dyn_dim that is no less than `dyn_dim`, or -1.
/// `partitions` is sorted by dyn_dim, strictly increasing. The second looks at [first, last) only.
int best_fit(const std::vector<Partition>& partitions, std::uint32_t dyn_dim);
int best_fit(const std::vector<Partition>& partitions, std::uint32_t dyn_dim, std::size_t first, std::size_t last);

/// What tile `rank` computes of the output when `dyn_dim` samples arrive and `part` was picked: block sizes come from
/// part.dyn_dim (the layout that the kernel was compiled for), ranges are clipped to the real dyn_dim.
/// Ranks beyond n * p * k_ways get an empty box. Throws std::invalid_argument if dyn_dim > part.dyn_dim.
Box output_box(const OperatorShape& shape, const Partition& part, unsigned k_ways, unsigned rank,
               std::uint32_t dyn_dim);

/// What that tile needs of its (first) input tensor, in the input's channels and rows, halo included.
/// `second_operand`: of the operand that a fused element-wise step adds, which has the output's shape.
Box input_box(const OperatorShape& shape, const Box& output, bool second_operand = false);

/// True if each output needs every channel and row of an input of channels x rows, not only what input_box() says: it
/// is flattened. Never of a second operand.
bool needs_whole_input(const OperatorShape& shape, std::uint32_t channels, std::uint32_t rows, bool second_operand);

/// Ranges common to both. Here and above an empty box is Box{}, whichever of its ranges is empty.
Box intersect(const Box& a, const Box& b);

}  // namespace switchyard
