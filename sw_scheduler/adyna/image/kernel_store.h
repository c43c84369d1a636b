// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/adyna/image/kernel.h"

namespace switchyard {

/// Bytes of a scratchpad of `capacity_bytes` that hold kernels: a share of it, rounded down to whole kernels.
/// Scheduler, scratchpad and model of stages all take the number from here, since an image may use every byte of it.
inline std::uint64_t kernel_store_bytes(double kernel_share, std::uint64_t capacity_bytes) {
    // The small addend keeps 0.29 * 12800 from becoming 3711.999...
    constexpr double kRounding = 1e-9;
    const double kernels = static_cast<double>(capacity_bytes) * kernel_share / static_cast<double>(kKernelBytes);
    return static_cast<std::uint64_t>(kernels + kRounding) * kKernelBytes;
}

}  // namespace switchyard
