// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "switchyard/hw/network_interface/routing_blocks.h"

namespace switchyard::rtl {

/// What the blocks of a network interface are Verilated with. As in rtl/CMakeLists.txt.
inline constexpr unsigned kRoutingBranches = 16;    ///< of a switch; sources of a merge
inline constexpr unsigned kSampleIdBits = 16;       ///< at the ports of splitter and merge
inline constexpr PacketFormat kPacketFormat{};      ///< of the packetiser
inline constexpr unsigned kPayloadLengthBits = 21;  ///< at its port

/// Throws std::invalid_argument for another format than the packetiser's.
inline void check_format(const PacketFormat& format) {
    if (format == kPacketFormat) return;
    const auto text = [](const PacketFormat& f) {
        return "links of " + std::to_string(f.link_bytes) + " bytes and headers of " + std::to_string(f.header_bytes);
    };
    throw std::invalid_argument("no RTL packetiser for " + text(format) + "; there is, for " + text(kPacketFormat));
}

}  // namespace switchyard::rtl
