// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_config.h"

#include "switchyard/hw/noc/grid.h"

namespace switchyard::hw::flit {

namespace {

std::string validation_error(const Config& config, unsigned vc_classes, unsigned ports) {
    if (config.vcs == 0) return "vcs must not be 0";
    if (config.buffer_flits == 0 || config.buffer_flits > 1024) return "buffer_flits must be 1 to 1024";
    const bool halves = vc_classes == 2 && config.dateline;
    if (halves && config.vcs % 2 != 0) return "a torus needs an even number of vcs: half of them a dateline class";
    if (halves && config.control_vcs % 2 != 0)
        return "a torus needs an even number of control_vcs: half of them a dateline class";
    if (config.vc_alloc_cycles == 0 || config.switch_alloc_cycles == 0 || config.switch_cycles == 0)
        return "vc_alloc_cycles, switch_alloc_cycles and switch_cycles must not be 0";
    if (config.switch_iterations == 0) return "switch_iterations must not be 0";
    if (config.link_cycles == 0 || config.endpoint_link_cycles == 0) return "a link of flits takes a cycle at least";
    if (ports * config.all_vcs() > 64)
        return "a router of " + std::to_string(ports) + " ports with " + std::to_string(config.all_vcs()) +
               " virtual channels each: at most 64 in all are modelled";
    return "";
}

}  // namespace

std::string validation_error(const Config& config, unsigned ports) {
    constexpr unsigned kMaxCoordinates = 256;
    if (config.columns == 0 || config.rows == 0) return "a network needs at least one router";
    if (config.columns > kMaxCoordinates || config.rows > kMaxCoordinates) return "more than 256 routers in a row";
    return validation_error(config, config.torus ? 2 : 1, ports);
}

std::string validation_error(const Config& config, const Topology& topology, unsigned ports) {
    if (const Grid* const grid = topology.grid()) {
        Config of_grid = config;
        of_grid.torus = grid->torus();
        of_grid.columns = grid->columns();
        of_grid.rows = grid->rows();
        return validation_error(of_grid, ports);
    }
    if (topology.routers() == 0 || topology.routers() > 0xFFFF) return "a network needs 1 to 65535 routers";
    return validation_error(config, topology.vc_classes(), ports);
}

unsigned body_credit_loop(const Config& config) {
    return config.switch_cycles + 1 + config.link_cycles + (config.switch_alloc_cycles - 1) + 1 + config.link_cycles +
           config.credit_cycles;
}

std::uint64_t zero_load_cycles(const Config& config, unsigned hops, unsigned flits) {
    const std::uint64_t head = 2ull * config.endpoint_link_cycles + (hops + 1ull) * config.router_cycles() +
                               std::uint64_t{hops} * config.link_cycles;
    // A VC that is granted asks again when the answer is there: flits follow each other at switch_alloc_cycles.
    return head + 1 + (flits - 1ull) * config.switch_alloc_cycles;
}

}  // namespace switchyard::hw::flit
