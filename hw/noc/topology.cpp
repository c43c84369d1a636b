// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/topology.h"

#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/hw/noc/grid.h"
#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {
namespace {

class OneWay : public RouteChooser {
    unsigned choose(std::uint32_t, const std::uint16_t*, std::size_t) override { return 0; }
};

struct Named {
    const char* name;
    TopologyPtr (*make)(unsigned columns, unsigned rows);
};

template <bool Torus>
TopologyPtr grid(unsigned columns, unsigned rows) {
    return std::make_shared<const Grid>(Torus, columns, rows);
}

/// Another topology is one more line here.
constexpr Named kTopologies[] = {{"torus", &grid<true>}, {"mesh", &grid<false>}};

}  // namespace

std::unique_ptr<RouteChooser> Topology::make_chooser(unsigned) const {
    return std::make_unique<OneWay>();
}

const std::vector<std::string>& topologies() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> all;
        for (const Named& named : kTopologies) all.emplace_back(named.name);
        return all;
    }();
    return kNames;
}

TopologyPtr make_topology(const std::string& name, unsigned columns, unsigned rows) {
    if (columns == 0 || rows == 0)
        throw std::invalid_argument(fmt::format("expected at least one router, found {} x {}", columns, rows));
    for (const Named& named : kTopologies)
        if (name == named.name) return named.make(columns, rows);
    throw std::invalid_argument(not_among("noc.topology", topologies(), name));
}

unsigned links_of(const Topology& topology) {
    unsigned links = 0;
    for (unsigned r = 0; r < topology.routers(); ++r)
        for (unsigned p = 0; p < topology.router_ports(); ++p) links += topology.behind(r, p) ? 1 : 0;
    return links;
}

}  // namespace switchyard::hw
