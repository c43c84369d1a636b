// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/tlm/routed_extension.h"

namespace switchyard::hw {

/// What stands in front of a packet's payload, little-endian: u8 kind, u8 whether values follow, u16 source, u16 first
/// destination, u16 number of destinations, u16 edge, u16 unit, u32 bytes of payload. The rest of RoutedExtension is
/// carried beside it.
inline constexpr unsigned kPacketHeaderBytes = 16;

std::vector<std::uint8_t> packet_header(const RoutedExtension& packet);
/// Writes what a header of kPacketHeaderBytes says into the packet. False if no packet has such a header.
bool read_packet_header(const std::uint8_t* header, RoutedExtension& packet);

}  // namespace switchyard::hw
