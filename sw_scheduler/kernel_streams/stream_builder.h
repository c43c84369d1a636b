// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::sched {

/// Grid, CTA and resources of a launch.
struct LaunchShape {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::uint32_t threads = 1;  ///< of a CTA
    std::uint32_t registers_per_thread = 32;
    std::uint32_t shared_bytes = 0;
    KernelSchedule schedule{};
};

/// Collects the kernels of a stream and gives each array a segment of its own, so that two kernels share a segment only
/// where data flow from one to the other.
class StreamBuilder {
public:
    /// A new array, aligned to 256 bytes as by cudaMalloc. Throws InputError when 2^47 bytes are used up.
    MemorySegment allocate(std::uint64_t bytes);
    /// The work's bytes are those of the segments; a segment that is there twice counts once.
    void launch(const std::string& name, const LaunchShape& shape, std::uint64_t flops,
                const std::vector<MemorySegment>& reads, const std::vector<MemorySegment>& writes);

    std::vector<GpuKernel> take() { return std::move(kernels_); }

private:
    /// Where the first array lies: inside the range in which CUDA maps device memory.
    static constexpr std::uint64_t kBase = std::uint64_t{0x7f} << 32;

    std::vector<GpuKernel> kernels_;
    std::uint64_t next_ = kBase;
};

}  // namespace switchyard::sched
