// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/torus.h"

#include <utility>

namespace switchyard::hw {

Torus::Torus(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
             std::vector<unsigned> router_of_endpoint)
    : Network(name, config, registry, std::move(router_of_endpoint)), routers_("router") {
    const unsigned count = config.columns * config.rows;
    routers_.init(count, [&](const char* router_name, std::size_t index) {
        return new Router(router_name, config_, registry, static_cast<unsigned>(index), router_of_endpoint_);
    });
    for (unsigned r = 0; r < count; ++r) {
        for (unsigned p = 0; p < port::kLocal; ++p) {
            const int next = neighbour(config_, r, p);
            if (next < 0) continue;
            const unsigned opposite = (p + 2) % port::kLocal;
            routers_[r].connect(p, routers_[static_cast<unsigned>(next)], opposite);
        }
    }
    for (std::size_t e = 0; e < router_of_endpoint_.size(); ++e) {
        Router& router = routers_[router_of_endpoint_[e]];
        const unsigned local = router.local_port(static_cast<Endpoint>(e));
        inject[e].bind(router.in[local]);
        router.out[local].bind(eject[e]);
    }
}

Torus::Stats Torus::stats() const {
    Stats total;
    for (const Router& router : routers_) total += router.stats();
    return total;
}

}  // namespace switchyard::hw
