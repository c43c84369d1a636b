// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/link_calendar.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/tlm/packet.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// Ports of a Router: a bit each where a packet fans out.
inline constexpr unsigned kMaxRouterPorts = 32;

/// A router of a topology: of a 2D torus or mesh with X-Y routing (Adyna section VI-A), or of any other.
///
/// Modelled: packets that reserve what they need on their whole way in the call that injects them (transit.cpp). A
/// packet is one b_transport; its `delay` is the time at which its head gets here. A head leaves by a link
/// router_cycles after it has come, once a virtual channel (VC) of its class, the crossbar's input and the link are
/// free and the packets before it in its buffer have left; the flits behind it leave as crossbar, link and the slots
/// in the next buffer allow, `buffer_flits` at a time. Each link, crossbar input, VC and front of a buffer has a
/// calendar. What they cost follows from the keys of the flit router alone (NocConfig; flit::FlitNetwork). An endpoint
/// is called with the arrival of the tail. `delay` comes back as the arrival of the last copy's tail.
///
/// Multicast follows the tree of the routes: one copy a port, with those destinations that lie behind it. An endpoint
/// finds itself, and nobody else, in PacketExtension::destinations; the caller gets back the list that it gave. An
/// endpoint does not wait in its b_transport; one that needs the packet afterwards acquires the payload, and does not
/// read `destinations` again.
///
/// Packets of one source and traffic class arrive at one destination in the order in which they were injected, even
/// where a small one found an earlier gap on the way.
///
/// Deadlock: the wrap-around closes rings, but a packet gets its whole path in the one call that injects it, so all
/// packets reserve in one total order and none waits for one that comes after it. The hardware's dateline classes, and
/// the choice between equally long directions, are those of the topology.
///
/// Accuracy: exact in an idle network; otherwise docs/models/noc.md, "Packets against flits".
/// Not modelled: other arbitration than oldest_first (first injected, first served, but for the gaps that later ones
/// fill); matches that allocators miss.
/// Links that are bound by hand hand no back-pressure on.
///
/// Bad packets (no extension, no destination, one twice, one that does not exist, a source that is not the endpoint on
/// this port) set an error response and throw ModelError.
class Router : public sc_core::sc_module {
public:
    using Config = NocConfig;
    using Payload = ::tlm::tlm_generic_payload;

    using LinkStats = hw::LinkStats;
    using Stats = NetworkStats;

    /// Indexed by port; those of the topology stay unbound where there is no link. Local ports belong to the endpoints
    /// of this router in the order of their ids.
    sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged_optional<Router>> in;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged_optional<Router>> out;

    /// What the routers of one network have in common.
    struct Shared;
    /// `router_of_endpoint` tells where every endpoint of the network is attached.
    static std::shared_ptr<Shared> share(const Config& config, TopologyPtr topology,
                                         std::vector<unsigned> router_of_endpoint);

    /// `index`: of the topology's routers.
    Router(const sc_core::sc_module_name& name, std::shared_ptr<Shared> shared, SimulationRegistry& registry,
           unsigned index);
    /// A router that shares nothing with others.
    Router(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
           TopologyPtr topology, unsigned index, const std::vector<unsigned>& router_of_endpoint)
        : Router(name, share(config, std::move(topology), router_of_endpoint), registry, index) {}
    ~Router() override;

    /// Binds the sockets of one link to the next router. Packets cross it by a direct call with what the first router
    /// has looked up; debug accesses take the sockets. A link that is bound by hand carries b_transport. Both are of
    /// one network.
    void connect(unsigned out_port, Router& next, unsigned in_port);

    /// The local port of an endpoint of this router.
    unsigned local_port(Endpoint endpoint) const;
    /// The link that leaves by `out_port`.
    const LinkStats& link(unsigned out_port) const { return links_[out_port].stats; }
    Stats stats() const;
    /// The cycles for which that link has been busy until now, without what packets have reserved of the time to come.
    /// Packets that stand still while they hold the link count as late.
    double busy_cycles_until_now(unsigned out_port) const;
    /// Returns the largest mean of the cycles for which a packet was at the front of a VC, until now. A mean is over
    /// the VCs of a class at an input.
    double max_vc_busy_cycles() const;

private:
    using Tick = std::uint64_t;                  ///< simulated time in units of the time resolution
    static constexpr std::uint8_t kHere = 0xFF;  ///< instead of a port

    // What a packet touches at a router lies in few cache lines: all routers of a chip together do not fit a cache.
    struct alignas(64) Vc {
        LinkCalendar owner;  ///< from the grant until the tail has left by the link
        LinkCalendar front;  ///< of the buffer behind the link: until the tail has left it and the next head can follow
    };
    /// A flow that ends at an endpoint: packets of one source and class.
    struct Flow {
        unsigned number;
        Tick latest;  ///< arrival of its last packet's tail
    };
    /// Of a port: the way to an endpoint, or to a router that is bound by hand.
    struct Outlet {
        ::tlm::tlm_fw_transport_if<>* next = nullptr;
        bool to_endpoint = false;
        std::vector<Flow> flows;  ///< to an endpoint: those with a packet on its way
    };
    struct alignas(64) Link {
        LinkCalendar calendar;         ///< its bandwidth
        LinkCalendar crossbar;         ///< the crossbar's input behind it
        std::unique_ptr<Vc[]> vcs;     ///< those of the data first
        std::unique_ptr<Tick[]> busy;  ///< by VC: of `front`, summed
        Router* router = nullptr;      ///< the next one, if connected directly
        Outlet* outlet = nullptr;      ///< else; null where nothing is bound
        LinkStats stats;
        unsigned next_vc = 0;  ///< is asked first
    };
    /// What a link to a router makes of the times of flits.
    struct Onward {
        Tick head;    ///< from leaving by it to leaving by the next one, if nothing is in the way
        Tick credit;  ///< from leaving by the next one until a slot behind this one can be used again
    };
    static_assert(sizeof(Vc) == 64 && sizeof(Link) == 128, "cache lines");
    /// VCs of a port.
    struct VcRange {
        unsigned first = 0, count = 0;
    };
    /// Where an endpoint is attached.
    struct Home {
        std::uint16_t router;
        std::uint8_t local_port;
    };
    /// From here to another router.
    struct Way {
        std::uint32_t second_class;  ///< as Target
        bool has_choice;             ///< the source chooses between several
    };
    /// A destination, and the way to it, which is the same for all routers.
    struct Target {
        std::uint32_t second_class;  ///< a bit for each port by which it leaves routers in the second class of VCs
        Endpoint endpoint;
        std::uint16_t router;
        std::uint8_t local_port;
        std::uint8_t port;  ///< out of the router at which fan_out looks
    };
    /// Destinations of one packet that lie behind the same link; reordered on the way.
    struct Span {
        Target *first, *last;
    };
    /// A link of a packet's way.
    struct Step {
        Step(Link& way, Vc& taken, const Onward* times, Span targets, unsigned number, Tick grant)
            : link(&way), vc(&taken), onward(times), behind(targets), before(number), granted(grant) {}

        Link* link;
        Vc* vc;
        const Onward* onward;  ///< null: to an endpoint, which takes all that comes
        Span behind;
        unsigned before;                          ///< number of the step before, or kNone
        Tick granted;                             ///< the VC is taken
        Tick head = 0;                            ///< leaves
        Tick served = 0;                          ///< at the front of the next buffer, its head can leave
        Tick drained = 0;                         ///< the next head in that buffer can leave
        LinkCalendar::Interval chunk = {0, 0};    ///< of flits, which leaves: the first one, then those behind it
        LinkCalendar::Interval booked = {0, 0};   ///< of the link, up to the chunk's end, without a break
        LinkCalendar::Interval crossed = {0, 0};  ///< the same of the crossbar's input that they come from
        LinkCalendar::Interval room = {0, 0};     ///< for the next chunk: for its first flit, for its last flit
    };
    /// Of the bandwidth of a link, or of an input of a crossbar.
    struct Booking {
        LinkCalendar* calendar;
        LinkCalendar::Interval time;
    };
    /// What a journey needs memory for, kept for the next one. Entries are written in place: the copy of one that has
    /// just been written would wait until its fields are stored.
    struct Lists {
        std::vector<Target> targets;
        std::vector<Step> steps;             ///< a tree: each behind the one before it
        std::vector<Booking> bookings;       ///< those before the steps' last ones
        std::vector<Endpoint> given;         ///< destinations, as the caller gave them
        std::vector<std::uint16_t> routers;  ///< of the targets, to choose a way
    };
    /// A packet on its way, with what is the same at every router.
    struct Journey {
        const Shared& shared;
        Payload& payload;
        PacketExtension& packet;
        Lists& lists;
        Tick now, duration;  ///< time of the call; for which a link is taken
        unsigned group;      ///< of VCs: TrafficClass, if it has some of its own
        unsigned ways;       ///< where ports_to_ of each router has those of its source's choice
        Tick ready = 0;      ///< its head, which has come from another router by a link bound by hand, can leave
        Tick turn = 0;       ///< it is the first in its source's queue
        Tick arrival = 0;    ///< of the last tail
        ::tlm::tlm_response_status response = ::tlm::TLM_OK_RESPONSE;  ///< multicast: the first that is not OK
    };

    void end_of_elaboration() override;
    void b_transport(int in_port, Payload& payload, sc_core::sc_time& delay);
    void carry(unsigned port, Payload& payload, sc_core::sc_time& delay);
    /// `multicast: source`: one packet to each destination, one behind the other.
    void send_copies(unsigned port, Payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(int in_port, Payload& payload);
    /// The way of a packet of `flits` that comes by `port`.
    unsigned choose(Lists& lists, unsigned port, std::uint32_t flits);
    /// The list of destinations, and whether the source chooses between several ways to one of them.
    bool look_up_targets(Lists& lists, const std::vector<Endpoint>& destinations) const;
    void look_up_routes();

    // transit.cpp
    unsigned port_to(const Journey& journey, const Target& target) const;
    /// Finds a packet's times on its whole way; nothing is taken. `start`: it is offered by its endpoint, or its head
    /// is in this router.
    void plan(Journey& journey, unsigned in_port, Tick start);
    /// These plan the way of a head that is behind the step `before`.
    void fan_out(Journey& journey, Span targets, unsigned before);
    void leave(Journey& journey, Span targets, unsigned before);
    static void cross(Journey& journey, Link& link, const Onward* onward, const VcRange& vcs, Span targets,
                      unsigned before, Tick ready);
    /// When a flit can enter the buffer behind a step's link, if its packet's head can leave it at step.served and the
    /// flits before it are `ahead`: packets of the same length.
    static Tick entry(const Journey& journey, const Step& step, Tick ahead);
    /// The next chunk of a step, for which its link is taken for `size`: the first flit leaves at `ready` or later, the
    /// last one at `end` or later.
    static void send(Journey& journey, Step& step, Tick ready, Tick end, Tick size);
    /// Plans the flits behind the first chunk.
    void follow(Journey& journey) const;
    /// Whether the flits behind the chunks, for which a link is taken for `left`, can follow them without a break.
    bool in_flow(const std::vector<Step>& steps, Tick left) const;
    void book(Journey& journey, unsigned in_port);
    void deliver(Journey& journey);
    /// When the tail of a flow's packet that could arrive at `arrival` does so, behind those before it.
    static Tick in_order(std::vector<Flow>& flows, unsigned number, Tick arrival, Tick now);
    /// Through the socket, which the packet or its head reaches at `arrival`.
    static void call(const Outlet& outlet, Journey& journey, Span targets, Tick arrival);

    /// Out of line, because every packet passes by.
    [[noreturn]] void refuse_twice(Payload& payload, Endpoint endpoint) const;
    [[noreturn]] void fail(Payload& payload, ::tlm::tlm_response_status status, const std::string& message) const;
    void register_counters(SimulationRegistry& registry);

    // A packet on its way looks at these two alone.
    alignas(64) std::vector<Link> links_;  ///< by port
    std::vector<std::uint8_t> ports_to_;   ///< by choice and router; kHere: this one
    std::shared_ptr<Shared> shared_;
    unsigned index_;
    std::vector<Way> ways_;                                ///< by router
    std::vector<std::unique_ptr<RouteChooser>> choosers_;  ///< by port of entry
    std::vector<Endpoint> endpoints_;                      ///< by local port
    std::vector<Link> injection_;                          ///< by local port: the way in
    std::vector<std::array<LinkCalendar, 2>> turns_;       ///< by local port and class: queues of the endpoints
    std::vector<Outlet> outlets_;                          ///< by port
    std::uint64_t addressed_packets_ = 0, addressed_bytes_ = 0;
};

/// Times in ticks.
struct Router::Shared {
    Config config;
    TopologyPtr topology;
    std::vector<unsigned> router_of_endpoint;
    unsigned first_local, routers;  ///< port of a router's first endpoint; routers of the topology
    Tick cycle, router_latency, link_latency, endpoint_link_latency;
    Tick buffer;        ///< for which a link at full rate fills a buffer
    Tick refill;        ///< from a tail's leaving a buffer until the head behind it can ask for the switch
    Tick reallocation;  ///< from a tail's leaving until the next head in the VC can leave
    Onward by_link, from_endpoint;
    VcRange vcs[2][3];                                ///< by group; dateline class 0, 1, any
    std::vector<Home> homes;                          ///< by endpoint
    std::vector<std::unique_ptr<Lists>> spare_lists;  ///< for the next packet
};

}  // namespace switchyard::hw
