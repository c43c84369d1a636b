// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/router/regression.h"

#include <fmt/format.h>

namespace switchyard::testing {

std::string text_of(const RouterLoad& load) {
    const hw::flit::Config& n = load.network;
    return fmt::format("{} {}x{}, {} endpoints, {} + {} VCs of {} flits, rate {}, {} % multicast, seed {}",
                       n.torus ? "torus" : "mesh", n.columns, n.rows, load.homes.size(), n.vcs, n.control_vcs,
                       n.buffer_flits, load.rate, load.multicast_percent, load.seed);
}

std::vector<RouterLoad> router_loads(hw::flit::Config network, unsigned ports, unsigned vcs, unsigned depth,
                                     std::uint64_t cycles, std::uint64_t seed) {
    std::vector<RouterLoad> loads;
    const unsigned columns = network.columns, rows = network.rows;
    for (unsigned i = 0; i < 8; ++i) {
        RouterLoad load;
        load.network = network;
        load.network.torus = i % 2 == 0;
        load.network.columns = i < 4 ? columns : (columns + 1) / 2;
        load.network.rows = rows;
        // A torus needs two VCs of each class, a mesh one.
        const bool control = i % 4 < 2 && vcs >= (load.network.torus ? 4u : 2u);
        load.network.control_vcs = control ? (load.network.torus ? 2 : 1) : 0;
        load.network.vcs = i == 5 ? 1 : vcs - load.network.control_vcs;
        load.network.buffer_flits = i == 6 ? (depth + 1) / 2 : depth;
        load.homes = an_endpoint_each(load.network);
        // Routers with several endpoints: the first one and the last but one.
        for (unsigned extra = 5; extra < ports && i != 3; ++extra) {
            load.homes.push_back(0);
            load.homes.push_back(load.network.routers() - 2);
        }
        load.rate = i % 3 == 2 ? 0.03 : 1;
        load.multicast_percent = i == 0 ? 0 : (i == 7 ? 100 : 20);
        load.cycles = cycles;
        load.seed = seed + i;
        loads.push_back(load);
    }
    return loads;
}

std::string router_regression(const std::vector<RouterLoad>& loads, const MakeRouter& make) {
    for (const RouterLoad& load : loads) {
        const RouterRun run = run_routers(
            load, [](unsigned) { return RouterImpl::lockstep; }, make);
        if (!run.difference.empty()) return text_of(load) + ": " + run.difference;
        if (run.arrivals.size() != run.expected)
            return fmt::format("{}: {} of {} packets arrived", text_of(load), run.arrivals.size(), run.expected);
    }
    return "";
}

}  // namespace switchyard::testing
