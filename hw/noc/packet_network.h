// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/hw/noc/router.h"

namespace switchyard::hw {

/// A network as packets that reserve links: `impl: packet`. Modelled, and not modelled: see Router.
class PacketNetwork : public Network {
public:
    /// `topology`: as Network.
    PacketNetwork(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                  TopologyPtr topology, std::vector<unsigned> router_of_endpoint);
    PacketNetwork(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                  std::vector<unsigned> router_of_endpoint)
        : PacketNetwork(name, config, registry, nullptr, std::move(router_of_endpoint)) {}

    Stats stats() const override;
    const LinkStats& link(unsigned router, unsigned port) const override { return routers_[router].link(port); }
    const Router& router(unsigned index) const { return routers_[index]; }

private:
    sc_core::sc_vector<Router> routers_;
};

}  // namespace switchyard::hw
