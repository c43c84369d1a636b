// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/kernel_cost.h"

#include <algorithm>

namespace switchyard::hw {

CtaCost cta_cost(const MultiprocessorConfig& multiprocessors, const GpuMemoryConfig& memory, const GpuPacket& kernel,
                 const MemoryTraffic& traffic) {
    const auto ctas = static_cast<double>(kernel.ctas());
    const double cycle_ns = 1 / multiprocessors.clock_ghz;
    const auto flops = static_cast<double>(kernel.work.flops) / ctas;
    const auto tensor_flops = static_cast<double>(kernel.work.tensor_flops) / ctas;
    const double l2_bytes = kernel.schedule.l2_bytes > 0
                                ? static_cast<double>(kernel.schedule.l2_bytes)
                                : static_cast<double>(kernel.work.read_bytes + kernel.work.written_bytes);
    const double memory_instructions =
        (kernel.schedule.memory_instructions > 0 ? static_cast<double>(kernel.schedule.memory_instructions)
                                                 : l2_bytes / kBytesOfInstruction) /
        ctas;
    const double instructions =
        flops / kFlopsOfInstruction + tensor_flops / kTensorFlopsOfInstruction + memory_instructions;
    double arithmetic = flops / multiprocessors.fp32_flops_per_cycle;
    if (tensor_flops > 0) arithmetic = std::max(arithmetic, tensor_flops / multiprocessors.tensor_flops_per_cycle);
    const double cycles = std::max({arithmetic / multiprocessors.arithmetic_efficiency,
                                    memory_instructions * multiprocessors.memory_instruction_cycles,
                                    instructions / multiprocessors.issue_per_cycle});

    CtaCost cost;
    cost.compute_ns = cycles * cycle_ns;
    cost.l2_bytes = l2_bytes / ctas;
    cost.memory_bytes = (traffic.read_bytes + traffic.written_bytes) / ctas;

    const double warps = kernel.warps_per_cta();
    const double partitions = std::min<double>(warps, multiprocessors.partitions);
    const double few_partitions = cycles * multiprocessors.partitions / partitions;
    const double few_warps = instructions / warps * multiprocessors.warp_latency_cycles;
    double loads = kernel.schedule.dependent_loads;
    if (loads == 0 && kernel.work.read_bytes > 0) loads = 1;
    const auto read_bytes = static_cast<double>(kernel.work.read_bytes);
    const double miss = read_bytes > 0 ? std::min(1.0, traffic.read_bytes / read_bytes) : 0;
    const double load_ns = memory.l2_latency_ns + miss * (memory.memory_latency_ns - memory.l2_latency_ns);
    // A CTA that does nothing is there for a cycle.
    cost.alone_ns =
        cycle_ns + multiprocessors.cta_launch_ns + loads * load_ns + std::max(few_partitions, few_warps) * cycle_ns;
    return cost;
}

}  // namespace switchyard::hw
