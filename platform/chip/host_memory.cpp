// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/host_memory.h"

#include <stdexcept>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/tlm/memory_access.h"
#include "switchyard/tlm/simulated_time.h"

namespace switchyard::platform {

using sc_core::sc_time;

HostMemory::HostMemory(const sc_core::sc_module_name& name, const Config& config)
    : sc_core::sc_module(name), port("port"), config_(config), memory_(config.memory_bytes) {
    port.register_b_transport(this, &HostMemory::b_transport);
    port.register_transport_dbg(this, &HostMemory::transport_dbg);
    port.register_get_direct_mem_ptr(this, &HostMemory::get_direct_mem_ptr);
}

void HostMemory::write(std::uint64_t address, const std::uint8_t* data, std::uint64_t bytes) {
    if (!inside(address, bytes))
        throw std::out_of_range("host memory: expected a write within the memory, found one beyond the end");
    memory_.write(address, data, bytes);
}

std::vector<std::uint8_t> HostMemory::read(std::uint64_t address, std::uint64_t bytes) {
    if (!inside(address, bytes))
        throw std::out_of_range("host memory: expected a read within the memory, found one beyond the end");
    std::vector<std::uint8_t> values(bytes);
    memory_.read(address, values.data(), bytes);
    return values;
}

void HostMemory::b_transport(::tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (!inside(payload.get_address(), memory_span(payload))) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    const auto* repeat = payload.get_extension<RepeatExtension>();
    ::tlm::tlm_response_status status = ::tlm::TLM_OK_RESPONSE;
    if (repeat == nullptr || repeat->has_values) status = access_memory(payload, memory_, payload.get_address());
    const double bytes =
        static_cast<double>(payload.get_data_length()) * static_cast<double>(repeat == nullptr ? 1 : repeat->repeats);
    delay += nanoseconds(config_.memory_latency_ns + bytes / config_.memory_gb_per_s, "an access to host memory");
    payload.set_dmi_allowed(true);
    payload.set_response_status(status);
}

unsigned HostMemory::transport_dbg(::tlm::tlm_generic_payload& payload) {
    if (payload.get_address() >= config_.memory_bytes) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return 0;
    }
    const unsigned bytes = debug_access_memory(payload, memory_, payload.get_address());
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return bytes;
}

bool HostMemory::get_direct_mem_ptr(::tlm::tlm_generic_payload& payload, ::tlm::tlm_dmi& dmi) {
    if (payload.get_address() >= config_.memory_bytes) {
        dmi.set_start_address(config_.memory_bytes);
        dmi.set_end_address(~std::uint64_t{0});
        dmi.allow_none();
        return false;
    }
    const SparseMemory::Piece piece = memory_.piece(payload.get_address());
    dmi.set_start_address(piece.begin);
    dmi.set_end_address(piece.end - 1);
    dmi.set_dmi_ptr(piece.data);
    dmi.allow_read_write();
    const sc_time per_byte = nanoseconds(1 / config_.memory_gb_per_s, "a byte of host memory");
    dmi.set_read_latency(per_byte);
    dmi.set_write_latency(per_byte);
    return true;
}

}  // namespace switchyard::platform
