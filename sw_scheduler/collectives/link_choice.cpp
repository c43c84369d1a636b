// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/collectives/link_choice.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

/// NVLink 2 as in configs/topologies/dgx1v.yaml; a device has six of them, however many peers.
LinkKind nvlink_of_family(const std::string& family, unsigned devices) {
    LinkKind kind;
    kind.name = "nvlink2";
    kind.gb_per_s = family == "switch"            ? 150
                    : family == "ring"            ? 75
                    : family == "fully_connected" ? 150.0 / (devices - 1)
                                                  : 15.439;
    kind.kernel_gb_per_s = family == "pcie_tree" ? 12 : kind.gb_per_s * 0.8;
    kind.pcie = family == "pcie_tree";
    if (kind.pcie) {
        kind.overhead_bytes = 26;
        kind.latency_ns = 250;
    }
    return kind;
}

}  // namespace

std::shared_ptr<const LinkTopology> chosen_topology(const LinkChoice& choice, const std::string& path) {
    if (choice.devices == 1) return nullptr;
    try {
        if (choice.family != "none") {
            const LinkKind kind = nvlink_of_family(choice.family, choice.devices);
            return std::make_shared<const LinkTopology>(
                make_link_topology(choice.family, choice.devices, kind).scaled(choice.rate_factor));
        }
        if (choice.topology.empty())
            throw InputError(path, 0, "links",
                             "expected a `topology` or a `family` for several devices, found neither");
        const std::filesystem::path file = std::filesystem::path(path).parent_path() / choice.topology;
        const LinkTopology all = read_link_topology(file.lexically_normal().string());
        if (choice.devices > all.devices())
            throw InputError(path, 0, "links.devices",
                             fmt::format("expected at most the {} devices of {}, found {}", all.devices(),
                                         choice.topology, choice.devices));
        return std::make_shared<const LinkTopology>(all.first_devices(choice.devices).scaled(choice.rate_factor));
    } catch (const std::invalid_argument& error) {
        throw InputError(path, 0, "links", error.what());
    }
}

}  // namespace switchyard::sched
