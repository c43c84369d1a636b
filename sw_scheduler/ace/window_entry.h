// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchyard::sched::ace {

/// A kernel's name inside a window in hardware (ACE, section 4.3).
using KernelId = std::uint8_t;
/// Ids of which no two kernels that may be in a window or a scheduled_list at the same time are equal.
inline constexpr std::size_t kMaxScheduledKernels = 255;

/// A kernel as the host sends it to the GPU's scheduling window.
struct WindowEntry {
    KernelId id = 0;
    std::vector<KernelId> upstream;  ///< may name kernels that have completed
};

}  // namespace switchyard::sched::ace
