// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/memory/hbm_config.h"
#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/tlm/packet_format.h"

namespace switchyard::platform {

/// Packets on the network and requests to memory that belong together, as far as time and counters need them.
struct Traffic {
    struct LinkUse {
        std::uint16_t link = 0;
        std::uint32_t cycles = 0;  ///< for which the packets hold it
    };
    struct MemoryUse {
        std::uint16_t interface = 0;
        std::uint64_t bytes = 0, moved_bytes = 0;  ///< asked for; moved, in whole bursts
        std::uint64_t longest_bytes = 0;           ///< of the longest request
        std::vector<std::uint64_t> channel_bytes;  ///< moved on each of its pseudo-channels
        bool write = false;
    };
    std::vector<LinkUse> links;  ///< each link once, in no order
    std::vector<MemoryUse> memory;
    std::uint64_t packets = 0, addressed_packets = 0;
    std::uint64_t payload_bytes = 0, addressed_bytes = 0;  ///< injected once; times the destinations
    std::uint64_t link_packets = 0, link_bytes = 0;        ///< on links between routers, headers included
    std::uint64_t ejected_packets = 0, ejected_bytes = 0;  ///< payload
    /// The time that the packets take on an idle network over that of their flits, one a cycle. More than 1 where
    /// buffers are filled before the first flit has left the next router.
    double stretch = 1;
};

/// Turns packets into what they cost on the links of hw::PacketNetwork: the routes of the topology, multicast along
/// their tree. Links: those of each router in the order of its ports, then the way in of each endpoint, then the way
/// out.
class TrafficBuilder {
public:
    TrafficBuilder(const hw::NocConfig& noc, const hw::HbmConfig& memory, std::vector<unsigned> router_of_endpoint);

    unsigned links() const { return router_links_ + 2 * endpoints(); }
    unsigned router_links() const { return router_links_; }
    unsigned endpoints() const { return static_cast<unsigned>(router_of_endpoint_.size()); }
    unsigned hops(Endpoint from, Endpoint to) const;
    /// From the injection of a packet's head until the head has left the destination's router, on an idle network.
    std::uint64_t head_cycles(Endpoint from, Endpoint to) const;
    /// The same until the tail of a packet with so much payload has arrived.
    std::uint64_t packet_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const;
    /// From a packet's head until its tail.
    std::uint64_t serialisation_cycles(Endpoint from, const std::vector<Endpoint>& to,
                                       std::uint64_t payload_bytes) const;

    /// One packet from here to there; `max_payload_bytes` cuts it into several.
    void add_packet(Endpoint source, const std::vector<Endpoint>& destinations, std::uint64_t payload_bytes,
                    std::uint64_t max_payload_bytes = UINT64_MAX);
    /// One request to the memory interface that owns `address`; its packets are added beside.
    void add_request(std::uint64_t address, std::uint64_t bytes, bool write);
    unsigned interface_of(std::uint64_t address) const { return static_cast<unsigned>(address / memory_.region_bytes); }
    const Traffic& so_far() const { return sum_; }
    /// Each once.
    const std::vector<std::uint16_t>& links_so_far() const { return used_; }
    /// All that was added since the last call. What stood in `traffic` is lost, but for the room that it has.
    void take(Traffic& traffic);
    Traffic take() {
        Traffic traffic;
        take(traffic);
        return traffic;
    }

private:
    /// Of the packets of a transfer, those that take the same way.
    struct Share {
        std::uint64_t packets = 0, cycles = 0, wire_bytes = 0;
    };
    void add_route(unsigned from, const std::vector<Endpoint>& destinations, unsigned choice, const Share& share);
    void use(unsigned link, std::uint64_t packets, std::uint64_t cycles);
    struct Route {
        const std::uint16_t *first, *last;
        const std::uint16_t* begin() const { return first; }
        const std::uint16_t* end() const { return last; }
    };
    /// Links that a packet crosses between two routers, in their order. Valid until the next call.
    Route route(unsigned from, unsigned to, unsigned choice);
    std::size_t find_route(unsigned from, unsigned to, unsigned choice);
    /// For which the packet occupies a link: its flits.
    std::uint64_t flits(std::uint64_t payload_bytes, std::size_t destinations) const {
        return hw::serialisation_cycles(noc_, payload_bytes, destinations);
    }
    /// From its head until its tail, if it crosses links between routers or not.
    std::uint64_t stretched(std::uint64_t flits, bool crosses) const;
    bool crosses(Endpoint from, const std::vector<Endpoint>& to) const;

    hw::NocConfig noc_;
    hw::HbmConfig memory_;
    std::vector<unsigned> router_of_endpoint_;
    hw::TopologyPtr topology_;
    unsigned router_links_;
    std::vector<std::unique_ptr<hw::RouteChooser>> choosers_;  ///< by endpoint
    std::vector<int> neighbour_;                               ///< [router][port]
    /// Routes taken so far: their number of links, then these.
    std::vector<std::uint16_t> routes_;
    std::vector<std::vector<std::uint32_t>> route_at_;  ///< [router][to, choice]: in routes_; 0: not taken so far
    std::vector<Share> shares_;                         ///< by the choice; scratch
    std::vector<std::uint16_t> routers_;                ///< scratch
    Traffic sum_;
    std::uint64_t stretched_cycles_ = 0, flit_cycles_ = 0;  ///< over the packets of sum_
    std::vector<std::uint32_t> cycles_;                     ///< by link, of sum_
    std::vector<std::uint16_t> used_;
    std::vector<std::uint32_t> visited_;  ///< by link: the packet that was there last
    std::uint32_t packet_ = 0;
};

}  // namespace switchyard::platform
