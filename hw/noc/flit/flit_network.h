// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "switchyard/hw/noc/flit/endpoint_masks.h"
#include "switchyard/hw/noc/flit/event_wheel.h"
#include "switchyard/hw/noc/flit/external_router.h"
#include "switchyard/hw/noc/flit/external_traffic.h"
#include "switchyard/hw/noc/flit/flit_config.h"
#include "switchyard/hw/noc/flit/packets.h"
#include "switchyard/hw/noc/flit/switch_matching.h"
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
    std::uint64_t link_flits(unsigned router, unsigned port) const;
    /// Packets among them, and their padding.
    std::uint64_t link_packets(unsigned router, unsigned port) const { return loads_[router * ports_ + port].packets; }
    std::uint64_t link_padding(unsigned router, unsigned port) const { return loads_[router * ports_ + port].padding; }
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
    /// A VC of the whole network has the number router * kMaxVcs + port * vcs + vc, one of an endpoint that of the
    /// endpoint * kMaxVcs + vc.
    static constexpr unsigned kMaxVcs = 64;
    static constexpr unsigned kGroups = 2, kClasses = 3, kAnyClass = 2;
    static constexpr std::uint64_t kIdleSteps = 1024;  ///< an exchanged router may be busy with nothing inside

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
        ExternalTraffic traffic{0, 0};
        std::uint64_t idle_steps = 0;  ///< since something has come in or been inside

        bool busy() const { return expecting > 0 || external->busy(); }
    };

    // Small, and what a flit needs side by side: the state of all routers passes through the cache in every cycle.
    struct alignas(32) InputVc {
        std::uint64_t sent = 0;            ///< cycle in which the front packet was sent
        std::uint32_t left = 0;            ///< flits of the front packet that are still to leave; not of a copying VC
        std::uint32_t flit = 0;            ///< the next of these, its tail's mark left out
        std::uint32_t source = kEndpoint;  ///< output VC in front of it, or kEndpoint | VC of an endpoint
        std::uint16_t held = 0;            ///< flits in the buffer
        std::uint16_t room = 1;            ///< credits that the front flit needs to leave
        std::uint8_t out = kNone;          ///< output VC of the router that the front packet has; answer under way
        std::uint8_t out_port = 0;         ///< port of `out`, once the packet has it
        bool awaited = false;              ///< its fork does not ask for the switch until a flit is there
        std::uint16_t fork = 0;            ///< of a copying VC: index in forks_
    };
    /// What an input VC needs for heads and for answers that are under way.
    struct HeadState {
        std::uint64_t wanted = 0;               ///< output VCs of the router that the front packet may take
        std::uint64_t due = 0;                  ///< cycle in which route computation or VC allocator has its answer
        std::uint64_t switch_due = 0;           ///< the same of the switch allocator
        bool granted = false;                   ///< by the switch allocator
        std::uint8_t accept_pointer = 0;        ///< of the VC allocator
        std::uint8_t grant_pointer = 0;         ///< the same of the output VC of this number
        std::uint16_t arrived = 0, routed = 0;  ///< packets whose heads have come, and whose ways are known
    };
    struct OutputVc {
        std::uint64_t flits = 0;           ///< that have left by it
        std::uint32_t target = kEndpoint;  ///< input VC behind it, or kEndpoint | its own number
        std::uint16_t credits = 0;
        std::uint8_t holder = kNone;  ///< input VC whose packet has it, or kNone
        bool awaited = false;         ///< its holder does not ask until there is a credit
    };
    /// What has left by a port.
    struct Load {
        std::uint64_t packets = 0, padding = 0;
    };
    /// The masks have a bit for each input VC (port * vcs + vc): which stage its front flit is in.
    struct alignas(64) Router {
        std::uint64_t routing = 0;       ///< route computation
        std::uint64_t vc_alloc = 0;      ///< wants an output VC
        std::uint64_t vc_wait = 0;       ///< the allocator's answer is under way (vc_alloc_cycles > 1)
        std::uint64_t switch_alloc = 0;  ///< has output VC and flit, wants the switch
        std::uint64_t switch_wait = 0;   ///< as vc_wait
        std::uint64_t copying = 0;       ///< front packet is a multicast that forks here
        std::uint64_t free_vcs = 0;      ///< a bit for each output VC that no packet holds
        // Those that have asked in vain, where the allocator answers at once: they ask again when that can have
        // changed.
        std::uint64_t no_vc = 0;   ///< of vc_alloc, until an output VC becomes free
        std::uint64_t asleep = 0;  ///< of switch_alloc, until there is a credit, for a fork also a flit or an output VC
        RtlRouter* rtl = nullptr;  ///< of an exchanged router
        // Its own ones of the network's.
        InputVc* inputs = nullptr;
        HeadState* heads = nullptr;
        OutputVc* outputs = nullptr;
        SwitchTurns* turns = nullptr;  ///< by port

        bool active() const {
            return (routing | (vc_alloc & ~no_vc) | vc_wait | (switch_alloc & ~asleep) | switch_wait) != 0 ||
                   (rtl && rtl->busy());
        }
        /// The model has nothing in its buffers.
        bool empty(unsigned vcs) const {
            for (unsigned vc = 0; vc < vcs; ++vc)
                if (inputs[vc].held > 0) return false;
            return true;
        }
    };
    struct FlitEvent {
        std::uint32_t target;  ///< OutputVc::target
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
        boost::container::small_vector<Branch, 4> branches;
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

    static constexpr std::uint32_t kHead = 1, kTail = 2;  ///< marks of a flit
    static std::uint32_t make_flit(std::uint32_t packet, bool head, bool tail) {
        return packet << 2 | (head ? kHead : 0) | (tail ? kTail : 0);
    }
    static bool is_head(std::uint32_t flit) { return (flit & kHead) != 0; }
    static bool is_tail(std::uint32_t flit) { return (flit & kTail) != 0; }
    static std::uint32_t packet_of(std::uint32_t flit) { return flit >> 2; }

    unsigned number(const Router& router) const { return static_cast<unsigned>(&router - routers_.data()); }
    /// Where an input VC keeps the packet whose head came after `before` others.
    std::uint32_t& packet_in(std::size_t input_vc, unsigned before) {
        return packets_in_[input_vc * buffer_slots_ + (before & (buffer_slots_ - 1))];
    }

    // flit_network.cpp
    void connect(const std::vector<unsigned>& router_of_endpoint);
    std::uint32_t make_packet(unsigned source, std::uint32_t flits, std::uint64_t tag, TrafficClass traffic,
                              std::uint32_t padding);
    void enqueue(unsigned source, std::uint32_t packet);
    inline void accept(std::uint32_t input_vc, std::uint32_t flit);
    void eject_flits();
    void after_flit(Router& router, unsigned vc, std::uint32_t flit);
    void free_output_vc(Router& router, unsigned output, std::uint32_t packet);
    inline void step_router(Router& router);
    void step_heads(Router& router);
    void activate(const Router& router) { active_[number(router) / 64] |= std::uint64_t{1} << number(router) % 64; }

    // injection.cpp
    void inject();
    bool inject_from(unsigned endpoint);
    bool inject_flit(unsigned endpoint, unsigned group);

    // route_computation.cpp
    void compute_routes(Router& router);
    void set_destination(Packet& packet, unsigned source, unsigned endpoint);
    std::uint64_t output_vcs(unsigned group, unsigned dateline_class, unsigned port) const {
        return vc_range_[group][dateline_class] << port * vcs_;
    }

    // vc_allocation.cpp
    void allocate_vcs(Router& router);
    void answer_vcs(Router& router);
    void take_output_vc(Router& router, unsigned vc, unsigned output);

    // switch_allocation.cpp
    void allocate_switch(Router& router, std::uint64_t asking);
    inline void pass_or_wait(Router& router, unsigned vc);
    void share_between(Router& router, unsigned a, unsigned b);
    void pass_alone(Router& router, unsigned vc);
    void share_switch(Router& router, std::uint64_t asking);
    inline void move_turns(Router& router, unsigned vc, unsigned accepted);
    static bool has_room(const Router& router, unsigned vc);
    static void await_credit(Router& router, unsigned vc);
    inline std::uint64_t pass_switch(Router& router, unsigned vc, unsigned accepted, std::uint64_t granted, bool move);
    void answer_switch(Router& router);

    // traversal.h
    inline void head_at_front(Router& router, unsigned vc, std::uint64_t first_cycle);
    inline void traverse(Router& router, unsigned vc);
    inline void send_flit(Router& router, unsigned output, std::uint32_t flit);
    inline void free_slot(InputVc& input);
    inline void give_credit(std::uint32_t output_vc);
    inline void wake(Router& router, unsigned vc);
    /// The number behind i of n, cyclically.
    static std::uint8_t behind(unsigned i, unsigned n) { return static_cast<std::uint8_t>(i + 1 == n ? 0 : i + 1); }

    // multicast.cpp
    void route_multicast(Router& router, unsigned vc, std::uint32_t packet);
    void take_branches(Router& router, unsigned vc, std::uint64_t granted);
    std::uint64_t wanted_by_branches(const Router& router, unsigned vc) const;
    void answer_branches(Router& router, unsigned vc);
    bool branch_ready(const Router& router, unsigned vc, const Fork& fork, const Fork::Branch& branch) const;
    std::uint64_t ports_of_branches(const Router& router, unsigned vc) const;
    void await_any_branch(Router& router, unsigned vc) const;
    static bool has_room(const Router& router, const Fork& fork, const Fork::Branch& branch);
    std::uint64_t grant_branches(const Router& router, unsigned vc, unsigned accepted, std::uint64_t granted);
    void traverse_branches(Router& router, unsigned vc);

    // exchange.cpp
    std::vector<PinDestination> destinations_of(std::uint32_t packet) const;
    PinFlit at_pins(std::uint32_t flit, unsigned vc) const;
    bool accepted_by_rtl(std::uint32_t input_vc, std::uint32_t flit);
    void credit_to_rtl(std::uint32_t output_vc);
    void step_rtl(Router& router);
    void expect_flit(const Router& router, unsigned output, std::uint32_t flit, std::uint32_t original);
    void expect_credit(const Router& router, unsigned vc);
    void check_leaving(Router& router, unsigned port, const PinFlit& flit);
    void leave_rtl(Router& router, unsigned port, const PinFlit& flit);
    void free_slot_of_rtl(const Router& router, unsigned port, unsigned vc);
    RouterState state_of(const Router& router) const;
    void compare_state(const Router& router);
    void compare_pins(const Router& router);
    unsigned way_to(const Router& router, const PinDestination& to) const;
    /// Names the RTL routers that hold flits and, of these, the ones that could have moved a flit: the watchdog's
    /// message.
    std::string stuck_rtl() const;
    std::string place_of(const Router& router) const;
    [[noreturn]] void differ(const Router& router, const std::string& signal, const std::string& model,
                             const std::string& external);
    [[noreturn]] void fail_rtl(const Router& router, const std::string& signal, const std::string& value);

    // watchdog.cpp
    std::string no_progress_report() const;
    /// The input VC for which a blocked one waits.
    std::uint32_t waits_for(std::uint32_t input_vc) const;
    std::string place(std::uint32_t input_vc) const;
    /// Of a ring of input VCs on a grid: in which column or row, and which way round.
    std::string direction_of(const std::vector<std::uint32_t>& ring) const;

    Config config_;
    TopologyPtr topology_;
    unsigned first_local_;               ///< port of a router's first endpoint
    unsigned vcs_, ports_, router_vcs_;  ///< of a port; of a router; ports_ * vcs_
    unsigned buffer_slots_ = 1;          ///< of an input VC: buffer_flits or more, a power of two
    std::uint64_t cycle_ = 0, last_movement_ = 0, flits_in_flight_ = 0, queued_packets_ = 0;
    PacketPool pool_;
    Stats stats_;
    std::vector<Delivery> deliveries_;

    std::uint64_t vc_range_[kGroups][kClasses] = {};  ///< VCs of a port that a packet may take
    std::uint8_t port_of_[64] = {}, vc_of_[64] = {};  ///< of an input or output VC of a router
    std::vector<Router> routers_;
    std::vector<std::unique_ptr<RtlRouter>> rtl_routers_;
    std::vector<std::uint64_t> active_;  ///< a bit a router
    std::vector<InputVc> inputs_;
    std::vector<HeadState> heads_;  ///< by input VC
    std::vector<OutputVc> outputs_;
    std::vector<std::uint32_t> packets_in_;  ///< by input VC, a ring: packet_in()
    std::vector<SwitchTurns> turns_;         ///< router * ports_ + port
    std::vector<Load> loads_;                ///< of the ports
    std::vector<Fork> forks_;
    std::vector<std::uint16_t> free_forks_;

    // By endpoint.
    std::vector<std::uint16_t> home_;
    std::vector<std::uint8_t> local_;
    EndpointMasks masks_;
    std::vector<std::unique_ptr<RouteChooser>> choosers_;
    std::vector<SourceQueue> queues_;         ///< endpoint * kGroups + group
    std::vector<std::uint16_t> source_room_;  ///< by VC: credits
    std::vector<std::uint8_t> last_group_;
    std::vector<std::uint16_t> endpoint_of_;           ///< router * ports_ + port
    std::vector<std::uint64_t> sending_;               ///< a bit an endpoint that may have a flit and a credit for it
    std::vector<std::uint16_t> routers_of_multicast_;  ///< scratch

    EventWheel<FlitEvent> flits_;               ///< that reach routers
    EventWheel<FlitEvent> ejections_;           ///< that reach endpoints
    EventWheel<std::uint32_t> credits_;         ///< to OutputVcs, which may be marked kExchanged
    EventWheel<std::uint32_t> source_credits_;  ///< to VCs of endpoints
    // The lists for the cycles in which the flits granted in this cycle, and their credits, arrive.
    EventWheel<FlitEvent>::Slot *flits_out_ = nullptr, *ejections_out_ = nullptr;
    EventWheel<std::uint32_t>::Slot *credits_out_ = nullptr, *source_credits_out_ = nullptr;

    // Scratch of the allocators.
    SwitchMatching matching_;
    std::uint64_t grants_[64] = {};     ///< by input VC: output VCs
    std::uint64_t ready_for_[64] = {};  ///< by input VC: output ports
};

}  // namespace switchyard::hw::flit
