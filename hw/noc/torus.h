#pragma once

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>

#include "switchyard/hw/noc/router.h"
#include "switchyard/hw/noc/topology.h"

namespace switchyard::hw {

/// The network of the chip: columns x rows routers, their links, and a pair of doors for each endpoint.
///
/// Modelled, and not modelled: see Router. Several endpoints may share a router; each has links of its own.
class Torus : public sc_core::sc_module {
public:
    using Config = NocConfig;
    using Stats = Router::Stats;  ///< summed over the routers, max_link_busy_cycles: the largest

    sc_core::sc_vector<::tlm::tlm_target_socket<>> inject;    ///< by endpoint: its packets
    sc_core::sc_vector<::tlm::tlm_initiator_socket<>> eject;  ///< by endpoint: packets for it, `delay` = tail's arrival

    /// `router_of_endpoint`: where each endpoint is attached. Throws ModelError if the configuration cannot be built.
    Torus(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
          std::vector<unsigned> router_of_endpoint);

    Stats stats() const;
    const Router& router(unsigned index) const { return routers_[index]; }
    /// Links between routers, counted in each direction.
    unsigned links() const { return links_; }
    /// Closed form: cycles from injection to the tail's arrival while nothing else is in the network.
    std::uint64_t zero_load_cycles(Endpoint from, Endpoint to, std::uint64_t payload_bytes) const;

private:
    Config config_;
    std::vector<unsigned> router_of_endpoint_;
    sc_core::sc_vector<Router> routers_;
    unsigned links_ = 0;
};

}  // namespace switchyard::hw
