// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/dynn_offload/execution_blocks.h"
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"

namespace switchyard::memory_managers {

/// Unmodified PyTorch: everything is in device memory from its producer to its release. Out of memory if it is full.
/// `fragmentation`, here and below: tensors have addresses by best fit (BestFit), and one for which no gap has room
/// does not fit. Without it, all free bytes are as one gap.
MemoryProgram run_unmanaged(const sched::TrainingStream& stream, std::uint64_t budget_bytes,
                            bool fragmentation = false);

struct DtrConfig {
    double max_overhead = 2;  ///< thrashing: recomputation over base computation
    double operator_ns = 0;   ///< the prototype's bookkeeping of an operator, for which the device waits
    double examined_ns = 0;   ///< to look at a candidate of a search
    bool fragmentation = false;
};

/// Dynamic tensor rematerialisation (ICLR 2021), runtime `RuntimeV2EagerOptimized` of its simulator. If a result does
/// not fit, the storage with the least
///     h_DTR = (cost + cost of the evicted ancestors and descendants) / (bytes x staleness)
/// is dropped; cost is the time of the operator that makes it, staleness the computed time since its last use.
/// Operands that were dropped are computed again, recursively. What the program has released is dropped at once, and
/// again when it was computed again for others.
///
/// Pinned: what is there from the start, what is changed in place, and the gradients of parameters as soon as the
/// optimiser runs in place (they could not be computed again from changed parameters).
/// A search looks at all candidates here. The authors' prototype draws some: from one to the next are 1 to sqrt(n)
/// steps, uniformly (dtr-implementation.patch), so that it looks at 2 n / (sqrt(n) + 1) of n in the mean; these are
/// what examined_ns is taken for.
MemoryProgram run_dtr(const sched::TrainingStream& stream, std::uint64_t budget_bytes, const DtrConfig& config);

struct ZeroOffloadConfig {
    /// Adam on the host: 28 bytes read and written a parameter. Declared: 120 GB/s.
    double host_gb_per_s = 120;
    bool fragmentation = false;
};

/// ZeRO-Offload (USENIX ATC 2021) for a static network in fp32: parameters and activations on the device; gradients go
/// to the host as they are complete, behind the backward pass; the host runs the optimiser (16 bytes a parameter:
/// parameter, gradient, two moments) and parameters come back.
MemoryProgram run_zero_offload(const sched::TrainingStream& stream, std::uint64_t budget_bytes,
                               const ZeroOffloadConfig& config);

/// What leaves the half that is filled for the next block.
enum class EvictionRule : std::uint8_t {
    unused,   ///< all that the next block does not need ("must evict unused tensors", IV-E)
    for_room  ///< no more than the next block wants room; what is used last goes first. Not in the paper
};

/// DyNN-Offload's runtime (HPCA 2024, section IV-E), or, with the true path as prediction, Sentinel's. Device memory is
/// two halves. The running block works in one; behind it, what the predicted next block does not need leaves the other,
/// which is then filled with what that block needs from the host. What the next block needs from the present one is
/// carried from half to half at the swap. The operator counter ends blocks, so that blocks of a wrong path end after as
/// many operators of the true one. An operand that is not there is fetched on demand while the operator waits; if the
/// half is full, the tensors that were not used for the longest time make room.
///
/// The step is one of many alike (the paper times an epoch behind a warm-up): it begins with what the one before it has
/// left on the device. During its last block, what that leaves goes back to the host and the first block's tensors come
/// for the next step; the last block's go during the first block of the next step. A step of a single block swaps
/// nothing: what it needs stays. Each step has new inputs.
///
/// Throws Infeasible for an operator whose operands, results and workspace do not fit a half.
MemoryProgram run_double_buffer(const sched::TrainingStream& stream, const dynn_offload::Prediction& prediction,
                                std::uint64_t half_bytes, EvictionRule rule = EvictionRule::unused,
                                bool fragmentation = false);

}  // namespace switchyard::memory_managers
