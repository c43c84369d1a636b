// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/packet.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/bytes.h"

namespace switchyard::hw {

namespace {

constexpr std::uint8_t kInOrder = 1u << 0, kInterrupt = 1u << 1, kGraph = 1u << 2;

/// The fields behind the header, in the order of the layout.
template <class Archive>
void transfer_kernel(Archive& archive, typename Archive::template Record<GpuPacket> p) {
    archive(p.grid[0], p.grid[1], p.grid[2], p.block[0], p.block[1], p.block[2], p.registers_per_thread, p.shared_bytes,
            p.work.flops, p.work.tensor_flops, p.work.read_bytes, p.work.written_bytes, p.schedule.l2_bytes,
            p.schedule.memory_instructions, p.schedule.dependent_loads, p.read_segments, p.write_segments,
            p.segments_address);
}

template <class Archive>
void transfer_copy(Archive& archive, typename Archive::template Record<GpuPacket> p) {
    archive(p.source, p.destination, p.bytes);
    archive.enumeration(p.direction, GpuPacket::Direction::device_to_device);
}

}  // namespace

GpuPacket kernel_packet(const sched::GpuKernel& kernel, std::uint64_t tag, std::uint64_t segments_address) {
    GpuPacket packet;
    packet.tag = tag;
    packet.grid = kernel.grid;
    packet.block = kernel.block;
    packet.registers_per_thread = kernel.registers_per_thread;
    packet.shared_bytes = kernel.shared_bytes;
    packet.work = kernel.work;
    packet.schedule = kernel.schedule;
    packet.segments_address = segments_address;
    packet.read_segments = static_cast<std::uint16_t>(kernel.reads.size());
    packet.write_segments = static_cast<std::uint16_t>(kernel.writes.size());
    return packet;
}

std::vector<std::uint8_t> encode_segments(const sched::GpuKernel& kernel) {
    ByteWriter writer;
    for (const auto* list : {&kernel.reads, &kernel.writes})
        for (const sched::MemorySegment& segment : *list) writer(segment.start, segment.size);
    return writer.take();
}

GpuPacketBytes encode(const GpuPacket& packet) {
    ByteWriter writer;
    const auto flags = static_cast<std::uint8_t>((packet.in_order ? kInOrder : 0) |
                                                 (packet.interrupt ? kInterrupt : 0) | (packet.graph ? kGraph : 0));
    writer.enumeration(packet.kind, GpuPacket::Kind::copy);
    writer(flags, std::uint16_t{0}, std::uint32_t{0}, packet.tag, packet.event_address, packet.event_value);
    if (packet.kind == GpuPacket::Kind::kernel) transfer_kernel(writer, packet);
    if (packet.kind == GpuPacket::Kind::copy) transfer_copy(writer, packet);
    const std::vector<std::uint8_t> bytes = writer.take();
    static_assert(kGpuPacketBytes == 128, "the layout below has room for what transfer_kernel() writes");
    GpuPacketBytes result{};
    std::copy(bytes.begin(), bytes.end(), result.begin());
    return result;
}

GpuPacket decode_gpu_packet(const GpuPacketBytes& bytes) {
    ByteReader reader(bytes.data(), bytes.size());
    GpuPacket packet;
    std::uint8_t flags = 0;
    std::uint16_t half = 0;
    std::uint32_t word = 0;
    reader.enumeration(packet.kind, GpuPacket::Kind::copy);
    if (static_cast<std::uint8_t>(packet.kind) == 0) reader.fail("expected the kind of a packet, found 0");
    reader(flags, half, word, packet.tag, packet.event_address, packet.event_value);
    packet.in_order = (flags & kInOrder) != 0;
    packet.interrupt = (flags & kInterrupt) != 0;
    packet.graph = (flags & kGraph) != 0;
    if (packet.kind == GpuPacket::Kind::kernel) transfer_kernel(reader, packet);
    if (packet.kind == GpuPacket::Kind::copy) transfer_copy(reader, packet);
    return packet;
}

std::string validation_error(const GpuPacket& packet) {
    using Kind = GpuPacket::Kind;
    if (packet.kind == Kind::kernel) {
        if (packet.ctas() == 0) return "grid: expected at least 1 CTA, found 0";
        // Each dimension by itself, so that the product cannot wrap.
        for (const std::uint32_t threads : packet.block)
            if (threads == 0 || threads > sched::kMaxThreadsPerCta)
                return fmt::format("block: expected 1 to {} threads in a dimension, found {}", sched::kMaxThreadsPerCta,
                                   threads);
        if (packet.threads_per_cta() > sched::kMaxThreadsPerCta)
            return fmt::format("block: expected at most {} threads, found {}", sched::kMaxThreadsPerCta,
                               packet.threads_per_cta());
        if (packet.read_segments > sched::kMaxSegments || packet.write_segments > sched::kMaxSegments)
            return fmt::format("segments: expected at most {} to read and to write, found {} and {}",
                               sched::kMaxSegments, packet.read_segments, packet.write_segments);
    }
    const bool event = packet.kind == Kind::event_wait || packet.kind == Kind::event_signal;
    if (event && packet.event_address == 0) return "event_address: expected the address of an event, found 0";
    if (packet.event_address % 8 != 0)
        return fmt::format("event_address: expected a multiple of 8, found {}", packet.event_address);
    if (packet.kind == Kind::copy && packet.bytes == 0) return "bytes: expected a copy of at least 1 byte, found 0";
    return "";
}

}  // namespace switchyard::hw
