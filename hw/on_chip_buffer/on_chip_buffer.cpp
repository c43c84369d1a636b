// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/on_chip_buffer/on_chip_buffer.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/tlm/memory_access.h"

namespace switchyard::hw {

OnChipBuffer::OnChipBuffer(const sc_core::sc_module_name& module_name, const Config& config,
                           SimulationRegistry& registry)
    : sc_module(module_name), socket("socket"), registry_(registry), bytes_(config.bytes) {
    socket.register_b_transport(this, &OnChipBuffer::b_transport);
    socket.register_transport_dbg(this, &OnChipBuffer::transport_dbg);
    register_counters(registry, name(), kCounters, [this]() -> const Stats& { return stats_; });
}

void OnChipBuffer::b_transport(int, ::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_dmi_allowed(false);
    const std::uint64_t address = payload.get_address(), length = payload.get_data_length();
    if (payload.get_byte_enable_ptr() != nullptr)
        return payload.set_response_status(::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    if (length == 0 || payload.get_streaming_width() < length)
        return payload.set_response_status(::tlm::TLM_BURST_ERROR_RESPONSE);
    if (address > bytes_.size() || length > bytes_.size() - address) {
        registry_.add_error(*this, fmt::format("expected addresses below {:#x}, the buffer's, found {} bytes at {:#x}",
                                               bytes_.size(), length, address));
        return payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    payload.set_response_status(access_memory(payload, bytes_.data() + address));
    if (payload.is_read()) stats_.read_bytes += length;
    if (payload.is_write()) {
        stats_.write_bytes += length;
        stats_.max_bytes = std::max(stats_.max_bytes, address + length);
    }
}

unsigned OnChipBuffer::transport_dbg(int, ::tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    if (address >= bytes_.size()) return 0;
    return debug_access_memory(payload, bytes_.data() + address, bytes_.size() - address);
}

}  // namespace switchyard::hw
