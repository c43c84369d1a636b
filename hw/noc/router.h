#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/link_calendar.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/tlm/routed_extension.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// A router of a 2D torus or mesh with X-Y routing (Adyna section VI-A).
///
/// Modelled: packets that reserve links (virtual cut-through). A packet is one b_transport; its `delay` is the time at
/// which its head gets here. Each outgoing link has a calendar of busy intervals; the packet takes the first gap at or
/// after head + router_cycles that is long enough for header and payload, and the call goes on to the next router with
/// the head's arrival there. The router at the destination adds the serialisation, so that an endpoint is called with
/// the arrival of the tail. Links from and to endpoints are reserved like the others. `delay` comes back as the arrival
/// of the last copy's tail.
///
/// Multicast follows the X-Y tree: one copy a port, with those destinations that lie behind it. An endpoint finds
/// itself, and nobody else, in RoutedExtension::destinations; the caller gets back the list that it gave. An endpoint
/// does not wait in its b_transport; one that needs the packet afterwards acquires the payload, and does not read
/// `destinations` again.
///
/// Packets of one source arrive at one destination in the order in which they were injected, even where a small one
/// found an earlier gap on the way.
///
/// Deadlock: the wrap-around closes rings, but a packet gets its whole path in the one call that injects it, so all
/// packets reserve in one total order and none holds a link while it waits for another. How the hardware does without
/// deadlock (virtual channels with a dateline) belongs to a flit-level model.
///
/// Accuracy: exact in an idle network. Where packets meet, each link carries one at a time, in the order in which the
/// calls come (that of injection) but for the gaps that later calls fill; hardware would let the head that arrives
/// first go first.
/// Not modelled: finite buffers and their back-pressure, head-of-line blocking, virtual channels, flits, arbitration
/// (first call, first served).
///
/// Bad packets (no extension, no destination, one twice, one that does not exist, a source that is not the endpoint on
/// this port) set an error response and throw ModelError.
class Router : public sc_core::sc_module {
public:
    using Config = NocConfig;
    using Payload = ::tlm::tlm_generic_payload;

    using LinkStats = hw::LinkStats;
    using Stats = NetworkStats;

    /// Indexed by port; north .. west stay unbound where there is no neighbour. Local ports belong to the endpoints of
    /// this router in the order of their ids.
    sc_core::sc_vector<tlm_utils::simple_target_socket_tagged_optional<Router>> in;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged_optional<Router>> out;

    /// `index` = row * columns + column; `router_of_endpoint` tells where every endpoint of the network is attached.
    Router(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry, unsigned index,
           const std::vector<unsigned>& router_of_endpoint);

    /// Binds the sockets of one link to the next router. Packets cross it by a direct call with what the first router
    /// has looked up; debug accesses take the sockets. A link that is bound by hand carries b_transport.
    void connect(unsigned out_port, Router& next, unsigned in_port);

    /// The local port of an endpoint of this router.
    unsigned local_port(Endpoint endpoint) const;
    /// The link that leaves by `out_port`.
    const LinkStats& link(unsigned out_port) const { return links_[out_port].stats; }
    Stats stats() const;

private:
    using Tick = std::uint64_t;  ///< simulated time in units of the time resolution

    /// In the order of use, from a cache line's begin: the first line is all that a hop touches.
    struct alignas(64) Link {
        LinkStats stats;
        Router* router = nullptr;  ///< the next one, if connected directly
        LinkCalendar calendar;
        ::tlm::tlm_fw_transport_if<>* next = nullptr;  ///< behind the port; null where nothing is bound
        std::vector<Tick> free_for_source;             ///< to an endpoint, by source: after that source's last packet
    };
    /// A packet on its way, with what is the same at every router.
    struct Journey {
        Payload& payload;
        RoutedExtension& packet;
        Tick now, cycles, duration;  ///< time of the call; for which a link is taken, in cycles and in ticks
        std::uint64_t bytes;         ///< header included
        bool multicast;
        ::tlm::tlm_response_status response = ::tlm::TLM_OK_RESPONSE;  ///< multicast: the first that is not OK
    };
    /// Destinations of one packet that lie behind the same link; reordered on the way.
    struct Span {
        Endpoint *first, *last;
    };
    /// Of a multicast: as the caller gave them, and as they are split up.
    struct Lists {
        std::vector<Endpoint> given, split;
    };

    void end_of_elaboration() override;
    void b_transport(int in_port, Payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(int in_port, Payload& payload);
    /// Reserves the endpoint's link; when the head is in the router.
    Tick inject(unsigned in_port, Journey& journey, Tick start);
    /// These send the packet on from the time at which its head is here; when its last tail has arrived.
    Tick forward(Journey& journey, Endpoint destination, Tick head);
    Tick multicast(Journey& journey, Tick head);
    Tick fan_out(Journey& journey, Span destinations, Tick head);
    Tick eject(Link& link, Journey& journey, Span destination, Tick head);
    /// Through the socket, which the packet or its head reaches at `arrival`.
    Tick call(Link& link, Journey& journey, Span destinations, Tick arrival);
    Tick reserve(Link& link, Tick earliest, const Journey& journey);

    [[noreturn]] void fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const;
    void register_counters(SimulationRegistry& registry);

    Config config_;
    Tick cycle_, router_latency_, link_latency_, endpoint_link_latency_;
    std::vector<std::uint8_t> route_;  ///< by endpoint: the port
    std::vector<Endpoint> endpoints_;  ///< by local port
    std::vector<Link> links_;          ///< by port
    std::vector<Link> injection_;      ///< by local port: the way in
    std::uint64_t addressed_packets_ = 0, addressed_bytes_ = 0;
    std::vector<Lists> spare_lists_;  ///< for the next multicast
};

}  // namespace switchyard::hw
