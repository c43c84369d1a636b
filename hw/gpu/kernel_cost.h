// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/hw/gpu/l2_cache.h"
#include "switchyard/hw/gpu/multiprocessor_config.h"
#include "switchyard/hw/gpu/packet.h"

namespace switchyard::hw {

/// Of a warp's instruction: a multiply-accumulate of each thread; mma.m16n8k16; 4 bytes of each thread.
inline constexpr double kFlopsOfInstruction = 64, kTensorFlopsOfInstruction = 4096, kBytesOfInstruction = 128;

/// What a kernel moves to and from device memory, all CTAs together.
struct MemoryTraffic {
    double read_bytes = 0, written_bytes = 0;
};

/// One CTA of a kernel as the `cta` fidelity sees it; all CTAs of a kernel are alike.
struct CtaCost {
    double compute_ns = 0;    ///< of a whole multiprocessor
    double alone_ns = 0;      ///< from first to last instruction with the multiprocessor and the memory to itself
    double l2_bytes = 0;      ///< between the multiprocessor and the L2
    double memory_bytes = 0;  ///< of device memory
};

/// compute_ns: the longest of FP32 or tensor time at arithmetic_efficiency, memory instructions at
/// memory_instruction_cycles each, and the issue of both.
/// alone_ns: a cycle, cta_launch_ns, `dependent_loads` latencies of L2 or memory in the mix of the kernel's traffic,
/// and the compute time of as many warps as there are: a warp issues one instruction in warp_latency_cycles at most,
/// and only on its own partition.
CtaCost cta_cost(const MultiprocessorConfig& multiprocessors, const GpuMemoryConfig& memory, const GpuPacket& kernel,
                 const MemoryTraffic& traffic);

}  // namespace switchyard::hw
