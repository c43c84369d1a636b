// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/transport.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/tlm/memory_manager.h"

namespace switchyard::hw {

/// What the flit-level network is built from; `control_vcs` and the rest as in NocConfig.
flit::Config flit_config(const NocConfig& config);
/// The way back: a network of such routers, the rest by default.
NocConfig noc_config(const flit::Config& flits);

/// A network, flit by flit: flit::FlitNetwork behind the sockets of Network, `impl: flit`.
///
/// Modelled: see FlitNetwork and Transport.
/// Not modelled: the room in an endpoint's interface for packets that wait to be injected or to be put in order.
///
/// Works a cycle at a time while anything is in flight, at the clock edge that ends the cycle, so that it does not
/// matter to the flits in which order processes run at one time. It does matter to the endpoints: an arrival is one
/// more process of its time. An idle network schedules no event.
///
/// A deadlock, or anything else that lets no flit move for watchdog_cycles, is a ModelError that names the ring; so is
/// the first difference of a router in lockstep, with its waveform in <module>.router_<n>.lockstep.fst.
class WormholeNetwork : public Network {
public:
    /// `topology`: as Network.
    WormholeNetwork(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                    TopologyPtr topology, std::vector<unsigned> router_of_endpoint,
                    const flit::RouterFactory& make_router = {});
    ~WormholeNetwork() override;

    Stats stats() const override;
    const LinkStats& link(unsigned router, unsigned port) const override;
    const flit::FlitNetwork& flits() const { return network_; }

private:
    using Payload = ::tlm::tlm_generic_payload;
    /// A packet that was handed in, in the cycle in which it is to be queued at its source.
    struct Waiting {
        std::uint64_t due, sequence;
        Payload* payload;
        bool operator<(const Waiting& o) const { return due != o.due ? due > o.due : sequence > o.sequence; }
    };
    /// Counted for the router of an endpoint.
    struct RouterStats {
        std::uint64_t injected_packets = 0, injected_bytes = 0, addressed_packets = 0, addressed_bytes = 0;
        std::uint64_t ejected_packets = 0, ejected_bytes = 0;
    };

    void b_transport(int endpoint, Payload& payload, sc_core::sc_time& delay);
    unsigned debug_transport(int endpoint, Payload& payload);
    void exchange_routers(const flit::RouterFactory& make_router);
    void run();
    void step();
    void queue_packets(std::uint64_t cycle);
    void deliver(const flit::Transport::Arrival& arrival);
    void send_receipt(const PacketExtension& packet);
    void call(Endpoint endpoint, Payload& payload);
    Stats stats_of(unsigned router) const;
    void register_counters(SimulationRegistry& registry);
    std::string waits() const;

    sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged<WormholeNetwork>> in_;
    sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<WormholeNetwork>> out_;
    std::uint64_t cycle_ticks_;
    flit::FlitNetwork network_;
    flit::Transport transport_;
    std::vector<Waiting> waiting_;  ///< a heap
    std::uint64_t sequence_ = 0;
    std::vector<Payload*> in_flight_;  ///< by the message's number
    std::vector<RouterStats> routers_;
    mutable std::vector<LinkStats> links_seen_;  ///< by router * 64 + port, made on request
    sc_core::sc_event next_edge_;
    PacketPayloadPool receipts_;
};

}  // namespace switchyard::hw
