// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchyard::hw {

/// The streaming multiprocessors (SMs) of a GPU: what one holds and what it does in a cycle. The defaults are an
/// A100's: NVIDIA A100 Tensor Core GPU Architecture (whitepaper), tables 1 and 5; CUDA C++ Programming Guide, technical
/// specifications of compute capability 8.0; granularities: CUDA Occupancy Calculator.
struct MultiprocessorConfig {
    unsigned count = 108;
    double clock_ghz = 1.41;
    // What resident CTAs share.
    unsigned max_ctas = 32;
    unsigned max_warps = 64;
    unsigned registers = 65536;
    unsigned shared_bytes = 167936;         ///< 164 KiB
    unsigned register_unit = 256;           ///< registers are given to a warp in multiples of this
    unsigned shared_unit_bytes = 128;       ///< shared memory is given in multiples of this
    unsigned reserved_shared_bytes = 1024;  ///< for the system, a CTA
    // What they do.
    unsigned partitions = 4;  ///< with a warp scheduler each
    double fp32_flops_per_cycle = 128;
    double tensor_flops_per_cycle = 2048;
    double issue_per_cycle = 4;           ///< warp instructions
    double l2_port_bytes_per_cycle = 64;  ///< between an SM and the L2
    double cta_launch_ns = 0;             ///< before the first instruction of a CTA
    // What no data sheet says (docs/models/gpu.md: calibration).
    double arithmetic_efficiency = 1;      ///< share of the arithmetic rates that kernels reach
    double memory_instruction_cycles = 1;  ///< of an SM, for a warp's access to shared or global memory
    double warp_latency_cycles = 4;        ///< between two instructions of a warp
};

template <class V>
void describe(V& v, MultiprocessorConfig& c) {
    v.field("count", c.count, 1, 4096, "streaming multiprocessors (SMs)");
    v.field("clock_ghz", c.clock_ghz, 0.01, 10, "clock of the SMs and the L2");
    v.field("max_ctas", c.max_ctas, 1, 1024, "resident CTAs of an SM");
    v.field("max_warps", c.max_warps, 1, 1024, "resident warps of an SM");
    v.field("registers", c.registers, 1, 1 << 24, "32-bit registers of an SM");
    v.field("shared_bytes", c.shared_bytes, 0, 1 << 30, "shared memory of an SM");
    v.field("register_unit", c.register_unit, 1, 65536, "registers are given to a warp in multiples of this");
    v.field("shared_unit_bytes", c.shared_unit_bytes, 1, 65536, "shared memory is given to a CTA in multiples of this");
    v.field("reserved_shared_bytes", c.reserved_shared_bytes, 0, 65536,
            "shared memory that the system takes for each CTA");
    v.field("partitions", c.partitions, 1, 64, "partitions of an SM, each with a warp scheduler");
    v.field("fp32_flops_per_cycle", c.fp32_flops_per_cycle, 1, 1e6,
            "of an SM outside tensor cores; a multiply-accumulate is two");
    v.field("tensor_flops_per_cycle", c.tensor_flops_per_cycle, 0, 1e6, "of an SM's tensor cores; 0: it has none");
    v.field("issue_per_cycle", c.issue_per_cycle, 0.01, 1000, "warp instructions of an SM");
    v.field("l2_port_bytes_per_cycle", c.l2_port_bytes_per_cycle, 0.01, 1e6, "between an SM and the L2");
    v.field("arithmetic_efficiency", c.arithmetic_efficiency, 0.01, 1,
            "share of the arithmetic rates that kernels reach; calibrated");
    v.field("memory_instruction_cycles", c.memory_instruction_cycles, 0.01, 1000,
            "of an SM, for a warp's access to shared or global memory; 1 without bank conflicts; calibrated");
    v.field("warp_latency_cycles", c.warp_latency_cycles, 0, 1000,
            "mean cycles between two instructions of a warp that has its partition to itself; calibrated");
    v.field("cta_launch_ns", c.cta_launch_ns, 0, 1e6, "before the first instruction of a CTA");
}

/// "" or what is wrong.
std::string validation_error(const MultiprocessorConfig& config);

}  // namespace switchyard::hw
