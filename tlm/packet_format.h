// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard {

/// Number of an endpoint of a network: what the composition attaches gets its number from an EndpointMap
/// (hw/noc/endpoint_map.h).
using Endpoint = std::uint16_t;

/// Traffic that cannot be blocked by the other: a network may give control packets virtual channels and queues of their
/// own, so that they do not wait behind data. The sender chooses control for packets without data that nobody needs in
/// order with data.
enum class TrafficClass : std::uint8_t { data, control };

/// Sizes of what goes over a link of the network, in bytes. Here since the network and those who send over it count
/// flits alike. Knows no SystemC.
struct PacketFormat {
    unsigned link_bytes = 192;   ///< of a flit
    unsigned header_bytes = 16;  ///< of a packet, in front of its payload, in its first flit

    /// Flits of a packet with `payload_bytes` of payload: cycles for which it occupies a link.
    constexpr std::uint64_t flits(std::uint64_t payload_bytes) const {
        return ceil_div(header_bytes + payload_bytes, link_bytes);
    }
    bool operator==(const PacketFormat& o) const {
        return link_bytes == o.link_bytes && header_bytes == o.header_bytes;
    }
};

}  // namespace switchyard
