// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tlm>

#include "switchyard/tlm/sparse_memory.h"

namespace switchyard {

/// Executes a read or write on plain memory, `memory` being the byte at the payload's address: byte enables (repeated
/// over the data array, IEEE 1666 14.14) and streaming (14.15) as the standard has them. An ignore command does
/// nothing. The caller has checked that `memory_span(payload)` bytes exist. Returns TLM_OK_RESPONSE, or the error for
/// attributes that mean nothing (a byte enable length or a streaming width of zero).
::tlm::tlm_response_status access_memory(const ::tlm::tlm_generic_payload& payload, unsigned char* memory);

/// The same, `address` being the payload's place in `memory`.
::tlm::tlm_response_status access_memory(const ::tlm::tlm_generic_payload& payload, SparseMemory& memory,
                                         std::uint64_t address);

/// transport_dbg on plain memory, whose byte at the payload's address is `memory`, with `room` bytes from there to its
/// end: copies as many of the payload's bytes as there are. Returns how many; 0 of an ignore command.
unsigned debug_access_memory(::tlm::tlm_generic_payload& payload, unsigned char* memory, std::uint64_t room);

/// The same, from `address` to the memory's end.
unsigned debug_access_memory(::tlm::tlm_generic_payload& payload, SparseMemory& memory, std::uint64_t address);

/// Bytes of memory from the payload's address on that a read or write touches.
unsigned memory_span(const ::tlm::tlm_generic_payload& payload);

}  // namespace switchyard
