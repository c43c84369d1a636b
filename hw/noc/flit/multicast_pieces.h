// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/packet_format.h"

namespace switchyard::hw::flit {

/// How a message travels that the routers copy along a tree: in pieces of half a VC's buffer, so that the next one can
/// come in while one leaves; each is a packet with a header of its own. The packet model counts its cycles by the same
/// pieces. Knows no SystemC.
class MulticastPieces {
public:
    constexpr MulticastPieces(const PacketFormat& format, unsigned buffer_flits)
        : format_(format),
          flits_(buffer_flits > 1 ? buffer_flits / 2 : 1),
          room_(std::uint64_t{flits_} * format.link_bytes) {
        room_ -= std::min<std::uint64_t>(room_, format.header_bytes);
    }

    /// Of a whole piece.
    constexpr unsigned flits() const { return flits_; }
    /// Payload bytes of a whole piece; 0: its header fills it, and nothing can be sent in pieces.
    constexpr std::uint64_t room() const { return room_; }
    /// Pieces of a message; one without payload is a header alone. Needs room.
    constexpr std::uint64_t count(std::uint64_t payload_bytes) const {
        return std::max<std::uint64_t>(1, ceil_div(payload_bytes, room_));
    }
    /// Flits of all pieces of a message. Needs room.
    constexpr std::uint64_t flits_of(std::uint64_t payload_bytes) const {
        const std::uint64_t whole = count(payload_bytes) - 1;
        return whole * flits_ + format_.flits(payload_bytes - whole * room_);
    }

private:
    PacketFormat format_;
    unsigned flits_;
    std::uint64_t room_;
};

}  // namespace switchyard::hw::flit
