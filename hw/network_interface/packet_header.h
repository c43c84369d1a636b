// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/hw/messages/adyna_message.h"
#include "switchyard/tlm/packet.h"

namespace switchyard::hw {

/// What stands in front of a packet's payload, little-endian: u8 kind, u8 memory operation (bits 0 to 6) and whether
/// values follow (bit 7), u16 source, u16 first destination, u16 number of destinations, u16 edge, u16 unit, u32 bytes
/// of payload. The rest of the extensions is carried beside it.
inline constexpr unsigned kPacketHeaderBytes = 16;

/// The extensions in which the header's fields are.
struct PacketHeaderFields {
    PacketExtension& packet;
    MemoryExtension& memory;
    AdynaMessage& message;
};

std::vector<std::uint8_t> packet_header(const PacketHeaderFields& fields);
/// Writes what a header of kPacketHeaderBytes says into the packet. False if no packet has such a header.
bool read_packet_header(const std::uint8_t* header, const PacketHeaderFields& fields);

}  // namespace switchyard::hw
