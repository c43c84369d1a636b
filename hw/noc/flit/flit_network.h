// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "switchyard/hw/noc/flit/event_wheel.h"
#include "switchyard/hw/noc/flit/external_router.h"
#include "switchyard/hw/noc/flit/flit_config.h"
#include "switchyard/hw/noc/flit/packets.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw::flit {

/// The watchdog's report: nothing has moved for watchdog_cycles. what() names the ring of buffers that wait for each
/// other, or the place that everything waits for.
class NoProgress : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A network of wormhole routers, flit by flit and cycle by cycle. Plain C++: no SystemC in it.
///
/// Modelled, after BookSim 2's `iq` router: input buffers of `buffer_flits` for each virtual channel; credits; a
/// pipeline of route computation, VC allocation, switch allocation and switch traversal, each of any number of cycles;
/// separable allocators with round-robin arbiters whose pointers move with accepted grants (iSLIP without
/// speculation; switch_iterations), or arbiters that serve the oldest packet first (Config::oldest_first); the routes
/// and classes of virtual channels of a Topology; links and credit wires of several cycles; endpoints that inject one
/// packet after the other of each traffic class, a flit a cycle, and take every flit that reaches them.
///
/// Multicast: a packet with several destinations is copied in the routers, along the tree of its routes
/// (multicast.cpp). Such a packet must fit a VC's buffer, and a router sends its head on only where the next buffer has
/// room for all of it: a copy never waits for another one, which is what makes trees of wormholes deadlock.
///
/// Order: flits of a packet stay in order. Packets of one flow may overtake each other in different VCs, as in BookSim;
/// who needs them in order numbers them (Transport).
///
/// Deterministic: the same calls give the same movements.
///
/// One cycle: `begin_cycle` brings in what the links deliver; `end_cycle` injects what has been offered until then,
/// lets the routers work and goes to the next cycle.
class FlitNetwork {
public:
    struct Delivery {
        std::uint64_t tag;
        std::uint16_t endpoint;
    };
    struct Stats {
        std::uint64_t injected_flits = 0, ejected_flits = 0;
        std::uint64_t hop_flits = 0;  ///< flits on links between routers
        std::uint64_t copies = 0;     ///< packets made by multicast in a router
    };

    /// `router_of_endpoint`: where each endpoint is attached. Throws std::invalid_argument with its validation_error().
    FlitNetwork(const Config& config, TopologyPtr topology, const std::vector<unsigned>& router_of_endpoint);
    /// On the grid of `config`.
    FlitNetwork(const Config& config, const std::vector<unsigned>& router_of_endpoint);

    /// Lets `external` be `router`, or, with `lockstep`, run beside its model: both get the same flits and credits, and
    /// the first difference at the pins or in the state makes end_cycle() throw RtlFault, which names the router, the
    /// signal and both values. Only before the first cycle. Throws std::invalid_argument if the topology is no grid.
    void exchange(unsigned router, std::unique_ptr<ExternalRouter> external, bool lockstep);

    /// Puts a packet of `flits` (> 0) into its source's queue, from this cycle on. `padding`: bytes of its last flit
    /// that are empty, for link_padding.
    void send(unsigned source, unsigned destination, std::uint32_t flits, std::uint64_t tag,
              TrafficClass traffic = TrafficClass::data, std::uint32_t padding = 0);
    /// The same to several destinations, as one packet of at most `buffer_flits`.
    void multicast(unsigned source, const std::uint16_t* destinations, std::size_t count, std::uint32_t flits,
                   std::uint64_t tag, TrafficClass traffic = TrafficClass::data, std::uint32_t padding = 0);

    void begin_cycle();
    /// Throws NoProgress, RtlFault.
    void end_cycle();
    void step() {
        begin_cycle();
        end_cycle();
    }
    /// Packets whose last flit has arrived in the latest begin_cycle, by router and port.
    const std::vector<Delivery>& deliveries() const { return deliveries_; }
    /// Nothing is queued, in a buffer, on a link or on a credit wire: stepping would change nothing but the time.
    bool idle() const;
    std::uint64_t cycle() const { return cycle_; }
    /// Goes to a later cycle without the ones between; only while idle and between end_cycle and begin_cycle.
    void skip_to(std::uint64_t cycle);

    const Stats& stats() const { return stats_; }
    /// Flits that have been given the way out of `router` by `port`; an external one's those that its pins have shown.
    std::uint64_t link_flits(unsigned router, unsigned port) const { return link_flits_[router * ports_ + port]; }
    /// Packets among them, and their padding.
    std::uint64_t link_packets(unsigned router, unsigned port) const { return link_packets_[router * ports_ + port]; }
    std::uint64_t link_padding(unsigned router, unsigned port) const { return link_padding_[router * ports_ + port]; }
    /// Packets that wait at an endpoint, the one that is being injected included.
    std::size_t queued(unsigned endpoint) const;
    const Config& config() const { return config_; }
    const Topology& topology() const { return *topology_; }
    unsigned ports() const { return ports_; }  ///< of every router
    unsigned hops(unsigned from, unsigned to) const { return topology_->hops(home_[from], home_[to]); }
    /// Port of an endpoint at its router.
    unsigned local_port(unsigned endpoint) const { return local_[endpoint]; }

private:
    static constexpr unsigned kNone = 0xFF;
    static constexpr std::uint32_t kEndpoint = 0x80000000;   ///< in an event's target: not a router
    static constexpr std::uint32_t kExchanged = 0x40000000;  ///< in the number of an output VC: of a router with RTL
    static constexpr unsigned kGroups = 2, kClasses = 3, kAnyClass = 2;

    /// What runs in place of a router's model, or beside it.
    struct RtlRouter {
        struct Expected {
            std::uint64_t cycle;  ///< in which the pins show it
            PinFlit flit;
        };
        struct ExpectedCredit {
            std::uint64_t cycle;
            std::uint8_t vc;
        };
        std::unique_ptr<ExternalRouter> external;
        bool lockstep = false;
        RouterInputs in;
        bool anything_in = false;
        // Lockstep: what the model has sent and the pins have not yet shown, by port.
        std::vector<std::deque<Expected>> expected;
        std::vector<std::deque<ExpectedCredit>> expected_credits;
        std::size_t expecting = 0;
        // Otherwise: the packet that leaves by each output VC, and how many destinations of a multicast that forks are
        // still to leave.
        std::vector<std::uint32_t> leaving;
        std::map<std::uint32_t, std::size_t> forked;

        bool busy() const { return expecting > 0 || external->busy(); }
    };

    /// Of one router, a bit for each input VC (port * vcs + vc): which stage its front flit is in.
    struct alignas(64) Router {
        std::uint64_t routing = 0;       ///< route computation
        std::uint64_t vc_alloc = 0;      ///< wants an output VC
        std::uint64_t vc_wait = 0;       ///< the allocator's answer is under way (vc_alloc_cycles > 1)
        std::uint64_t switch_alloc = 0;  ///< has output VC and flit, wants the switch
        std::uint64_t switch_wait = 0;   ///< as vc_wait
        std::uint64_t copying = 0;       ///< front packet is a multicast that forks here
        std::uint64_t free_vcs = 0;      ///< a bit for each output VC that no packet holds
        /// Of switch_alloc, those whose output VC has no credit: they ask again when one comes. Only of packets that do
        /// not fork, and where the switch allocator answers at once.
        std::uint64_t no_credit = 0;
        RtlRouter* rtl = nullptr;  ///< of an exchanged router
        bool active() const {
            return (routing | vc_alloc | vc_wait | (switch_alloc & ~no_credit) | switch_wait) != 0 ||
                   (rtl && rtl->busy());
        }
    };
    struct FlitEvent {
        std::uint32_t target;  ///< input VC of the whole network, or kEndpoint | output VC of the whole network
        std::uint32_t flit;
    };
    /// A multicast packet that leaves a router by several ports. Each branch takes the flits at its own rate; a flit's
    /// slot is free when the last one has it.
    struct Fork {
        struct Branch {
            std::uint64_t wanted = 0;  ///< output VCs that it may take
            std::uint32_t packet = 0;  ///< the copy
            std::uint16_t sent = 0;
            std::uint8_t out = kNone;     ///< output VC that it has
            std::uint8_t answer = kNone;  ///< of the VC allocator, under way
            bool granted = false;         ///< by the switch allocator, under way
            std::uint64_t from = 0;       ///< first cycle in which it may ask for the switch
        };
        std::uint32_t packet = 0;  ///< the one in the buffer
        std::uint16_t flits = 0, gone = 0;
        std::vector<Branch> branches;
    };
    /// Of an endpoint, for one traffic class.
    struct SourceQueue {
        std::vector<std::uint32_t> packets;  ///< from `first` on
        std::size_t first = 0;
        std::uint32_t sent = 0;  ///< flits of the first packet
        std::uint8_t vc = kNone, last_vc = 0;
        bool empty() const { return first == packets.size(); }
        void pop();
    };

    static std::uint32_t make_flit(std::uint32_t packet, bool head, bool tail) {
        return packet << 2 | (head ? 1u : 0u) | (tail ? 2u : 0u);
    }
    static bool is_head(std::uint32_t flit) { return (flit & 1) != 0; }
    static bool is_tail(std::uint32_t flit) { return (flit & 2) != 0; }
    static std::uint32_t packet_of(std::uint32_t flit) { return flit >> 2; }

    // flit_network.cpp
    void connect(const std::vector<unsigned>& router_of_endpoint);
    std::uint32_t make_packet(unsigned source, std::uint32_t flits, std::uint64_t tag, TrafficClass traffic,
                              std::uint32_t padding);
    void enqueue(unsigned source, std::uint32_t packet);
    void accept(std::uint32_t input_vc, std::uint32_t flit);
    void eject(std::uint32_t output_vc, std::uint32_t flit);
    void head_at_front(unsigned router, unsigned vc, std::uint64_t first_cycle);
    /// The number behind i of n, cyclically.
    static std::uint8_t behind(unsigned i, unsigned n) { return static_cast<std::uint8_t>(i + 1 == n ? 0 : i + 1); }
    void give_credit(std::uint32_t output_vc);
    void activate(unsigned router) { active_[router / 64] |= std::uint64_t{1} << router % 64; }
    void step_router(unsigned router);

    // injection.cpp
    void inject();
    bool inject_flit(unsigned endpoint, unsigned group);

    // route_computation.cpp
    void compute_routes(unsigned router);
    void set_destination(Packet& packet, unsigned source, unsigned endpoint);
    std::uint64_t output_vcs(unsigned group, unsigned dateline_class, unsigned port) const {
        return vc_range_[group][dateline_class] << port * vcs_;
    }

    // vc_allocation.cpp
    void allocate_vcs(unsigned router);
    void answer_vcs(unsigned router);
    void take_output_vc(unsigned router, unsigned vc, unsigned output);

    // switch_allocation.cpp
    void allocate_switch(unsigned router, std::uint64_t at_switch);
    std::uint64_t match_switch(unsigned router, std::uint64_t requested, bool move);
    void answer_switch(unsigned router);
    void traverse(unsigned router, unsigned vc);
    void send_flit(unsigned router, unsigned output, std::uint32_t flit, std::uint32_t original);
    void on_link(unsigned router, unsigned output, std::uint32_t flit, std::uint64_t sent);
    void drop_front(unsigned router, unsigned vc);
    void next_packet(unsigned router, unsigned vc);

    // multicast.cpp
    void route_multicast(unsigned router, unsigned vc, std::uint32_t packet);
    void take_branches(unsigned router, unsigned vc, std::uint64_t granted);
    std::uint64_t wanted_by_branches(unsigned router, unsigned vc) const;
    void answer_branches(unsigned router, unsigned vc);
    bool branch_ready(unsigned router, unsigned vc, const Fork& fork, const Fork::Branch& branch) const;
    void traverse_branches(unsigned router, unsigned vc);

    // exchange.cpp
    std::vector<PinDestination> destinations_of(std::uint32_t packet) const;
    PinFlit at_pins(std::uint32_t flit, unsigned vc) const;
    void flit_to_rtl(RtlRouter& rtl, unsigned vc, std::uint32_t flit);
    void credit_to_rtl(std::uint32_t output_vc);
    void step_rtl(unsigned router);
    void expect_flit(unsigned router, unsigned output, std::uint32_t flit, std::uint32_t original);
    void leave_rtl(unsigned router, unsigned port, const PinFlit& flit);
    void free_slot_of_rtl(unsigned router, unsigned port, unsigned vc);
    RouterState state_of(unsigned router) const;
    void compare_state(unsigned router);
    void compare_pins(unsigned router);
    [[noreturn]] void differ(unsigned router, const std::string& signal, const std::string& model,
                             const std::string& external);

    // watchdog.cpp
    std::string no_progress_report() const;
    /// The input VC for which a blocked one waits.
    std::uint32_t waits_for(std::uint32_t input_vc) const;
    std::string place(std::uint32_t input_vc) const;
    /// Of a ring of input VCs on a grid: in which column or row, and which way round.
    std::string direction_of(const std::vector<std::uint32_t>& ring) const;

    Config config_;
    TopologyPtr topology_;
    unsigned first_local_;           ///< port of a router's first endpoint
    unsigned vcs_, ports_, stride_;  ///< of a port; of a router; ports_ * vcs_
    std::uint64_t cycle_ = 0, last_movement_ = 0, flits_in_flight_ = 0, queued_packets_ = 0;
    PacketPool pool_;
    Stats stats_;
    std::vector<Delivery> deliveries_;

    std::uint64_t vc_range_[kGroups][kClasses] = {};  ///< VCs of a port that a packet may take
    std::uint8_t port_of_[64] = {}, vc_of_[64] = {};  ///< of an input or output VC of a router
    std::vector<Router> routers_;
    std::vector<std::unique_ptr<RtlRouter>> rtl_routers_;
    std::vector<std::uint64_t> active_;

    // By input VC of the whole network, router * stride_ + port * vcs_ + vc.
    std::vector<std::uint32_t> buffer_;         ///< times buffer_flits: a ring of flits
    std::vector<std::uint16_t> front_, held_;   ///< of the ring
    std::vector<std::uint64_t> due_;            ///< cycle in which route computation or VC allocator has its answer
    std::vector<std::uint64_t> switch_due_;     ///< the same of the switch allocator
    std::vector<std::uint8_t> switch_answer_;   ///< it is a grant
    std::vector<std::uint64_t> sent_;           ///< cycle in which the front packet was sent
    std::vector<std::uint64_t> wanted_;         ///< output VCs of the router that the front packet may take
    std::vector<std::uint8_t> out_;             ///< output VC of the router that the front packet has; answer under way
    std::vector<std::uint8_t> whole_;           ///< the front packet moves as a whole
    std::vector<std::uint16_t> fork_;           ///< of a copying VC: index in forks_
    std::vector<std::uint8_t> accept_pointer_;  ///< VC allocator
    std::vector<Fork> forks_;
    std::vector<std::uint16_t> free_forks_;

    // By output VC of the whole network.
    std::vector<std::uint16_t> credits_;
    std::vector<std::uint8_t> grant_pointer_;
    std::vector<std::uint8_t> holder_;      ///< input VC whose packet has it, or kNone
    std::vector<std::uint16_t> router_of_;  ///< and of an input VC

    // By port of the whole network, router * ports_ + port.
    std::vector<std::uint32_t> downstream_;  ///< first input VC behind an output port; kEndpoint: an endpoint
    std::vector<std::uint32_t> upstream_;    ///< first output VC in front of an input port; kEndpoint | endpoint * vcs
    std::vector<std::uint8_t> switch_grant_, switch_accept_, vc_turn_;  ///< pointers of the switch allocator
    std::vector<std::uint64_t> link_flits_, link_packets_, link_padding_;

    // By endpoint.
    std::vector<std::uint16_t> home_;
    std::vector<std::uint8_t> local_;
    std::vector<std::unique_ptr<RouteChooser>> choosers_;
    std::vector<SourceQueue> queues_;            ///< endpoint * kGroups + group
    std::vector<std::uint16_t> source_credits_;  ///< endpoint * vcs_ + vc
    std::vector<std::uint8_t> last_group_;
    std::vector<std::uint64_t> sending_;               ///< a bit an endpoint with a queue that is not empty
    std::vector<std::uint16_t> endpoint_of_;           ///< by port of the whole network
    std::vector<std::uint16_t> routers_of_multicast_;  ///< scratch

    EventWheel<FlitEvent> flits_;
    EventWheel<std::uint32_t> credit_events_;

    // Scratch of the allocators, all zero between calls.
    std::uint64_t requests_[64] = {}, grants_[64] = {};
    std::uint8_t chosen_[64][64] = {};  ///< [input port][output port]: VC
};

}  // namespace switchyard::hw::flit
