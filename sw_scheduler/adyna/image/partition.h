// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/workload/operator.h"

namespace switchyard {

/// How the kernel for `dyn_dim` samples spreads over an operator's tiles: n factors over samples, p over output rows.
/// The k factors over output channels are the operator's (weights stay where they are): rank = (in * p + ip) * k_factor
/// + ik.
struct Partition {
    std::uint16_t dyn_dim = 1, n = 1, p = 1;
    bool operator==(const Partition& o) const { return dyn_dim == o.dyn_dim && n == o.n && p == o.p; }
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

/// What tile `rank` computes of the output when `dyn_dim` samples arrive and `part` was selected: block sizes come from
/// part.dyn_dim (the layout that the kernel was compiled for), ranges are clipped to the real dyn_dim.
/// Ranks beyond n * p * k_factor get an empty box. Throws std::invalid_argument if dyn_dim > part.dyn_dim.
Box output_box(const OperatorShape& shape, const Partition& part, unsigned k_factor, unsigned rank,
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
