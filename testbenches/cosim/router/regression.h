// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/testbenches/cosim/router/traffic_bench.h"

namespace switchyard::testing {

/// Networks for a router of at least `ports` ports, `vcs` VCs of `depth` flits in grids up to columns x rows, with
/// `network`'s pipeline: torus and mesh, few and all VCs, with and without control class, at a third of the load and
/// beyond saturation, unicast and multicast.
std::vector<RouterLoad> router_loads(hw::flit::Config network, unsigned ports, unsigned vcs, unsigned depth,
                                     std::uint64_t cycles, std::uint64_t seed);

/// All routers of all loads in lockstep: "" or the first difference, with its load. `routers` counts the cycles of all.
std::string router_regression(const std::vector<RouterLoad>& loads, const MakeRouter& make);

std::string text_of(const RouterLoad& load);

}  // namespace switchyard::testing
