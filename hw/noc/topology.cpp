// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/topology.h"

namespace switchyard::hw {
namespace {

bool is_torus(const NocConfig& config) {
    return config.topology == "torus";
}

/// One step along a dimension, or -1 if there is no link.
int step(bool torus, unsigned size, unsigned position, int by) {
    const int length = static_cast<int>(size);
    const int next = static_cast<int>(position) + by;
    if (torus && length > 1) return (next + length) % length;
    return next >= 0 && next < length ? next : -1;
}

}  // namespace

std::string validation_error(const NocConfig& config) {
    if (config.topology != "torus" && config.topology != "mesh") return "no such topology: " + config.topology;
    if (config.columns == 0 || config.rows == 0) return "a network needs at least one router";
    if (config.link_bytes_per_cycle == 0) return "link_bytes_per_cycle must not be 0";
    if (config.header_bytes == 0) return "header_bytes must not be 0";
    if (!(config.clock_ghz > 0)) return "clock_ghz must be positive";
    if (config.impl != "packet" && config.impl != "flit" && config.impl != "rtl" && config.impl != "lockstep")
        return "no such impl: " + config.impl;
    const unsigned stages =
        config.routing_cycles + config.vc_alloc_cycles + config.switch_alloc_cycles + config.switch_cycles;
    if (config.impl != "packet" && config.router_cycles != stages)
        return "router_cycles is " + std::to_string(config.router_cycles) + ", the stages of the flit router take " +
               std::to_string(stages);
    return "";
}

int neighbour(const NocConfig& config, unsigned router, unsigned out_port) {
    const unsigned x = router % config.columns, y = router / config.columns;
    const bool torus = is_torus(config);
    if (out_port == port::kEast || out_port == port::kWest) {
        const int next = step(torus, config.columns, x, out_port == port::kEast ? 1 : -1);
        return next < 0 ? -1 : static_cast<int>(y * config.columns) + next;
    }
    const int next = step(torus, config.rows, y, out_port == port::kSouth ? 1 : -1);
    return next < 0 ? -1 : next * static_cast<int>(config.columns) + static_cast<int>(x);
}

}  // namespace switchyard::hw
