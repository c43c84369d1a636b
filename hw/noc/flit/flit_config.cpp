// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_config.h"

#include <fmt/format.h>

#include "switchyard/hw/noc/grid.h"

namespace switchyard::hw::flit {

namespace {

std::string validation_error(const Config& config, unsigned vc_classes, unsigned ports) {
    if (config.vcs == 0) return "vcs: expected at least 1, found 0";
    if (config.buffer_flits == 0 || config.buffer_flits > 1024)
        return fmt::format("buffer_flits: expected 1 to 1024, found {}", config.buffer_flits);
    const bool halves = vc_classes == 2 && config.dateline;
    if (halves && config.vcs % 2 != 0)
        return fmt::format("vcs: expected an even number on a torus, half for each dateline class, found {}",
                           config.vcs);
    if (halves && config.control_vcs % 2 != 0)

        return fmt::format("control_vcs: expected an even number on a torus, half for each dateline class, found {}",
                           config.control_vcs);
    if (config.vc_alloc_cycles == 0 || config.switch_alloc_cycles == 0 || config.switch_cycles == 0)
        return fmt::format(
            "vc_alloc_cycles, switch_alloc_cycles and switch_cycles: expected at least 1, found {}, {} and {}",
            config.vc_alloc_cycles, config.switch_alloc_cycles, config.switch_cycles);
    if (config.switch_iterations == 0) return "switch_iterations: expected at least 1, found 0";
    if (config.link_cycles == 0 || config.endpoint_link_cycles == 0)
        return fmt::format("link_cycles and endpoint_link_cycles: expected at least 1, found {} and {}",
                           config.link_cycles, config.endpoint_link_cycles);
    if (ports * config.all_vcs() > 64)
        return fmt::format("expected at most 64 virtual channels in a router, found {} in {} ports",
                           ports * config.all_vcs(), ports);
    return "";
}

}  // namespace

std::string validation_error(const Config& config, unsigned ports) {
    constexpr unsigned kMaxCoordinates = 256;
    if (config.columns == 0 || config.rows == 0)
        return fmt::format("expected at least one router, found {} x {}", config.columns, config.rows);
    if (config.columns > kMaxCoordinates || config.rows > kMaxCoordinates)
        return fmt::format("expected at most {} routers in a row, found {} x {}", kMaxCoordinates, config.columns,
                           config.rows);
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
    if (topology.routers() == 0 || topology.routers() > 0xFFFF)
        return fmt::format("expected 1 to 65535 routers, found {}", topology.routers());
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
