// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "switchyard/platform/systems/gpu_roofline/gpu_config.h"

namespace switchyard::platform {

/// C (m x n) = A (m x k) B (k x n), or a convolution as implicit GEMM: m = samples x rows x columns, n = output
/// channels, k = input channels x filter.
struct Gemm {
    std::uint64_t m = 1, n = 1, k = 1;
};

/// A GEMM as thread blocks, each of which makes one tile of the output from one slice of the reduction.
struct GemmTiling {
    unsigned tile_m = 0, tile_n = 0, split_k = 1;
    std::uint64_t blocks = 0, waves = 0;
    double us = 0;  ///< without memory and launch
};

/// Output tiles of cuBLAS (NVIDIA, Matrix Multiplication Background, section 2.3), most efficient first.
const std::vector<std::pair<unsigned, unsigned>>& gemm_tiles();

/// A multiprocessor makes one tile in the time of its arithmetic or of its operands from the second-level cache,
/// whichever is longer; all multiprocessors make `multiprocessors` tiles at once (a wave), and the last wave takes as
/// long as a full one (the same guide, section 3). Slices of the reduction leave binary32 partial sums in the cache,
/// which one more kernel adds up.
GemmTiling tile_gemm(const GpuConfig& gpu, const Gemm& gemm, unsigned tile_m, unsigned tile_n, unsigned split_k);

/// The quickest of all tiles and of 1, 2, 4, ... slices, as an ideal heuristic would choose.
GemmTiling best_tiling(const GpuConfig& gpu, const Gemm& gemm);

/// The second-level cache: whole tensors, the least recently used go first. A tensor larger than the cache empties it.
/// Not modelled: parts of tensors, other data, sets and lines.
class TensorCache {
public:
    /// Producer, switch and branch behind it, and what became of the tensor there.
    enum class Form { plain, pooled, gathered };
    using Tensor = std::tuple<int, int, unsigned, Form>;

    explicit TensorCache(std::uint64_t capacity_bytes) : capacity_(capacity_bytes) {}

    /// True if it is there. It is the most recently used afterwards.
    bool read(const Tensor& tensor, std::uint64_t bytes);
    void write(const Tensor& tensor, std::uint64_t bytes) { touch(tensor, bytes); }

private:
    struct Entry {
        Tensor tensor;
        std::uint64_t bytes;
    };
    bool touch(const Tensor& tensor, std::uint64_t bytes);

    std::uint64_t capacity_, used_ = 0;
    std::list<Entry> entries_;  ///< most recently used first
};

/// Host and GPU side by side. The host needs launch_us for each launch and goes on; a kernel starts when its launch is
/// through and queued_kernel_us after the kernel before it. A synchronisation waits until the queue is empty, and
/// synchronisation_us longer.
class LaunchQueue {
public:
    explicit LaunchQueue(const GpuConfig& gpu) : gpu_(gpu) {}

    void launch(double kernel_us);
    void synchronise();

    double end_us() const { return end_us_; }  ///< of the last kernel
    double busy_us() const { return busy_us_; }
    std::uint64_t launches() const { return launches_; }
    std::uint64_t synchronisations() const { return synchronisations_; }

private:
    const GpuConfig& gpu_;
    double host_us_ = 0, end_us_ = 0, busy_us_ = 0;
    std::uint64_t launches_ = 0, synchronisations_ = 0;
};

}  // namespace switchyard::platform
