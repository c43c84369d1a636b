#include "switchyard/hw/noc/torus.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace switchyard::hw {

Torus::Torus(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
             std::vector<unsigned> router_of_endpoint)
    : sc_module(name),
      inject("inject", router_of_endpoint.size()),
      eject("eject", router_of_endpoint.size()),
      config_(config),
      router_of_endpoint_(std::move(router_of_endpoint)),
      routers_("router") {
    const std::string complaint = objection(config);
    if (!complaint.empty()) throw ModelError(*this, complaint);
    const unsigned count = config.columns * config.rows;
    for (std::size_t e = 0; e < router_of_endpoint_.size(); ++e)
        if (router_of_endpoint_[e] >= count)
            throw ModelError(*this, "endpoint " + std::to_string(e) + " at router " +
                                        std::to_string(router_of_endpoint_[e]) + " of " + std::to_string(count));

    routers_.init(count, [&](const char* router_name, std::size_t index) {
        return new Router(router_name, config_, registry, static_cast<unsigned>(index), router_of_endpoint_);
    });
    for (unsigned r = 0; r < count; ++r) {
        for (unsigned p = 0; p < port::kLocal; ++p) {
            const int next = neighbour(config_, r, p);
            if (next < 0) continue;
            const unsigned opposite = (p + 2) % port::kLocal;
            routers_[r].connect(p, routers_[static_cast<unsigned>(next)], opposite);
            ++links_;
        }
    }
    for (std::size_t e = 0; e < router_of_endpoint_.size(); ++e) {
        Router& router = routers_[router_of_endpoint_[e]];
        const unsigned local = router.local_port(static_cast<Endpoint>(e));
        inject[e].bind(router.in[local]);
        router.out[local].bind(eject[e]);
    }
    registry.add(*this, "links", "1", [this] { return static_cast<double>(links_); });
    registry.add(*this, "max_link_busy_cycles", "cycles",
                 [this] { return static_cast<double>(stats().max_link_busy_cycles); });
}

Torus::Stats Torus::stats() const {
    Stats total;
    for (const Router& router : routers_) {
        const Stats one = router.stats();
        total.injected_packets += one.injected_packets;
        total.injected_bytes += one.injected_bytes;
        total.addressed_packets += one.addressed_packets;
        total.addressed_bytes += one.addressed_bytes;
        total.ejected_packets += one.ejected_packets;
        total.ejected_bytes += one.ejected_bytes;
        total.link_packets += one.link_packets;
        total.link_bytes += one.link_bytes;
        total.link_busy_cycles += one.link_busy_cycles;
        total.max_link_busy_cycles = std::max(total.max_link_busy_cycles, one.max_link_busy_cycles);
    }
    return total;
}

std::uint64_t Torus::zero_load_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const {
    return hw::zero_load_cycles(config_, hops(config_, router_of_endpoint_.at(from), router_of_endpoint_.at(to)),
                                payload_bytes);
}

}  // namespace switchyard::hw
