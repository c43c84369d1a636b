// SPDX-License-Identifier: Apache-2.0
// Sends a packet of 256 bytes over a torus of 4 x 4 routers.
#include <switchyard/hw/noc/network.h>
#include <switchyard/tlm/extended_payload.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <cstdio>

struct Node : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Node> out{"out"};
    tlm_utils::simple_target_socket<Node> in{"in"};
    explicit Node(const sc_core::sc_module_name& name) : sc_module(name) { in.register_b_transport(this, &Node::take); }
    void take(tlm::tlm_generic_payload&, sc_core::sc_time& delay) { std::puts(delay.to_string().c_str()); }
};

int sc_main(int, char**) {
    switchyard::SimulationRegistry registry;
    switchyard::hw::NocConfig config;
    config.columns = config.rows = 4;
    const auto torus = switchyard::hw::make_network("torus", config, registry, {0, 5, 10});
    sc_core::sc_vector<Node> nodes("node", 3);
    for (unsigned i = 0; i < 3; ++i) nodes[i].out.bind(torus->inject[i]), torus->eject[i].bind(nodes[i].in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    switchyard::ExtendedPayload<switchyard::PacketExtension> packet;
    packet->destinations = {2};
    packet->payload_bytes = 256;
    sc_core::sc_time delay;
    nodes[0].out->b_transport(packet.fresh(), delay);
    return delay > sc_core::SC_ZERO_TIME ? 0 : 1;
}
