// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/router.h"
#include "switchyard/hw/noc/topology.h"

namespace switchyard::hw {

/// The network of the chip as packets that reserve links: `impl: packet`. Modelled, and not modelled: see Router.
class Torus : public Network {
public:
    Torus(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
          std::vector<unsigned> router_of_endpoint);

    Stats stats() const override;
    const LinkStats& link(unsigned router, unsigned port) const override { return routers_[router].link(port); }
    const Router& router(unsigned index) const { return routers_[index]; }

private:
    sc_core::sc_vector<Router> routers_;
};

}  // namespace switchyard::hw
