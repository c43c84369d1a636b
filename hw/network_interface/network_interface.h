// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/network_interface/gate_decisions.h"
#include "switchyard/hw/network_interface/inbound_slots.h"
#include "switchyard/hw/network_interface/interface_config.h"
#include "switchyard/hw/network_interface/interface_ports.h"
#include "switchyard/hw/network_interface/memory_fetcher.h"
#include "switchyard/hw/network_interface/outbound_sender.h"
#include "switchyard/hw/network_interface/routing.h"
#include "switchyard/hw/network_interface/value_mover.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::hw {

/// The network interface of a tile (Adyna section VI-C).
///
/// Modelled: the switch (output is split by the routing mask, sample by sample), ranges and destinations from the
/// successor's best-fit kernel, merge (units of several in-edges are counted until complete), unicast and multicast,
/// a probe and an acknowledge before every tensor transfer (the producer's first tile probes all consumers with the
/// unit's sample-index list, from which they know who will send; a consumer with a free slot acknowledges to all of
/// these at once), reads of tensors and weights from HBM with one request for all tiles that need the same bytes,
/// writes to HBM. Accuracy: transfers happen at the granularity of packets of up to max_packet_bytes; setting up a
/// transfer takes setup_cycles; data crosses the scratchpad at its bandwidth but does not delay the PE array's
/// accesses. Not modelled: the order of single words in the collector, buffers for more probes than the hardware would
/// hold.
///
/// Sockets: `issue` from the dispatcher, `control` from the controller, `noc_in` from the router; `controller`,
/// `scratchpad`, `noc_out` to them.
///
/// Its parts: InboundSlots (what comes), OutboundSender (what goes), MemoryFetcher (what is read from HBM), ValueMover
/// (values from and into slots), GateDecisions (which way samples go), Routing (the exchangeable blocks),
/// InterfacePorts (what they share). The module has the sockets, and gives each packet, command and task to the part
/// that serves it.
class NetworkInterface : public sc_core::sc_module {
public:
    using Config = NetworkInterfaceConfig;
    using Address = NetworkInterfaceAddress;
    using Stats = NetworkInterfaceStats;

    tlm_utils::passthrough_target_socket<NetworkInterface> issue;
    tlm_utils::passthrough_target_socket<NetworkInterface> control;
    tlm_utils::passthrough_target_socket<NetworkInterface> noc_in;
    tlm_utils::simple_initiator_socket<NetworkInterface> controller;
    tlm_utils::simple_initiator_socket<NetworkInterface> scratchpad;
    tlm_utils::simple_initiator_socket<NetworkInterface> noc_out;

    NetworkInterface(const sc_core::sc_module_name& name, const Config& config, const Address& address,
                     SimulationRegistry& registry, const RoutingBlocksFactory& make_blocks = &make_routing_blocks);
    ~NetworkInterface() override;

    const Stats& stats() const { return ports_.stats(); }

private:
    using Payload = ::tlm::tlm_generic_payload;

    void issue_transport(Payload& payload, sc_core::sc_time& delay);
    void control_transport(Payload& payload, sc_core::sc_time& delay);
    void noc_transport(Payload& payload, sc_core::sc_time& delay);
    void process();
    void serve(InterfaceTask& task);
    void handle(Payload& payload);
    void handle(Payload& payload, const AdynaMessage& message);
    void load_program(const std::shared_ptr<const TileProgram>& program);
    void send_control(const InterfaceCommand& command);
    void send_profile(const InterfaceCommand& command);
    void expect_acknowledge(const Payload& payload, const sc_core::sc_time& delay);
    std::string waits() const;

    TimedQueue<InterfaceTask> tasks_;
    Routing routing_;
    InterfacePorts ports_;
    ValueMover values_;
    GateDecisions decisions_;
    InboundSlots slots_;
    MemoryFetcher fetcher_;
    OutboundSender sender_;
};

}  // namespace switchyard::hw
