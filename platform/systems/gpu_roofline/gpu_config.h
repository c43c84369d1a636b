// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/config.h"

namespace switchyard::platform {

/// A GPU of the A100's class. Where each default comes from: its text, and docs/baselines.md. No default is fitted.
struct GpuConfig {
    std::string name = "a100";
    unsigned multiprocessors = 108;
    double clock_ghz = 1.41;
    double tensor_flops_per_multiprocessor_cycle = 2048;
    double vector_flops_per_multiprocessor_cycle = 512;
    double tensor_efficiency = 0.811;
    double memory_gb_per_s = 1935;
    double memory_efficiency = 1 - 260.0 / 3900;
    std::uint64_t l2_bytes = 40ull << 20;
    double l2_bytes_per_cycle = 5120;
    unsigned max_split_k = 16;
    double achieved_share = 1;
    double launch_us = 2.26;
    double framework_us = 0;
    double queued_kernel_us = 1.5;
    double synchronisation_us = 10;
    double host_link_gb_per_s = 32;
    double board_power_w = 300;

    /// All multiprocessors, in FLOP a microsecond; a multiply-accumulate is two.
    double tensor_flops_per_us() const {
        return multiprocessors * tensor_flops_per_multiprocessor_cycle * clock_ghz * 1e3;
    }
    double vector_flops_per_us() const {
        return multiprocessors * vector_flops_per_multiprocessor_cycle * clock_ghz * 1e3;
    }
    double memory_bytes_per_us() const { return memory_gb_per_s * 1e3; }  ///< at the pins
    double l2_bytes_per_us() const { return l2_bytes_per_cycle * clock_ghz * 1e3; }
};

template <class V>
void describe(V& v, GpuConfig& c) {
    v.field("name", c.name, "name of the GPU, in messages and reports");
    v.field("multiprocessors", c.multiprocessors, 1, 4096, "streaming multiprocessors (A100 whitepaper: 108)");
    v.field("clock_ghz", c.clock_ghz, 0.01, 10, "boost clock (A100 whitepaper: 1.41)");
    v.field("tensor_flops_per_multiprocessor_cycle", c.tensor_flops_per_multiprocessor_cycle, 1, 1e6,
            "dense FP16 on tensor cores (A100 whitepaper: 1024 FMA; 312 TFLOPS in all)");
    v.field("vector_flops_per_multiprocessor_cycle", c.vector_flops_per_multiprocessor_cycle, 1, 1e6,
            "FP16 outside tensor cores, for depthwise convolutions (A100 whitepaper: 78 TFLOPS in all)");
    v.field("tensor_efficiency", c.tensor_efficiency, 0.01, 1,
            "share of that peak that the best shape reaches (252.9 of 312 TFLOPS, measured on an A100 PCIe: "
            "stas00/ml-engineering, Maximum Achievable Matmul FLOPS)");
    v.field("memory_gb_per_s", c.memory_gb_per_s, 0.001, 1e6, "at the pins (A100 80 GB PCIe data sheet: 1935)");
    v.field("memory_efficiency", c.memory_efficiency, 0.01, 1,
            "share of it that data can have: what refresh leaves, as on the simulated chips (260 of 3900 ns)");
    v.field("l2_bytes", c.l2_bytes, 0, 1ull << 40, "capacity of the second-level cache (A100 whitepaper: 40 MB)");
    v.field("l2_bytes_per_cycle", c.l2_bytes_per_cycle, 1, 1e9,
            "its read bandwidth (A100 whitepaper: 5120 bytes a clock)");
    v.renamed("most_split_k", "max_split_k");
    v.field("max_split_k", c.max_split_k, 1, 1024,
            "slices at most into which a GEMM's reduction is cut (NVIDIA, Matrix Multiplication Background, 2.3)");
    v.field("achieved_share", c.achieved_share, 0.001, 1,
            "share of the roofline's speed that kernels of whole networks reach: their times are divided by it; 1: the "
            "roofline itself, a bound (configs/platforms/a100_measured.yaml: what ResNet-50 was measured at)");
    v.field("launch_us", c.launch_us, 0, 1e6,
            "of the host for a launch, until the kernel may start (null kernel, PCIe A100: arXiv 2504.11750)");
    v.field("framework_us", c.framework_us, 0, 1e6,
            "of the host for a launch besides launch_us, in the framework: declared, no figure for the A100 was found; "
            "sweep");
    v.field("queued_kernel_us", c.queued_kernel_us, 0, 1e6, "between two kernels of a queue (secondary source; sweep)");
    v.field("synchronisation_us", c.synchronisation_us, 0, 1e6,
            "of the host with an empty queue, the copied value included (a 4-byte copy to the host: 9.2 to 9.7 us at "
            "least on other GPUs; sweep 5 to 45)");
    v.field("host_link_gb_per_s", c.host_link_gb_per_s, 0.001, 1e6, "PCIe 4.0 x16, each direction");
    v.field("board_power_w", c.board_power_w, 0, 1e6, "drawn all the time (A100 80 GB PCIe data sheet: 300 at most)");
}

/// Section `gpu` of a YAML file, the only one in it; an empty `path` stands for the defaults. Overrides
/// ("gpu.launch_us" -> "3") win over it and are removed. Throws InputError "file:line: gpu.key: ...".
GpuConfig read_gpu_config(const std::string& path, std::map<std::string, std::string>& overrides);
inline constexpr const char* kGpuRoofline = "gpu_roofline";  ///< the system's name
inline constexpr const char* kGpuSection = "gpu";
/// Keys of the section with type, default, range and meaning.
std::vector<KeyDescription> gpu_keys();

}  // namespace switchyard::platform
