// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace switchyard::hw {
class Topology;
}

namespace switchyard::hw::flit {

/// A network of input-buffered wormhole routers. The defaults are those of BookSim 2's `iq` router
/// (booksim_config.cpp), but for the links, which take one cycle as with its `use_noc_latency = 0`.
struct Config {
    bool torus = true;
    unsigned columns = 8, rows = 8;
    unsigned vcs = 4;           ///< virtual channels for data at every input; on a torus half of them a dateline class
    unsigned control_vcs = 0;   ///< further ones for control packets alone; 0: these use those of the data
    unsigned buffer_flits = 8;  ///< of each VC
    unsigned routing_cycles = 1;  ///< 0: look-ahead, the route is known when the head arrives
    unsigned vc_alloc_cycles = 1;
    unsigned switch_alloc_cycles = 1;  ///< a VC asks again only when it has its answer
    unsigned switch_cycles = 1;        ///< through the crossbar
    /// Allocators serve the packet that has waited longest since it was sent, BookSim 2's `priority = age`, and take
    /// turns among packets of the same cycle; false: they take turns among all.
    bool oldest_first = false;
    unsigned switch_iterations = 1;     ///< of the switch allocator, in its cycle: later ones match what is still free
    unsigned link_cycles = 1;           ///< between routers, flits and credits alike
    unsigned endpoint_link_cycles = 1;  ///< between an endpoint and its router
    unsigned credit_cycles = 0;         ///< until a credit that has arrived counts
    bool dateline = true;               ///< false: any VC on a torus, which deadlocks; for tests of the watchdog
    unsigned watchdog_cycles = 2000;    ///< without any movement while flits are in flight; 0: no watchdog

    unsigned routers() const { return columns * rows; }
    unsigned all_vcs() const { return vcs + control_vcs; }
    /// Cycles of a head flit in a router.
    unsigned router_cycles() const { return routing_cycles + vc_alloc_cycles + switch_alloc_cycles + switch_cycles; }
};

/// Ports of a router for which the masks of one 64-bit word are enough.
inline unsigned max_ports(const Config& config) {
    return 64 / config.all_vcs();
}

/// "" or what is wrong with a grid of such routers. `ports`: of the router with the most endpoints.
std::string validation_error(const Config& config, unsigned ports);
/// The same for another topology: `torus`, `columns` and `rows` are not looked at.
std::string validation_error(const Config& config, const Topology& topology, unsigned ports);

/// Cycles from the call that offers a packet of `flits` flits to an idle network until its last flit has arrived,
/// `hops` links between routers away: a link to the first router, `router_cycles` in each of the hops + 1 routers,
/// the links, and a cycle a flit.
///
/// Holds for buffers that cover the loop of a body flit's credit (`body_credit_loop`); smaller ones throttle every
/// flit. The head's credit comes back routing_cycles + vc_alloc_cycles later than that, but for just as long the flits
/// behind it have waited in the last router, and catch up there.
std::uint64_t zero_load_cycles(const Config& config, unsigned hops, unsigned flits);
/// Cycles from a flit's grant until a flit can be granted with the same buffer slot, if the flit leaves at once.
unsigned body_credit_loop(const Config& config);

}  // namespace switchyard::hw::flit
