// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/gpu_roofline/gpu_kernels.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::platform {

namespace {

constexpr double kOperandBytes = 2, kPartialSumBytes = 4;

}  // namespace

const std::vector<std::pair<unsigned, unsigned>>& gemm_tiles() {
    static const std::vector<std::pair<unsigned, unsigned>> kTiles{{256, 128}, {128, 256}, {128, 128}, {256, 64},
                                                                   {64, 256},  {128, 64},  {64, 128},  {64, 64}};
    return kTiles;
}

GemmTiling tile_gemm(const GpuConfig& gpu, const Gemm& gemm, unsigned tile_m, unsigned tile_n, unsigned split_k) {
    GemmTiling tiling{tile_m, tile_n, split_k, 0, 0, 0};
    tiling.blocks = ceil_div(gemm.m, tile_m) * ceil_div(gemm.n, tile_n) * split_k;
    tiling.waves = ceil_div(tiling.blocks, gpu.multiprocessors);
    const auto depth = static_cast<double>(ceil_div(gemm.k, split_k));
    const double flops = 2.0 * tile_m * tile_n * depth, bytes = kOperandBytes * (double{1} * tile_m + tile_n) * depth;
    const double tile_us =
        std::max(flops / (gpu.tensor_flops_per_us() * gpu.tensor_efficiency), bytes / gpu.l2_bytes_per_us()) *
        gpu.multiprocessors;
    tiling.us = static_cast<double>(tiling.waves) * tile_us;
    if (split_k > 1) {
        const double sums = kPartialSumBytes * static_cast<double>(gemm.m * gemm.n) * split_k;
        tiling.us += 2 * sums / gpu.l2_bytes_per_us() + gpu.queued_kernel_us;
    }
    return tiling;
}

GemmTiling best_tiling(const GpuConfig& gpu, const Gemm& gemm) {
    GemmTiling best;
    for (const auto& [tile_m, tile_n] : gemm_tiles()) {
        for (unsigned split_k = 1; split_k <= std::min<std::uint64_t>(gpu.max_split_k, gemm.k); split_k *= 2) {
            const GemmTiling tiling = tile_gemm(gpu, gemm, tile_m, tile_n, split_k);
            if (best.tile_m == 0 || tiling.us < best.us) best = tiling;
        }
    }
    return best;
}

bool TensorCache::read(const Tensor& tensor, std::uint64_t bytes) {
    return touch(tensor, bytes);
}

bool TensorCache::touch(const Tensor& tensor, std::uint64_t bytes) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.tensor == tensor; });
    const bool hit = found != entries_.end() && found->bytes >= bytes;
    if (found != entries_.end()) {
        bytes = std::max(bytes, found->bytes);
        used_ -= found->bytes;
        entries_.erase(found);
    }
    while (!entries_.empty() && used_ + bytes > capacity_) {
        used_ -= entries_.back().bytes;
        entries_.pop_back();
    }
    if (bytes <= capacity_) {
        entries_.push_front({tensor, bytes});
        used_ += bytes;
    }
    return hit;
}

void LaunchQueue::launch(double kernel_us) {
    host_us_ += gpu_.framework_us + gpu_.launch_us;
    const double free_us = launches_ > 0 ? end_us_ + gpu_.queued_kernel_us : 0;
    end_us_ = std::max(host_us_, free_us) + kernel_us;
    busy_us_ += kernel_us;
    ++launches_;
}

void LaunchQueue::synchronise() {
    host_us_ = std::max(host_us_, end_us_) + gpu_.synchronisation_us;
    ++synchronisations_;
}

}  // namespace switchyard::platform
