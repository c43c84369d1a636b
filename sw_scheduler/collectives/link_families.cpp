// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"
#include "switchyard/sw_scheduler/collectives/link_topology.h"

namespace switchyard::sched {
namespace {

using Node = LinkTopology::Node;
using Link = LinkTopology::Link;

constexpr unsigned kMaxDevices = 1024;
/// From a port of a switch to another one: at most 100 ns by the product brief of PLX's PEX 8747 (PCI Express 3.0,
/// cut-through, x16 to x16). No figure was found for NVSwitch: one value for both, which a topology file may change.
constexpr double kSwitchLatencyNs = 100;

std::vector<Node> devices(unsigned count) {
    std::vector<Node> nodes;
    for (unsigned i = 0; i < count; ++i) nodes.push_back({fmt::format("gpu{}", i), 0});
    return nodes;
}

LinkTopology ring(unsigned count, const LinkKind& kind) {
    std::vector<Link> links;
    for (unsigned i = 0; i + 1 < count; ++i) links.push_back({i, i + 1, kind, 1});
    if (count > 2) links.push_back({count - 1, 0, kind, 1});
    return LinkTopology("ring", count, true, devices(count), std::move(links));
}

LinkTopology fully_connected(unsigned count, const LinkKind& kind) {
    std::vector<Link> links;
    for (unsigned a = 0; a < count; ++a)
        for (unsigned b = a + 1; b < count; ++b) links.push_back({a, b, kind, 1});
    return LinkTopology("fully_connected", count, false, devices(count), std::move(links));
}

LinkTopology one_switch(unsigned count, const LinkKind& kind) {
    std::vector<Node> nodes = devices(count);
    nodes.push_back({"switch", kSwitchLatencyNs});
    std::vector<Link> links;
    for (unsigned i = 0; i < count; ++i) links.push_back({i, count, kind, 1});
    return LinkTopology("switch", count, false, std::move(nodes), std::move(links));
}

LinkTopology pcie_tree(unsigned count, const LinkKind& kind) {
    constexpr unsigned kDevicesASwitch = 2, kSwitchesABridge = 4;
    std::vector<Node> nodes = devices(count);
    std::vector<Link> links;
    std::vector<unsigned> bridges;
    for (unsigned first = 0, number = 0; first < count; first += kDevicesASwitch, ++number) {
        if (number % kSwitchesABridge == 0) {
            bridges.push_back(static_cast<unsigned>(nodes.size()));
            nodes.push_back({fmt::format("bridge{}", bridges.size() - 1), kSwitchLatencyNs});
        }
        const unsigned here = static_cast<unsigned>(nodes.size());
        nodes.push_back({fmt::format("switch{}", number), kSwitchLatencyNs});
        for (unsigned i = first; i < std::min(first + kDevicesASwitch, count); ++i) links.push_back({i, here, kind, 1});
        links.push_back({here, bridges.back(), kind, 1});
    }
    for (std::size_t a = 0; a < bridges.size(); ++a)
        for (std::size_t b = a + 1; b < bridges.size(); ++b) links.push_back({bridges[a], bridges[b], kind, 1});
    return LinkTopology("pcie_tree", count, false, std::move(nodes), std::move(links));
}

}  // namespace

const std::vector<std::string>& link_families() {
    static const std::vector<std::string> kNames{"ring", "fully_connected", "switch", "pcie_tree"};
    return kNames;
}

LinkTopology make_link_topology(const std::string& family, unsigned count, const LinkKind& kind) {
    if (count < 2 || count > kMaxDevices)
        throw std::invalid_argument(fmt::format("expected 2 to {} devices, found {}", kMaxDevices, count));
    if (family == "ring") return ring(count, kind);
    if (family == "fully_connected") return fully_connected(count, kind);
    if (family == "switch") return one_switch(count, kind);
    if (family == "pcie_tree") return pcie_tree(count, kind);
    throw std::invalid_argument(not_among("links.family", link_families(), family));
}

}  // namespace switchyard::sched
