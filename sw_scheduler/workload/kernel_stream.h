// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/memory_segment.h"

namespace switchyard::sched {

/// Work of one kernel launch, all threads together.
struct KernelWork {
    std::uint64_t flops = 0;         ///< outside tensor cores; a multiply-accumulate is two
    std::uint64_t tensor_flops = 0;  ///< on tensor cores
    std::uint64_t read_bytes = 0;    ///< of global memory, each byte once
    std::uint64_t written_bytes = 0;
};

/// How a kernel goes about its work, all threads together. 0: not known, the GPU's model takes what its text says.
struct KernelSchedule {
    std::uint64_t l2_bytes = 0;  ///< between multiprocessors and L2; unknown: as global memory
    /// Of warps, to shared and global memory; unknown: 128 bytes of l2_bytes each.
    std::uint64_t memory_instructions = 0;
    std::uint32_t dependent_loads = 0;  ///< of a CTA, one after another, with nothing to do meanwhile; unknown: 1
};

/// One kernel launch of a GPU, as the application issues it.
struct GpuKernel {
    std::string name;
    std::array<std::uint32_t, 3> grid{1, 1, 1};   ///< CTAs
    std::array<std::uint32_t, 3> block{1, 1, 1};  ///< threads of a CTA
    std::uint32_t registers_per_thread = 32;
    std::uint32_t shared_bytes = 0;  ///< of a CTA
    KernelWork work;
    std::vector<MemorySegment> reads, writes;
    KernelSchedule schedule;

    std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    std::uint32_t threads_per_cta() const { return block[0] * block[1] * block[2]; }
};

/// Limits of the formats and of every CUDA device (CUDA C++ Programming Guide, table of compute capabilities).
inline constexpr std::uint32_t kMaxGridX = 2147483647, kMaxGridYz = 65535;
inline constexpr std::uint32_t kMaxThreadsPerCta = 1024, kMaxRegistersPerThread = 255;
inline constexpr std::uint32_t kMaxSharedBytes = 233472;
inline constexpr std::size_t kMaxSegments = 64;  ///< of reads, and of writes

/// "" or what is wrong with a kernel, with the key in front: "block: 2048 threads, a CTA has 1024 at most".
std::string validation_error(const GpuKernel& kernel);

/// A kernel with `factor` (1 or more) times the CTAs in x, work and bytes. Segments begin and end at `factor` times
/// their addresses, so that two enlarged kernels share bytes if the kernels do. Beyond the limits: validation_error().
GpuKernel enlarged(const GpuKernel& kernel, std::uint32_t factor);

/// A kernel stream as JSON Lines (docs/kernel_stream.md), one kernel a line:
///     {"name": "gemm", "grid": [16, 4, 1], "block": [128, 1, 1], "registers": 64, "shared_bytes": 16384,
///      "flops": 0, "tensor_flops": 4194304, "read_bytes": 65536, "written_bytes": 32768,
///      "reads": [[4096, 32768], [65536, 32768]], "writes": [[131072, 32768]]}
/// `name`, `grid` and `block` must be there; `l2_bytes`, `memory_instructions` and `dependent_loads` are written only
/// if they are known. Throws InputError "file:line: key: ...", also for a stream without kernels.
std::vector<GpuKernel> read_kernel_stream(const std::string& path);
/// The same from its text; `source` is for messages.
std::vector<GpuKernel> parse_kernel_stream(const std::string& text, const std::string& source);
std::string kernel_stream_text(const std::vector<GpuKernel>& kernels);

/// The same in binary: "SYKS", u16 version 2, u32 kernels, the kernels, u32 CRC-32 of all before it; little-endian.
/// Throws InputError: another format or version, a length or a checksum that does not fit, a kernel out of the limits.
std::vector<std::uint8_t> encode_kernel_stream(const std::vector<GpuKernel>& kernels);
std::vector<GpuKernel> decode_kernel_stream(const std::vector<std::uint8_t>& bytes, const std::string& source);

/// A file in either form, which its first bytes tell. Throws InputError.
std::vector<GpuKernel> load_kernel_stream(const std::string& path);

}  // namespace switchyard::sched
