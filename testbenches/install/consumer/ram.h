// SPDX-License-Identifier: Apache-2.0
// Memory of somebody else's.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

class Ram : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<Ram> socket;
    std::vector<unsigned char> bytes;

    Ram(const sc_core::sc_module_name& name, std::size_t size) : sc_module(name), socket("socket"), bytes(size) {
        socket.register_b_transport(this, &Ram::b_transport);
    }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const std::uint64_t address = payload.get_address();
        const unsigned length = payload.get_data_length();
        if (payload.get_byte_enable_ptr()) return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        if (payload.get_streaming_width() < length) return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        if (address + length > bytes.size()) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes[address], length);
        if (payload.is_write()) std::memcpy(&bytes[address], payload.get_data_ptr(), length);
        delay += sc_core::sc_time(10 + length / 16, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};
