// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/workload/gpu_operator.h"
#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::sched {

/// What a schedule is chosen for: the numbers of a GPU that decide how long one kernel takes that runs alone. The names
/// are those of the keys of a GPU's platform file (docs/models/gpu.md).
struct GpuDescription {
    double multiprocessors = 108, clock_ghz = 1.41;
    double max_ctas = 32, max_warps = 64, registers = 65536, shared_bytes = 167936;
    double register_unit = 256, shared_unit_bytes = 128, reserved_shared_bytes = 1024;
    double partitions = 4, fp32_flops_per_cycle = 128, issue_per_cycle = 4, l2_port_bytes_per_cycle = 64;
    double l2_bytes = 40 << 20, l2_bytes_per_cycle = 5120, l2_latency_ns = 142, memory_latency_ns = 407;
    double memory_gb_per_s = 1555;
    double kernel_overhead_ns = 0;  ///< from a kernel's end to the first CTA of the next, and its own end
    // Calibrated.
    double arithmetic_efficiency = 1, memory_instruction_cycles = 1, warp_latency_cycles = 4;
    double l2_efficiency = 1, memory_efficiency = 1;
};

/// One way to compute an operator, all numbers a CTA's. Plain, for there are thousands.
struct GpuSchedule {
    double ctas = 1;
    std::uint32_t threads = 32, registers = 32, shared_bytes = 0;
    double multiply_adds = 0;        ///< warp instructions
    double memory_instructions = 0;  ///< warp instructions
    double l2_bytes = 0;
    double dependent_loads = 1;
};

/// The schedules among which an automatic scheduler searches, after TVM's for GPUs (Ansor, OSDI 2020; rules
/// multi-level tiling and cross-thread reduction):
/// - tiles of the output whose sides divide the output's, at most 512 pixels and 256 channels, each thread a part of
/// 128
///   elements at most; reduction in steps whose operands go through shared memory (48 KiB at most), one load after
///   another; a step begins when the step before has ended;
/// - for operators with no more than 1024 outputs and fewer than terms in the sum: a CTA an output, threads share the
///   sum;
/// - without reuse (depthwise, pooling): one to eight outputs a thread, operands from the L1.
std::vector<GpuSchedule> gpu_schedules(const GpuOperator& op);

/// ns that a kernel takes that runs alone, over and over, so that the L2 has what fits it: kernel_overhead_ns, waves of
/// CTAs, each as long as its CTAs alone, the arithmetic or memory instructions of an SM, its port, the L2 or device
/// memory, whichever is longest. The `cta` fidelity of hw/gpu gives the same within 5 % (test `calibration_gpu`).
double estimate_ns(const GpuOperator& op, const GpuSchedule& schedule, const GpuDescription& gpu);

/// The quickest by estimate_ns(). `list`: gpu_schedules(op).
const GpuSchedule& best_schedule(const GpuOperator& op, const std::vector<GpuSchedule>& list,
                                 const GpuDescription& gpu);

/// The kernel of a schedule. Segments: input, weights (and the added input) are read from `address` on, one behind the
/// other, then the output is written, each at a multiple of 256 bytes.
GpuKernel make_kernel(const GpuOperator& op, const GpuSchedule& schedule, std::uint64_t address = 1ull << 32);
/// The quickest kernel for a GPU.
GpuKernel tuned_kernel(const GpuOperator& op, const GpuDescription& gpu, std::uint64_t address = 1ull << 32);

}  // namespace switchyard::sched
