// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "switchyard/sw_scheduler/collectives/collectives.h"
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

/// The section `links`: the devices, software's time for collectives, and `Messages`, the configuration of what carries
/// messages (hw/link). A system gives its defaults.
template <class Messages>
struct LinksSection : LinkChoice {
    double base_us = 0, step_us = 0, pcie_step_us = 0;
    Messages messages;

    LinksSection() = default;
    LinksSection(unsigned count, double step, double pcie_step) : step_us(step), pcie_step_us(pcie_step) {
        devices = count;
    }
    CollectiveCosts costs() const { return {base_us * 1e3, step_us * 1e3, pcie_step_us * 1e3, 1}; }
};

template <class V, class Messages>
void describe(V& v, LinksSection<Messages>& c) {
    describe(v, static_cast<LinkChoice&>(c));
    v.field("base_us", c.base_us, 0, 1e6, "of software, of a collective, besides its launch");
    v.field("step_us", c.step_us, 0, 1e6, "of software, of a message; 3.4: NCCL's Simple protocol over NVLink");
    v.field("pcie_step_us", c.pcie_step_us, 0, 1e6, "of one over PCI Express");
    describe(v, c.messages);
}

/// The topology, null for one device. `path`: of the platform file. Throws InputError: neither a topology nor a family,
/// a file with fewer devices, an island.
std::shared_ptr<const LinkTopology> chosen_topology(const LinkChoice& choice, const std::string& path);

}  // namespace switchyard::sched
