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

void FlitNetwork::compute_routes(Router& router) {
    for (std::uint64_t mask = router.routing; mask != 0;) {
        const unsigned vc = take_first(mask);
        HeadState& head = router.heads[vc];
        if (head.due > cycle_) continue;
        router.routing &= ~bit(vc);
        router.vc_alloc |= bit(vc);
        const std::uint32_t id = packet_in(number(router) * kMaxVcs + vc, head.routed++);
        const Packet& packet = pool_[id];
        InputVc& input = router.inputs[vc];
        input.left = packet.flits;
        input.flit = make_flit(id, true, false);
        input.sent = packet.sent;
        input.room = packet.whole() ? static_cast<std::uint16_t>(packet.flits) : 1;
        if (packet.whole()) {
            route_multicast(router, vc, id);
            continue;
        }
        unsigned port = packet.local_port, dateline_class = kAnyClass;
        if (number(router) != packet.router) {
            port = topology_->port_to(number(router), packet.router, packet.choice);
            dateline_class = topology_->second_class(packet.source_router, packet.router, port) ? 1 : 0;
        }
        head.wanted = output_vcs(packet.group, dateline_class, port);
    }
}

}  // namespace switchyard::hw::flit
