// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/tlm/packet_format.h"

namespace switchyard {

/// What a network knows of a packet, whichever system sends it. Every payload on a link of a network has one. A packet
/// is multicast if it has more than one destination.
///
/// What the packet means to its sender and its receivers stands in other extensions of the same payload, which a
/// network neither reads nor changes: MemoryExtension (memory_request.h), and a message of the system's own. The
/// payload's data array holds real bytes if `has_values`; otherwise its contents are undefined and only sizes move.
struct PacketExtension : ::tlm::tlm_extension<PacketExtension> {
    Endpoint source = 0;
    std::vector<Endpoint> destinations;
    TrafficClass traffic = TrafficClass::data;  ///< the sender's choice
    bool has_values = false;
    std::uint64_t payload_bytes = 0;   ///< on the wire, behind the header
    bool wants_receipt = false;        ///< set by the sender ...
    bool receipt_follows = false;      ///< ... and this by a network that does not know yet when the packet will arrive
    bool is_receipt = false;           ///< from the network to the sender: the last copy of its packet has arrived
    std::uint32_t receipt_tag = 0;     ///< the sender's; its receipt has the same
    sc_core::sc_time sent_at;          ///< when the sender gave it to the network
    std::vector<std::uint8_t> values;  ///< has_values: where the sender keeps the bytes that the payload points to

    /// Back to the defaults above; the vectors keep their room. A pool calls it for every packet.
    void reset() {
        source = 0;
        destinations.clear();
        traffic = TrafficClass::data;
        has_values = false;
        payload_bytes = 0;
        wants_receipt = receipt_follows = is_receipt = false;
        receipt_tag = 0;
        sent_at = sc_core::SC_ZERO_TIME;
        values.clear();
    }

    ::tlm::tlm_extension_base* clone() const override { return new PacketExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const PacketExtension&>(other);
    }
};

}  // namespace switchyard
