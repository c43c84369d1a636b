// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::sched {

/// How many devices a platform file joins, and how: keys of its section `links`.
struct LinkChoice {
    unsigned devices = 1;
    std::string topology;
    std::string family = "none";
    double rate_factor = 1;
};

template <class V>
void describe(V& v, LinkChoice& c) {
    v.field("devices", c.devices, 1, 64, "of a topology's, the first ones");
    v.field("topology", c.topology, "file of the topology, relative to the platform file");
    v.choice("family", c.family, {"none", "ring", "fully_connected", "switch", "pcie_tree"},
             "a family of topologies of NVLink 2 (six links a device together) in place of the file");
    v.field("rate_factor", c.rate_factor, 0.001, 1000, "of all links' rates");
}

/// The topology, null for one device. `path`: of the platform file. Throws InputError: neither a topology nor a family,
/// a file with fewer devices, an island.
std::shared_ptr<const LinkTopology> chosen_topology(const LinkChoice& choice, const std::string& path);

}  // namespace switchyard::sched
