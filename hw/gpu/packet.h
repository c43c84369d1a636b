// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/workload/kernel_stream.h"

namespace switchyard::hw {

inline constexpr unsigned kGpuPacketBytes = 128;
inline constexpr unsigned kGpuSegmentBytes = 16;  ///< of a segment in device memory: u64 address, u64 bytes

/// A packet of a queue of the GPU, 128 bytes, little-endian. docs/models/gpu.md has the layout. The idea is that of the
/// AQL packets of the HSA Platform System Architecture Specification 1.2, section 2.9: fixed size, a bit that waits
/// for what came before, a completion signal. The layout is ours.
struct GpuPacket {
    enum class Kind : std::uint8_t {
        kernel = 1,        ///< runs a kernel
        event_wait = 2,    ///< the queue goes on when the word at event_address is event_value or more
        event_signal = 3,  ///< writes event_value to event_address
        barrier = 4,       ///< complete when all earlier packets of the queue are
        copy = 5           ///< by a copy engine
    };
    enum class Direction : std::uint8_t { host_to_device = 0, device_to_host = 1, device_to_device = 2 };

    Kind kind = Kind::kernel;
    /// Not before all earlier packets of the queue are complete, as in a CUDA stream. event_signal and barrier always.
    bool in_order = true;
    bool interrupt = false;           ///< raises the interrupt of the queue when complete
    bool graph = false;               ///< of a graph that was instantiated before: graph_launch_ns for its launch
    std::uint64_t tag = 0;            ///< the host's name for it, in messages and records
    std::uint64_t event_address = 0;  ///< of a word of 8 bytes in device memory; kernel, barrier, copy: 0 for none,
    std::uint64_t event_value = 0;    ///< otherwise it is written there on completion

    // Kernels.
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t registers_per_thread = 32, shared_bytes = 0;
    sched::KernelWork work;
    sched::KernelSchedule schedule;
    std::uint64_t segments_address = 0;  ///< in device memory: the segments that are read, then those that are written
    std::uint16_t read_segments = 0, write_segments = 0;

    // Copies.
    Direction direction = Direction::host_to_device;
    std::uint64_t source = 0, destination = 0, bytes = 0;

    std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    std::uint32_t threads_per_cta() const { return block[0] * block[1] * block[2]; }
    std::uint32_t warps_per_cta() const { return (threads_per_cta() + 31) / 32; }
    std::uint32_t segments() const { return std::uint32_t{read_segments} + write_segments; }
};

using GpuPacketBytes = std::array<std::uint8_t, kGpuPacketBytes>;

/// The launch of a kernel. Its segments are the caller's to store at `segments_address` (encode_segments()).
GpuPacket kernel_packet(const sched::GpuKernel& kernel, std::uint64_t tag, std::uint64_t segments_address = 0);
/// What stands at segments_address.
std::vector<std::uint8_t> encode_segments(const sched::GpuKernel& kernel);

GpuPacketBytes encode(const GpuPacket& packet);
/// Throws InputError "offset N: ..." for an unknown kind or a direction that is none.
GpuPacket decode_gpu_packet(const GpuPacketBytes& bytes);
/// "" or what no GPU can do: an empty grid, too many segments, an event at address 0.
std::string validation_error(const GpuPacket& packet);

}  // namespace switchyard::hw
