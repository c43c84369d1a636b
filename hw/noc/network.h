// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/flit/external_router.h"
#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/tlm/packet.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// What a link, or a network, has carried.
struct LinkStats {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  ///< headers included
    std::uint64_t busy_cycles = 0;
};
struct NetworkStats {
    std::uint64_t injected_packets = 0;
    std::uint64_t injected_bytes = 0;  ///< payload
    std::uint64_t addressed_packets = 0;
    std::uint64_t addressed_bytes = 0;  ///< payload, times the destinations of each packet
    std::uint64_t ejected_packets = 0;
    std::uint64_t ejected_bytes = 0;     ///< payload
    std::uint64_t link_packets = 0;      ///< on the links to other routers
    std::uint64_t link_bytes = 0;        ///< on these, headers included
    std::uint64_t link_busy_cycles = 0;  ///< on these, summed
    std::uint64_t max_link_busy_cycles = 0;

    NetworkStats& operator+=(const NetworkStats& o);
};

/// The counters of a router, alike whichever model has one: of all its ports.
inline constexpr StatCounter<NetworkStats> kRouterCounters[] = {
    {"injected_packets", "1", &NetworkStats::injected_packets},
    {"injected_bytes", "bytes", &NetworkStats::injected_bytes},
    {"addressed_packets", "1", &NetworkStats::addressed_packets},
    {"addressed_bytes", "bytes", &NetworkStats::addressed_bytes},
    {"ejected_packets", "1", &NetworkStats::ejected_packets},
    {"ejected_bytes", "bytes", &NetworkStats::ejected_bytes},
    {"link_packets", "1", &NetworkStats::link_packets},
    {"link_bytes", "bytes", &NetworkStats::link_bytes},
    {"link_busy_cycles", "cycles", &NetworkStats::link_busy_cycles}};
/// Registers those of one of its links, by the link's name ("east_out", "endpoint_3_out").
void register_link_counters(SimulationRegistry& registry, const std::string& module, const std::string& link,
                            const std::function<LinkStats()>& read);
/// Registers those of a network beside its routers': its `links` between routers, and the longest that one was busy.
void register_network_counters(SimulationRegistry& registry, const std::string& module, unsigned links,
                               const std::function<NetworkStats()>& read);

/// A network: the routers of a Topology, their links, and a pair of sockets for each endpoint. Several endpoints may
/// share a router; each has links of its own. It knows of packets what PacketExtension says, and of endpoints their
/// numbers (EndpointMap).
///
/// A packet is a payload with a PacketExtension. It goes in by b_transport at its source's `inject`, at the time of the
/// call plus `delay`, and comes out by b_transport at the `eject` of every destination, where `destinations` holds that
/// one alone. An endpoint does not wait in its b_transport; one that needs the packet afterwards acquires the payload
/// and does not read `destinations` again. Packets of one source, destination and traffic class (TrafficClass) arrive
/// in the order in which they were injected.
///
/// An implementation that knows all about a packet's way when it is injected delivers it in the same call, and adds to
/// `delay` the time until the last copy's tail has arrived. Another one leaves `delay` as it is, keeps the payload,
/// which must have a memory manager, and delivers it when its tail arrives, with a delay of zero. Who must know when
/// the last copy has arrived sets PacketExtension::wants_receipt: then `receipt_follows` is set on return, and a packet
/// that is a receipt, with the receipt_tag of the first, comes by its `eject` at that time.
class Network : public sc_core::sc_module {
public:
    using Config = NocConfig;
    using Stats = NetworkStats;

    sc_core::sc_vector<::tlm::tlm_target_socket<>> inject;    ///< by endpoint: its packets
    sc_core::sc_vector<::tlm::tlm_initiator_socket<>> eject;  ///< by endpoint: packets for it, `delay` = tail's arrival

    virtual Stats stats() const = 0;
    /// The link that leaves `router` by `port` (those of the topology, then its endpoints).
    virtual const LinkStats& link(unsigned router, unsigned port) const = 0;

    const Config& config() const { return config_; }
    const Topology& topology() const { return *topology_; }
    /// Links between routers, counted in each direction.
    unsigned links() const { return links_; }
    /// Closed form: cycles from injection to the tail's arrival while nothing else is in the network.
    std::uint64_t zero_load_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const;

protected:
    /// `topology`: null for the one that the configuration names. Throws ModelError if the configuration cannot be
    /// built.
    Network(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
            TopologyPtr topology, std::vector<unsigned> router_of_endpoint);
    /// build(), whose std::invalid_argument becomes the module's ModelError.
    template <class Build>
    auto built(Build&& build) const {
        try {
            return build();
        } catch (const std::invalid_argument& error) {
            throw ModelError(*this, error.what());
        }
    }

    Config config_;
    TopologyPtr topology_;
    std::vector<unsigned> router_of_endpoint_;

private:
    unsigned links_ = 0;
};

/// "" or what is wrong with the configuration of a network with these endpoints.
std::string validation_error(const NocConfig& config, const std::vector<unsigned>& router_of_endpoint);
/// The same for another topology than the one that the configuration names.
std::string validation_error(const NocConfig& config, const Topology& topology,
                             const std::vector<unsigned>& router_of_endpoint);

/// The implementation that `config.impl` names: packet (PacketNetwork) or flit (WormholeNetwork), whose routers
/// `make_router` makes where impl, or impl_of_router, is rtl or lockstep. `router_of_endpoint`: where each endpoint is
/// attached. Throws ModelError if the configuration cannot be built.
std::unique_ptr<Network> make_network(const sc_core::sc_module_name& name, const NocConfig& config,
                                      SimulationRegistry& registry, TopologyPtr topology,
                                      std::vector<unsigned> router_of_endpoint,
                                      const flit::RouterFactory& make_router = {});
/// On the topology that the configuration names.
std::unique_ptr<Network> make_network(const sc_core::sc_module_name& name, const NocConfig& config,
                                      SimulationRegistry& registry, std::vector<unsigned> router_of_endpoint,
                                      const flit::RouterFactory& make_router = {});

/// Checks a packet that `source` injects into a network of `endpoints` and returns what it says. A bad one (no
/// extension, no destination or one that does not exist, another source) gets an error response, and `module` throws
/// ModelError.
PacketExtension& checked_packet(const sc_core::sc_object& module, ::tlm::tlm_generic_payload& payload, Endpoint source,
                                std::size_t endpoints);
/// The same for a payload of which only the extension is to be there, with a destination.
PacketExtension& extension_of(const sc_core::sc_object& module, ::tlm::tlm_generic_payload& payload);

}  // namespace switchyard::hw
