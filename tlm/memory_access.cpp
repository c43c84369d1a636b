// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/memory_access.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace switchyard {
namespace {

void copy(const ::tlm::tlm_generic_payload& payload, unsigned char* memory, unsigned char* data, unsigned bytes) {
    if (payload.is_read())
        std::memcpy(data, memory, bytes);
    else
        std::memcpy(memory, data, bytes);
}

}  // namespace

unsigned memory_span(const ::tlm::tlm_generic_payload& payload) {
    return std::min(payload.get_data_length(), payload.get_streaming_width());
}

::tlm::tlm_response_status access_memory(const ::tlm::tlm_generic_payload& payload, unsigned char* memory) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return ::tlm::TLM_OK_RESPONSE;
    const unsigned length = payload.get_data_length();
    const unsigned width = payload.get_streaming_width();
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    if (width == 0) return ::tlm::TLM_BURST_ERROR_RESPONSE;
    if (enables && payload.get_byte_enable_length() == 0) return ::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    unsigned char* const data = payload.get_data_ptr();
    if (!enables && width >= length) {
        copy(payload, memory, data, length);
        return ::tlm::TLM_OK_RESPONSE;
    }
    for (unsigned i = 0; i < length; ++i) {
        if (!enables || enables[i % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED)
            copy(payload, memory + i % width, data + i, 1);
    }
    return ::tlm::TLM_OK_RESPONSE;
}

::tlm::tlm_response_status access_memory(const ::tlm::tlm_generic_payload& payload, SparseMemory& memory,
                                         std::uint64_t address) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return ::tlm::TLM_OK_RESPONSE;
    const unsigned span = memory_span(payload);
    if (span > 0 && memory.holds_together(address, span))
        return access_memory(payload, memory.piece(address).at(address));
    std::vector<unsigned char> together(span);
    memory.read(address, together.data(), span);
    const ::tlm::tlm_response_status status = access_memory(payload, together.data());
    if (payload.is_write()) memory.write(address, together.data(), span);
    return status;
}

unsigned debug_access_memory(::tlm::tlm_generic_payload& payload, SparseMemory& memory, std::uint64_t address) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return 0;
    const auto length =
        static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), memory.size() - address));
    if (payload.is_read())
        memory.read(address, payload.get_data_ptr(), length);
    else
        memory.write(address, payload.get_data_ptr(), length);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return length;
}

unsigned debug_access_memory(::tlm::tlm_generic_payload& payload, unsigned char* memory, std::uint64_t room) {
    if (payload.get_command() == ::tlm::TLM_IGNORE_COMMAND) return 0;
    const auto length = static_cast<unsigned>(std::min<std::uint64_t>(payload.get_data_length(), room));
    if (length > 0) copy(payload, memory, payload.get_data_ptr(), length);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return length;
}

}  // namespace switchyard
