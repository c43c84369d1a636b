// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/sw_scheduler/workload/graph.h"

namespace switchyard::sched {

/// How a GEMM is cut so that its pieces fit the scratchpads: each slice is an operator of its own.
struct GemmSlicing {
    std::uint32_t out_channels = 1;  ///< of n, in each slice but the last
    std::uint32_t in_channels = 1;   ///< of k, in each slice but the last
};

/// C (m x n) = A (m x k) * B (k x n) as a static graph: m samples, n output channels, k input channels. An operator
/// keeps its weights and a whole reduction in the scratchpads, so a large B is cut along n, and along k where even a
/// few columns do not fit. The parts of A that belong to the slices of k are input tensors of their own (producers -1,
/// -2, ...); a slice adds what the slice of k before it left (second operand, binary16).
DynGraph gemm_graph(std::uint32_t m, std::uint32_t n, std::uint32_t k, const GemmSlicing& slicing);

/// The slicing with the fewest cycles by the cost model on `tiles` tiles (0: all).
/// Throws InputError if a size is zero, if m cannot be cut into units of at most 65535, or if no slicing fits.
GemmSlicing best_gemm_slicing(std::uint32_t m, std::uint32_t n, std::uint32_t k, const HardwareDescription& hardware,
                              unsigned tiles = 0);

/// gemm_graph() with the best slicing; compile() with CompileOptions::tiles = `tiles`.
DynGraph build_gemm_graph(std::uint32_t m, std::uint32_t n, std::uint32_t k, const HardwareDescription& hardware,
                          unsigned tiles = 0);

}  // namespace switchyard::sched
