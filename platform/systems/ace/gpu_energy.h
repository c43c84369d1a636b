// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/platform/system/energy.h"

namespace switchyard::platform::ace {

/// What a GPU board draws. Power of what is there whether or not it works, and energy of what is done. The defaults of
/// the first three are AccelWattch's of a V100 (Kandiah et al., MICRO 2021; accelwattch_sass_sim.xml of SM7_QV100):
/// constant_power; idle_core_power; (static_cat2_flane + 31 static_cat2_addlane) / 80 SMs.
struct GpuEnergyConfig {
    double constant_w = 32.3;
    double idle_multiprocessor_w = 0.283;
    double active_multiprocessor_w = 0.483;
    double memory_pj_per_bit = 7.5;
    double board_w = 220;
};

template <class V>
void describe(V& v, GpuEnergyConfig& c) {
    v.field("constant_w", c.constant_w, 0, 1e6, "power of the board whatever it does (AccelWattch, V100)");
    v.field("idle_multiprocessor_w", c.idle_multiprocessor_w, 0, 1e6,
            "leakage of an SM without a CTA (AccelWattch, V100)");
    v.field("active_multiprocessor_w", c.active_multiprocessor_w, 0, 1e6,
            "leakage of an SM with a CTA or more (AccelWattch, V100, integer and FP32 lanes)");
    v.field("memory_pj_per_bit", c.memory_pj_per_bit, 0, 1e6,
            "device memory, read or written (Micron: GDDR6 7.5, GDDR6X 7.25)");
    v.field("board_w", c.board_w, 1, 1e6,
            "power limit of the board (data sheet); it bounds the energy of an FP32 operation");
}

/// What a run did, over all its time.
struct GpuActivity {
    double ns = 0;
    double active_multiprocessor_ns = 0;  ///< of SMs with a CTA or more, summed
    double flops = 0;                     ///< FP32 and tensor operations
    double memory_bytes = 0;              ///< of device memory
};

/// Energy of an FP32 operation with all that comes with it (instruction, registers, shared memory, L2): what the power
/// limit leaves at the peak rate with memory at its peak, so a bound from above. 0 if it leaves nothing.
double flop_picojoules(const GpuEnergyConfig& config, const GpuPlatform& gpu);

/// Parts "constant", "leakage", "operations" and "memory", picojoules.
std::vector<Energy::Part> gpu_energy(const GpuEnergyConfig& config, const GpuPlatform& gpu,
                                     const GpuActivity& activity);

}  // namespace switchyard::platform::ace
