// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/hw/noc/flit/multicast_pieces.h"
#include "switchyard/hw/noc/grid_ports.h"
#include "switchyard/hw/noc/topology.h"
#include "switchyard/tlm/packet_format.h"

namespace switchyard::hw {

/// What the routers of one network have in common.
struct NocConfig {
    std::string impl = "packet";
    std::string topology = "torus";       ///< one of topologies()
    unsigned link_bytes_per_cycle = 192;  ///< Adyna Table III: 192 GB/s a tile, at 1 GHz
    unsigned router_cycles = 4;           ///< route computation, VC allocation, switch allocation, switch traversal:
                                          ///< one cycle each, as BookSim 2's input-queued router has by default
    unsigned link_cycles = 1;             ///< between routers; BookSim 2 with use_noc_latency = 0
    unsigned endpoint_link_cycles = 1;    ///< between an endpoint and its router; BookSim 2: always 1
    unsigned header_bytes = 16;           ///< kind, batch, ids, ranges and address in front of every payload

    // impl: flit. Stages, VCs and buffers as flit::Config has them; the stages add up to router_cycles.
    unsigned vcs = 4, control_vcs = 2, buffer_flits = 8;
    unsigned routing_cycles = 1, vc_alloc_cycles = 1, switch_alloc_cycles = 1, switch_cycles = 1, credit_cycles = 0;
    std::string arbitration = "round_robin", multicast = "tree";
    unsigned switch_iterations = 1;
    unsigned watchdog_cycles = 100000;

    // The chip's, set by the composer.
    unsigned columns = 1, rows = 1;
    double clock_ghz = 1.0;
    std::vector<std::string> impl_of_router;  ///< flit, rtl or lockstep; empty: `impl` for all

    PacketFormat packet_format() const { return {link_bytes_per_cycle, header_bytes}; }
};

template <class V>
void describe(V& v, NocConfig& c) {
    v.choice("impl", c.impl, {"packet", "flit", "rtl", "lockstep"},
             "packets that reserve links; or flits, virtual channels and credits, cycle by cycle, with routers as "
             "models, as "
             "Verilated RTL, or both side by side (these three need impl: tiles)");
    v.choice("topology", c.topology, topologies(), "how the routers are connected");
    v.field("link_bytes_per_cycle", c.link_bytes_per_cycle, 1, 65536, "width of each link, in each direction");
    v.field("router_cycles", c.router_cycles, 0, 1000, "router pipeline, in front of each outgoing link");
    v.field("link_cycles", c.link_cycles, 0, 1000, "flight time of a link between routers");
    v.field("endpoint_link_cycles", c.endpoint_link_cycles, 0, 1000,
            "flight time of a link between an endpoint and its router");
    v.field("header_bytes", c.header_bytes, 1, 4096, "bytes in front of each packet's payload");
    v.field("vcs", c.vcs, 1, 12, "virtual channels of an input for data; flit: even on a torus");
    v.field(
        "control_vcs", c.control_vcs, 0, 12,
        "more of them for packets without data (probes, acknowledges, read requests, confirmed writes) alone; 0: these "
        "use those of the data; flit: even on a torus");
    v.field("buffer_flits", c.buffer_flits, 1, 1024, "depth of a virtual channel's buffer");
    v.field("routing_cycles", c.routing_cycles, 0, 100, "flit: route computation; 0: look-ahead");
    v.field("vc_alloc_cycles", c.vc_alloc_cycles, 1, 100, "flit: virtual channel allocation");
    v.field("switch_alloc_cycles", c.switch_alloc_cycles, 1, 100, "flit: switch allocation");
    v.field("switch_cycles", c.switch_cycles, 1, 100, "flit: switch traversal; the four add up to router_cycles");
    v.field("credit_cycles", c.credit_cycles, 0, 100, "flit: until a credit that has arrived counts");
    v.choice("arbitration", c.arbitration, {"round_robin", "oldest_first"},
             "flit: whom the allocators of a router serve: inputs in turn, or the packet first that was sent first");
    v.field(
        "switch_iterations", c.switch_iterations, 1, 16,
        "flit: of the switch allocator; later ones, in the same cycle, match inputs and outputs that are still free");
    v.choice(
        "multicast", c.multicast, {"tree", "source"},
        "flit: copied by the routers, in pieces that fit a buffer; or sent by the source once for each destination");
    v.field("watchdog_cycles", c.watchdog_cycles, 0, 1000000000,
            "flit: without any movement while flits are in flight, until the simulation gives up; 0: never");
}

/// "" or what is wrong with the configuration.
std::string validation_error(const NocConfig& config);
/// The same for another topology than the one that it names.
std::string validation_error_of_routers(const NocConfig& config);

/// The topology that the configuration names. Throws std::invalid_argument.
inline TopologyPtr make_topology(const NocConfig& config) {
    return make_topology(config.topology, config.columns, config.rows);
}

/// Cycles for which a packet to N endpoints occupies a link: a cycle a flit. A multicast along a tree travels in
/// pieces, each with a header of its own.
inline std::uint64_t serialisation_cycles(const NocConfig& config, std::uint64_t payload_bytes,
                                          std::size_t destinations = 1) {
    const PacketFormat format = config.packet_format();
    if (destinations < 2 || config.multicast != "tree") return format.flits(payload_bytes);
    const flit::MulticastPieces pieces(format, config.buffer_flits);
    return pieces.room() == 0 ? format.flits(payload_bytes) : pieces.flits_of(payload_bytes);
}
/// Cycles from the injection of a packet's head into an idle network until it has left the last router: the injection
/// link, a pipeline for each of the `hops` + 1 routers, the links between them, the ejection link.
inline std::uint64_t head_cycles(const NocConfig& config, unsigned hop_count) {
    return 2ull * config.endpoint_link_cycles + (hop_count + 1ull) * config.router_cycles +
           std::uint64_t{hop_count} * config.link_cycles;
}
/// Cycles from the injection of a packet into an idle network until its tail has arrived.
inline std::uint64_t zero_load_cycles(const NocConfig& config, unsigned hop_count, std::uint64_t payload_bytes) {
    return head_cycles(config, hop_count) + serialisation_cycles(config, payload_bytes);
}

}  // namespace switchyard::hw
