// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "switchyard/sw_scheduler/workload/gpu_schedule.h"

namespace switchyard::sched {

/// ns of a kernel that runs alone on a GPU. Products and convolutions: the best schedule by estimate_ns(), which hw/gpu
/// gives within 5 % (test calibration_gpu). All else: bytes over the sustained bandwidth of device memory, at least
/// one latency. Each shape is computed once.
///
/// Not modelled: tensor cores; batched products as one product of all rows.
class KernelTimes {
public:
    explicit KernelTimes(const GpuDescription& gpu) : gpu_(gpu) {}

    double product_ns(std::uint64_t m, std::uint64_t k, std::uint64_t n);  ///< m x k times k x n
    double convolution_ns(const GpuOperator& op);
    double memory_ns(std::uint64_t bytes) const;
    const GpuDescription& gpu() const { return gpu_; }

private:
    GpuDescription gpu_;
    std::map<std::array<std::uint64_t, 7>, double> known_;
};

}  // namespace switchyard::sched
