// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/packet_network.h"

#include <memory>
#include <utility>

namespace switchyard::hw {

PacketNetwork::PacketNetwork(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                             TopologyPtr topology, std::vector<unsigned> router_of_endpoint)
    : Network(name, config, registry, std::move(topology), std::move(router_of_endpoint)), routers_("router") {
    const unsigned count = topology_->routers();
    const std::shared_ptr<Router::Shared> shared = Router::share(config_, topology_, router_of_endpoint_);
    routers_.init(count, [&](const char* router_name, std::size_t index) {
        return new Router(router_name, shared, registry, static_cast<unsigned>(index));
    });
    for (unsigned r = 0; r < count; ++r) {
        for (unsigned p = 0; p < topology_->router_ports(); ++p)
            if (const std::optional<Topology::Far> far = topology_->behind(r, p))
                routers_[r].connect(p, routers_[far->router], far->port);
    }
    for (std::size_t e = 0; e < router_of_endpoint_.size(); ++e) {
        Router& router = routers_[router_of_endpoint_[e]];
        const unsigned local = router.local_port(static_cast<Endpoint>(e));
        inject[e].bind(router.in[local]);
        router.out[local].bind(eject[e]);
    }
}

PacketNetwork::Stats PacketNetwork::stats() const {
    Stats total;
    for (const Router& router : routers_) total += router.stats();
    return total;
}

}  // namespace switchyard::hw
