// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/device_memory.h"

#include <algorithm>
#include <utility>

#include "switchyard/tlm/memory_access.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::hw {

DeviceMemory::DeviceMemory(const sc_core::sc_module_name& module_name, const Config& config,
                           SimulationRegistry& registry)
    : sc_module(module_name), socket("socket"), config_(config), memory_(config.bytes) {
    socket.register_b_transport(this, &DeviceMemory::b_transport);
    socket.register_transport_dbg(this, &DeviceMemory::debug_transport);
    registry.add(*this, "read_bytes", "bytes", stats_.read_bytes);
    registry.add(*this, "write_bytes", "bytes", stats_.write_bytes);
}

void DeviceMemory::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_dmi_allowed(false);
    const std::uint64_t span = memory_span(payload);
    if (payload.get_address() >= config_.bytes || span > config_.bytes - payload.get_address()) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    payload.set_response_status(access_memory(payload, memory_, payload.get_address()));
    if (payload.is_response_error() || payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return;
    (payload.is_read() ? stats_.read_bytes : stats_.write_bytes) += span;
    const sc_core::sc_time arrival = sc_core::sc_time_stamp() + delay;
    free_ =
        std::max(free_, arrival) + nanoseconds(static_cast<double>(span) / config_.gb_per_s, "bytes of device memory");
    delay += free_ - arrival + nanoseconds(config_.latency_ns, "latency_ns");
}

unsigned DeviceMemory::debug_transport(::tlm::tlm_generic_payload& payload) {
    if (payload.get_address() >= config_.bytes) return 0;
    return debug_access_memory(payload, memory_, payload.get_address());
}

MemoryHub::MemoryHub(const sc_core::sc_module_name& module_name, unsigned initiators,
                     std::function<void(unsigned)> on_write)
    : sc_module(module_name), in("in", initiators), out("out"), on_write_(std::move(on_write)) {
    for (unsigned i = 0; i < initiators; ++i) {
        in[i].register_b_transport(this, &MemoryHub::b_transport, static_cast<int>(i));
        in[i].register_transport_dbg(this, &MemoryHub::debug_transport, static_cast<int>(i));
    }
}

void MemoryHub::b_transport(int initiator, ::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const bool write = payload.is_write();
    out->b_transport(payload, delay);
    if (!write) return;
    // Others see what was written when it is there.
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
    on_write_(static_cast<unsigned>(initiator));
}

unsigned MemoryHub::debug_transport(int initiator, ::tlm::tlm_generic_payload& payload) {
    const unsigned count = out->transport_dbg(payload);
    if (payload.is_write()) on_write_(static_cast<unsigned>(initiator));
    return count;
}

}  // namespace switchyard::hw
