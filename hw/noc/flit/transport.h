// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/multicast_pieces.h"
#include "switchyard/tlm/packet_format.h"

namespace switchyard::hw::flit {

/// How an endpoint's packet travels that has several destinations.
enum class Multicast : std::uint8_t {
    tree,   ///< in MulticastPieces, which the routers copy along the X-Y tree
    source  ///< as one packet for each destination, one after another in the order of the list
};

/// The flits' network as its endpoints see it: messages of bytes go in, and come out whole and in order.
///
/// A message to one endpoint is one packet. Messages of one source and traffic class reach one destination in the order
/// in which they were sent: those that overtook others in another VC wait in the destination's interface, which has
/// room for any number (`Stats::max_parked`).
class Transport {
public:
    struct Arrival {
        std::uint32_t message;
        std::uint16_t endpoint;
        bool last;  ///< no other destination waits for it; its number may be given again
    };
    struct Stats {
        std::uint64_t messages = 0, arrivals = 0, parked = 0, max_parked = 0;
    };

    /// Throws std::invalid_argument: a header that fills a buffer.
    Transport(FlitNetwork& network, std::size_t endpoints, const PacketFormat& format, Multicast multicast);

    /// Sends `bytes` (0 is a header alone) from the network's current cycle on; the number of the message.
    std::uint32_t send(unsigned source, const std::vector<std::uint16_t>& destinations, std::uint64_t bytes,
                       TrafficClass traffic = TrafficClass::data);
    /// To be called behind every begin_cycle of the network: the messages that have arrived in it.
    const std::vector<Arrival>& collect();

    /// Flits with which a message of `bytes` to one destination leaves its source.
    std::uint64_t unicast_flits(std::uint64_t bytes) const { return format_.flits(bytes); }
    const MulticastPieces& pieces() const { return pieces_; }
    std::size_t in_flight() const { return in_flight_; }
    const Stats& stats() const { return stats_; }

private:
    struct Copy {
        std::uint16_t endpoint;
        std::uint32_t missing_packets;
        std::uint32_t number;  ///< of the flow
    };
    struct Message {
        std::uint16_t source = 0;
        std::uint8_t group = 0;
        std::uint32_t missing_copies = 0;
        std::vector<Copy> copies;
    };

    std::size_t flow(unsigned source, unsigned endpoint, unsigned group) const {
        return (std::size_t{group} * endpoints_ + source) * endpoints_ + endpoint;
    }
    std::uint32_t padding(std::uint64_t bytes) const {
        return static_cast<std::uint32_t>(unicast_flits(bytes) * format_.link_bytes - format_.header_bytes - bytes);
    }
    void arrive(std::uint32_t message, Copy& copy);
    void complete_at_endpoint(std::uint32_t message, unsigned endpoint);

    FlitNetwork& network_;
    std::size_t endpoints_;
    PacketFormat format_;
    MulticastPieces pieces_;
    Multicast multicast_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;
    std::size_t in_flight_ = 0;
    std::vector<std::uint32_t> sent_, expected_;                             ///< by flow: numbers of the next message
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint32_t> parked_;  ///< by flow and number: message
    std::vector<Arrival> arrivals_;
    Stats stats_;
};

}  // namespace switchyard::hw::flit
