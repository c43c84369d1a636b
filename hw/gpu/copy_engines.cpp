// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/copy_engines.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/hw/gpu/kernel_launch.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/activity_log.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

CopyEngines::CopyEngines(const sc_core::sc_module_name& module_name, const Config& config, SimulationRegistry& registry)
    : sc_module(module_name),
      copies("copies"),
      completions("completions"),
      host_memory("host_memory"),
      device_memory("device_memory"),
      config_(config),
      arrived_("arrived") {
    copies.register_b_transport(this, &CopyEngines::take);
    for (unsigned engine = 0; engine < config.engines; ++engine)
        sc_core::sc_spawn([this, engine] { run(engine); }, fmt::format("engine_{}", engine).c_str());
    registry.add(*this, "copies", "1", stats_.copies);
    registry.add(*this, "to_device_bytes", "bytes", stats_.to_device_bytes);
    registry.add(*this, "to_host_bytes", "bytes", stats_.to_host_bytes);
    registry.add(*this, "on_device_bytes", "bytes", stats_.on_device_bytes);
}

void CopyEngines::take(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    if (!payload.is_write() || payload.get_data_length() != kGpuPacketBytes) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    GpuPacketBytes bytes{};
    std::copy_n(payload.get_data_ptr(), bytes.size(), bytes.begin());
    try {
        waiting_.push_back({payload.get_address(), decode_gpu_packet(bytes)});
    } catch (const InputError&) {
        payload.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    arrived_.notify(sc_core::SC_ZERO_TIME);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

void CopyEngines::run(unsigned engine) {
    ActivityLog* const log = ActivityLog::current();
    const ActivityLog::Track track = log != nullptr ? log->track("GPU", fmt::format("copy engine {}", engine)) : 0;
    while (true) {
        if (waiting_.empty()) {
            wait(arrived_);
            continue;
        }
        const Copy copied = waiting_.front();
        waiting_.pop_front();
        ++stats_.copies;
        const std::uint64_t begin = sc_core::sc_time_stamp().value();
        wait(nanoseconds(config_.setup_ns, "setup_ns"));
        copy(copied.packet);
        if (log != nullptr) {
            using Direction = GpuPacket::Direction;
            const Direction direction = copied.packet.direction;
            log->slice(track,
                       direction == Direction::host_to_device   ? "to device"
                       : direction == Direction::device_to_host ? "to host"
                                                                : "on device",
                       begin, sc_core::sc_time_stamp().value(),
                       {{"tag", copied.packet.tag}, {"bytes", copied.packet.bytes}});
        }
        std::uint64_t tag = copied.packet.tag;
        ::tlm::tlm_generic_payload payload;
        set_access(payload, true, copied.handle, &tag, sizeof tag);
        sc_core::sc_time delay;
        completions->b_transport(payload, delay);
        if (payload.is_response_error())
            throw ModelError(*this, fmt::format("copy {}: expected its completion to be taken, found {}", tag,
                                                payload.get_response_string()));
    }
}

void CopyEngines::access(Memory& memory, bool write, std::uint64_t address, std::vector<std::uint8_t>& data,
                         const GpuPacket& packet) {
    ::tlm::tlm_generic_payload payload;
    set_access(payload, write, address, data.data(), static_cast<unsigned>(data.size()));
    sc_core::sc_time delay;
    memory->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error())
        throw ModelError(
            *this, fmt::format("copy {}: expected {} memory at {:#x}, found {}", packet.tag,
                               &memory == &host_memory ? "host" : "device", address, payload.get_response_string()));
}

void CopyEngines::copy(const GpuPacket& packet) {
    using Direction = GpuPacket::Direction;
    Memory& from = packet.direction == Direction::host_to_device ? host_memory : device_memory;
    Memory& to = packet.direction == Direction::device_to_host ? host_memory : device_memory;
    auto& counter = packet.direction == Direction::host_to_device   ? stats_.to_device_bytes
                    : packet.direction == Direction::device_to_host ? stats_.to_host_bytes
                                                                    : stats_.on_device_bytes;
    // Chunks that are under way are independent: each is read, then written.
    const auto worker = [&](unsigned first) {
        std::vector<std::uint8_t> chunk;
        const std::uint64_t stride = std::uint64_t{config_.chunk_bytes} * config_.outstanding_chunks;
        for (std::uint64_t begin = std::uint64_t{first} * config_.chunk_bytes; begin < packet.bytes; begin += stride) {
            chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(config_.chunk_bytes, packet.bytes - begin)));
            access(from, false, packet.source + begin, chunk, packet);
            access(to, true, packet.destination + begin, chunk, packet);
            counter += chunk.size();
        }
    };
    std::vector<sc_core::sc_process_handle> workers;
    for (unsigned i = 1; i < config_.outstanding_chunks; ++i)
        workers.push_back(sc_core::sc_spawn([&worker, i] { worker(i); }));
    worker(0);
    for (sc_core::sc_process_handle& other : workers)
        if (!other.terminated()) wait(other.terminated_event());
}

}  // namespace switchyard::hw
