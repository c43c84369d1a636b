// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::testing {

inline hw::flit::Config grid(bool torus, unsigned columns, unsigned rows, unsigned vcs = 4) {
    hw::flit::Config config;
    config.torus = torus;
    config.columns = columns;
    config.rows = rows;
    config.vcs = vcs;
    return config;
}

/// One endpoint a router.
inline std::vector<unsigned> one_each(const hw::flit::Config& config) {
    std::vector<unsigned> routers(config.routers());
    std::iota(routers.begin(), routers.end(), 0u);
    return routers;
}

}  // namespace switchyard::testing
