// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/fusion.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched::brainstorm {

namespace {

/// Of an SM of compute capability 7.0 to 9.0: registers of each of its partitions, and in what units a warp gets them
/// (CUDA C++ Programming Guide, technical specifications per compute capability).
constexpr std::uint32_t kPartitions = 4, kRegistersOfPartition = 16384, kRegistersOfWarp = 256, kWarpThreads = 32;

/// That a thread may have so that an SM has room for a CTA: what launch bounds make the compiler keep to.
std::uint32_t register_limit(std::uint32_t threads) {
    const std::uint32_t warps = (threads + kWarpThreads - 1) / kWarpThreads;
    const std::uint32_t warps_of_partition = (warps + kPartitions - 1) / kPartitions;
    return kRegistersOfPartition / warps_of_partition / kRegistersOfWarp * kRegistersOfWarp / kWarpThreads;
}

}  // namespace

std::vector<std::uint64_t> tuned_loads(const CellProfile& profile, std::size_t router,
                                       const std::vector<double>& percentiles, std::uint64_t unit) {
    std::vector<std::uint64_t> loads;
    for (const double percentile : percentiles) {
        const std::uint64_t load = profile.load_percentile(router, percentile);
        if (load > 0) loads.push_back(round_up(load, unit));
    }
    if (loads.empty())
        throw InputError(fmt::format("profile: expected cells and percentiles of router {}, found none", router));
    std::sort(loads.begin(), loads.end());
    loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
    return loads;
}

std::vector<std::uint64_t> padded_loads(const std::vector<std::uint64_t>& tuned, std::uint64_t load) {
    if (tuned.empty()) throw InputError("expected tuned kernels, found none");
    std::vector<std::uint64_t> sizes;
    for (; load > tuned.back(); load -= tuned.back()) sizes.push_back(tuned.back());
    if (load > 0) sizes.push_back(*std::lower_bound(tuned.begin(), tuned.end(), load));
    return sizes;
}

void limit_segments(GpuKernel& kernel) {
    if (kernel.reads.size() > kMaxSegments) kernel.reads.clear();
    if (kernel.writes.size() > kMaxSegments) kernel.writes.clear();
}

GpuKernel fused_kernel(const std::string& name, const std::vector<GpuKernel>& kernels) {
    if (kernels.empty()) throw InputError(name + ": expected kernels to fuse, found none");
    GpuKernel fused = kernels.front();
    fused.name = name;
    std::uint64_t ctas = fused.ctas();
    std::uint32_t threads = fused.threads_per_cta();
    for (std::size_t i = 1; i < kernels.size(); ++i) {
        const GpuKernel& kernel = kernels[i];
        ctas += kernel.ctas();
        threads = std::max(threads, kernel.threads_per_cta());
        fused.registers_per_thread = std::max(fused.registers_per_thread, kernel.registers_per_thread);
        fused.shared_bytes = std::max(fused.shared_bytes, kernel.shared_bytes);
        fused.work.flops += kernel.work.flops;
        fused.work.tensor_flops += kernel.work.tensor_flops;
        fused.work.read_bytes += kernel.work.read_bytes;
        fused.work.written_bytes += kernel.work.written_bytes;
        fused.schedule.l2_bytes += kernel.schedule.l2_bytes;
        fused.schedule.memory_instructions += kernel.schedule.memory_instructions;
        fused.schedule.dependent_loads = std::max(fused.schedule.dependent_loads, kernel.schedule.dependent_loads);
        fused.reads.insert(fused.reads.end(), kernel.reads.begin(), kernel.reads.end());
        fused.writes.insert(fused.writes.end(), kernel.writes.begin(), kernel.writes.end());
    }
    limit_segments(fused);
    // One part may have the threads and another the registers.
    fused.registers_per_thread = std::min(fused.registers_per_thread, register_limit(threads));
    fused.grid = {static_cast<std::uint32_t>(ctas), 1, 1};
    fused.block = {threads, 1, 1};
    return fused;
}

}  // namespace switchyard::sched::brainstorm
