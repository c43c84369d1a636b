// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/kernel_streams/stream_builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t distinct_bytes(std::vector<MemorySegment> segments) {
    std::sort(segments.begin(), segments.end(), [](const MemorySegment& a, const MemorySegment& b) {
        return a.start < b.start || (a.start == b.start && a.size < b.size);
    });
    segments.erase(std::unique(segments.begin(), segments.end()), segments.end());
    std::uint64_t sum = 0;
    for (const MemorySegment& segment : segments) sum += segment.size;
    return sum;
}

}  // namespace

MemorySegment StreamBuilder::allocate(std::uint64_t bytes) {
    const std::uint64_t room = kAddressSpace / 2 - next_;
    if (bytes > room)
        throw InputError(
            "", 0, "",
            fmt::format("expected arrays of {} bytes together, found {} bytes more", kAddressSpace / 2, bytes - room));
    const MemorySegment segment{next_, bytes};
    next_ += std::min(room, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    return segment;
}

void StreamBuilder::launch(const std::string& name, const LaunchShape& shape, std::uint64_t flops,
                           const std::vector<MemorySegment>& reads, const std::vector<MemorySegment>& writes) {
    GpuKernel kernel;
    kernel.name = name;
    kernel.grid = shape.grid;
    kernel.block = {shape.threads, 1, 1};
    kernel.registers_per_thread = shape.registers_per_thread;
    kernel.shared_bytes = shape.shared_bytes;
    kernel.schedule = shape.schedule;
    kernel.work.flops = flops;
    kernel.work.read_bytes = distinct_bytes(reads);
    kernel.work.written_bytes = distinct_bytes(writes);
    kernel.reads = reads;
    kernel.writes = writes;
    const std::string message = validation_error(kernel);
    if (!message.empty()) throw InputError("", 0, "", fmt::format("kernel {}: {}", name, message));
    kernels_.push_back(std::move(kernel));
}

}  // namespace switchyard::sched
