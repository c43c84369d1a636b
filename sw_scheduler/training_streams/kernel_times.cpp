// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/training_streams/kernel_times.h"

#include <algorithm>

namespace switchyard::sched {

double KernelTimes::convolution_ns(const GpuOperator& op) {
    const std::array<std::uint64_t, 7> key{op.batch,      op.in_channels, op.out_channels, op.in_height * op.in_width,
                                           op.out_height, op.out_width,   op.kernel};
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const std::vector<GpuSchedule> list = gpu_schedules(op);
    const double ns = estimate_ns(op, best_schedule(op, list, gpu_), gpu_);
    known_.emplace(key, ns);
    return ns;
}

double KernelTimes::product_ns(std::uint64_t m, std::uint64_t k, std::uint64_t n) {
    return convolution_ns(linear_operator(m, k, n));
}

double KernelTimes::memory_ns(std::uint64_t bytes) const {
    const double streamed = static_cast<double>(bytes) / (gpu_.memory_gb_per_s * gpu_.memory_efficiency);
    return gpu_.kernel_overhead_ns + std::max(gpu_.memory_latency_ns, streamed);
}

}  // namespace switchyard::sched
