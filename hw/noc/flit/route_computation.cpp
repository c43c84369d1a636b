// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

void FlitNetwork::set_destination(Packet& packet, unsigned source, unsigned endpoint) {
    packet.router = home_[endpoint];
    packet.endpoint = static_cast<std::uint16_t>(endpoint);
    packet.local_port = local_[endpoint];
    packet.choice = static_cast<std::uint8_t>(choosers_[source]->choose(packet.flits, &packet.router, 1));
}

void FlitNetwork::compute_routes(unsigned router) {
    Router& state = routers_[router];
    for (std::uint64_t mask = state.routing; mask != 0;) {
        const unsigned vc = take_first(mask);
        const std::uint32_t input_vc = router * stride_ + vc;
        if (due_[input_vc] > cycle_) continue;
        state.routing &= ~bit(vc);
        state.vc_alloc |= bit(vc);
        const std::uint32_t id = packet_of(buffer_[std::size_t{input_vc} * config_.buffer_flits + front_[input_vc]]);
        const Packet& packet = pool_[id];
        whole_[input_vc] = packet.whole();
        sent_[input_vc] = packet.sent;
        if (packet.whole()) {
            route_multicast(router, vc, id);
            continue;
        }
        unsigned port = packet.local_port, dateline_class = kAnyClass;
        if (router != packet.router) {
            port = topology_->port_to(router, packet.router, packet.choice);
            dateline_class = topology_->second_class(packet.source_router, packet.router, port) ? 1 : 0;
        }
        wanted_[input_vc] = output_vcs(packet.group, dateline_class, port);
    }
}

}  // namespace switchyard::hw::flit
