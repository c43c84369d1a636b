// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/gpu_energy.h"

#include <algorithm>

namespace switchyard::platform::ace {

namespace {

constexpr double kPicojoulesOfWattNanosecond = 1000;

}  // namespace

double flop_picojoules(const GpuEnergyConfig& config, const GpuPlatform& gpu) {
    const hw::MultiprocessorConfig& sms = gpu.gpu.multiprocessors;
    const double memory_w = gpu.device_memory.peak_gb_per_s * 8 * config.memory_pj_per_bit * 1e-3;
    const double left_w = config.board_w - config.constant_w - sms.count * config.active_multiprocessor_w - memory_w;
    const double flops_per_ns = sms.count * sms.fp32_flops_per_cycle * sms.clock_ghz;
    return std::max(0.0, left_w * kPicojoulesOfWattNanosecond / flops_per_ns);
}

std::vector<Energy::Part> gpu_energy(const GpuEnergyConfig& config, const GpuPlatform& gpu,
                                     const GpuActivity& activity) {
    const double idle_ns = activity.ns * gpu.gpu.multiprocessors.count - activity.active_multiprocessor_ns;
    const double leakage_w_ns =
        idle_ns * config.idle_multiprocessor_w + activity.active_multiprocessor_ns * config.active_multiprocessor_w;
    return {{"constant", activity.ns * config.constant_w * kPicojoulesOfWattNanosecond},
            {"leakage", leakage_w_ns * kPicojoulesOfWattNanosecond},
            {"operations", activity.flops * flop_picojoules(config, gpu)},
            {"memory", activity.memory_bytes * 8 * config.memory_pj_per_bit}};
}

}  // namespace switchyard::platform::ace
