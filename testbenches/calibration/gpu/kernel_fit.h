// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/gpu_schedule.h"
#include "switchyard/testbenches/calibration/gpu/measured_kernels.h"

namespace switchyard::calibration {

/// What no data sheet says of a GPU's kernels.
struct KernelParameters {
    double kernel_overhead_cycles = 3000;
    double arithmetic_efficiency = 0.8;
    double memory_efficiency = 0.7;
    double l2_efficiency = 0.4;
    double warp_latency_cycles = 4;
    double memory_instruction_cycles = 1.5;

    static constexpr std::size_t kCount = 6;
    std::array<double*, kCount> all() {
        return {&kernel_overhead_cycles, &arithmetic_efficiency, &memory_efficiency,
                &l2_efficiency,          &warp_latency_cycles,   &memory_instruction_cycles};
    }
};

/// The platform file of a device of the measurements, and what its clock overrides in it: A100-40GB ran at 765 MHz, its
/// base clock. The kernels that were measured on both devices take 1.8 times as long on it in the median (test
/// `calibration_gpu`), and 1410 / 765 = 1.84.
std::string platform_file(const std::string& device);
std::map<std::string, std::string> base_clock(const std::string& device);
/// That device with these parameters.
sched::GpuDescription a100(const std::string& device, const KernelParameters& parameters);
/// Those of configs/gpus/a100_80gb.yaml.
KernelParameters file_parameters();

/// A measured kernel with the schedules among which the quickest is looked for.
struct FitKernel {
    MeasuredKernel measured;
    std::vector<sched::GpuSchedule> schedules;

    double us(const KernelParameters& parameters) const;  ///< ours
};

/// Of all kernels. Each has all schedules.
std::vector<FitKernel> fit_kernels(std::vector<MeasuredKernel> kernels);

/// Minimises the mean of |ln(ours / measured)|, what is beyond 0.35 counted twice, from the defaults on, one parameter
/// after another with steps from 30 % down to 1 %. Repeats to the bit.
KernelParameters fit(const std::vector<FitKernel>& kernels, const std::vector<std::size_t>& which);

/// A random half of N kernels, and the other half; by seed.
std::array<std::vector<std::size_t>, 2> halves(std::size_t count, std::uint64_t seed);
/// K parts of about the same size.
std::vector<std::vector<std::size_t>> folds(std::size_t count, std::size_t parts, std::uint64_t seed);

/// Of ratios ours / measured.
struct ErrorSummary {
    std::size_t count = 0;
    double median = 0, p90 = 0, worst = 0;  ///< |ratio - 1|
    double ratio_p10 = 0, ratio_median = 0, ratio_p90 = 0;
};
ErrorSummary summarise(std::vector<double> ratios);

/// us of a plain roofline: operations at the peak rate or bytes at the pins' rate of device memory.
double roofline_us(const MeasuredKernel& kernel);

}  // namespace switchyard::calibration
