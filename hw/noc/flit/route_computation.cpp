// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"
#include "switchyard/hw/noc/topology.h"

namespace switchyard::hw::flit {

void FlitNetwork::set_destination(Packet& packet, unsigned source, unsigned endpoint) {
    const unsigned from = packet.source_router, to = home_[endpoint];
    const TieChoice choice = tie_breakers_[source].choose(routes_, from, to, packet.flits);
    packet.router = static_cast<std::uint16_t>(to);
    packet.endpoint = static_cast<std::uint16_t>(endpoint);
    packet.local_port = local_[endpoint];
    packet.x_port = static_cast<std::uint8_t>(routes_.x_port(from, to, choice));
    packet.y_port = static_cast<std::uint8_t>(routes_.y_port(from, to, choice));
    packet.x_class = routes_.crosses(from, to, packet.x_port) ? 1 : 0;
    packet.y_class = routes_.crosses(from, to, packet.y_port) ? 1 : 0;
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
        if (routes_.x(router) != routes_.x(packet.router)) {
            port = packet.x_port;
            dateline_class = packet.x_class;
        } else if (routes_.y(router) != routes_.y(packet.router)) {
            port = packet.y_port;
            dateline_class = packet.y_class;
        }
        wanted_[input_vc] = output_vcs(packet.group, dateline_class, port);
    }
}

}  // namespace switchyard::hw::flit
