// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/router_placement.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/base/plain_number.h"

namespace switchyard::sched::brainstorm {

std::size_t branches_of_a_device(std::size_t branches, std::size_t devices) {
    return (branches + devices - 1) / devices;
}

Placement block_placement(std::size_t branches, std::size_t devices) {
    Placement placement;
    for (std::size_t b = 0; b < branches; ++b) placement.push_back(b / branches_of_a_device(branches, devices));
    return placement;
}

Placement placement_by_load(const std::vector<std::uint64_t>& cells, std::size_t devices, bool balanced) {
    const std::size_t each = branches_of_a_device(cells.size(), devices);
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cells[a] > cells[b]; });
    std::vector<std::uint64_t> on(devices);
    std::vector<std::size_t> count(devices);
    Placement placement(cells.size());
    for (std::size_t rank = 0; rank < cells.size(); ++rank) {
        std::size_t device = rank / each;
        if (balanced) {
            device = devices;
            for (std::size_t d = 0; d < devices; ++d)
                if (count[d] < each && (device == devices || on[d] < on[device])) device = d;
        }
        placement[order[rank]] = device;
        on[device] += cells[order[rank]];
        ++count[device];
    }
    return placement;
}

Placement annealed_router_placement(const std::vector<std::vector<std::uint64_t>>& from) {
    const std::size_t devices = from.size(), branches = from.front().size();
    PlacementProblem problem;
    problem.devices = devices;
    // A pseudo-branch for each device is where its cells start.
    problem.layer.assign(devices, 0);
    problem.layer.insert(problem.layer.end(), branches, 1);
    problem.per_device = {1, branches_of_a_device(branches, devices)};
    for (std::size_t d = 0; d < devices; ++d)
        for (std::size_t b = 0; b < branches; ++b)
            if (from[d][b] > 0) problem.flows.push_back({d, devices + b, static_cast<double>(from[d][b])});
    const Placement all = annealed_placement(problem);
    // Devices are renamed so that the cells' own devices are themselves.
    std::vector<std::size_t> name(devices);
    for (std::size_t d = 0; d < devices; ++d) name[all[d]] = d;
    Placement placement;
    for (std::size_t b = 0; b < branches; ++b) placement.push_back(name[all[devices + b]]);
    return placement;
}

namespace {

Placement read_router(const MappingReader& section, const PlacedRouter& router, const YAML::Node& list,
                      std::size_t devices) {
    const auto fail = [&](int line, const std::string& message) {
        throw InputError(section.file(), line, "routers." + router.name, message);
    };
    if (!list.IsSequence())
        fail(section.line_of_key(router.name), "expected a list of the device of each branch, found none");
    Placement placement;
    std::vector<std::size_t> count(devices);
    const std::size_t each = branches_of_a_device(router.branches, devices);
    for (const YAML::Node& node : list) {
        std::uint32_t device = 0;
        const std::size_t branch = placement.size();
        if (branch == router.branches)
            fail(line_of(node), fmt::format("expected at most {} branches, found more", router.branches));
        if (!node.IsScalar() || parse_plain_number(node.Scalar(), device) != Parsed::ok || device >= devices)
            fail(line_of(node), fmt::format("branch {}: expected a device from 0 to {}, found {}", branch, devices - 1,
                                            kind_of(node)));
        if (++count[device] > each)
            fail(line_of(node), fmt::format("branch {}: expected at most {} of {} branches on device {}, found more",
                                            branch, each, router.branches, device));
        placement.push_back(device);
    }
    if (placement.size() < router.branches)
        fail(line_of(list),
             fmt::format("expected the devices of {} branches, found {}", router.branches, placement.size()));
    return placement;
}

}  // namespace

std::vector<Placement> read_placement(const std::string& path, const std::vector<PlacedRouter>& routers,
                                      std::size_t devices) {
    MappingReader file(load_yaml(path), path, "");
    file.allow({"devices", "routers"});
    const std::uint64_t stated = file.integer("devices", 1, 1u << 20);
    if (stated != devices)
        file.fail("devices", fmt::format("expected the {} devices of the platform, found {}", devices, stated));
    MappingReader section = file.mapping("routers");
    std::vector<Placement> placements;
    for (const PlacedRouter& router : routers) {
        if (!section.has(router.name)) section.fail(router.name, "expected a value, found nothing");
        placements.push_back(read_router(section, router, section.node(router.name), devices));
    }
    for (const auto& entry : section.nodes())
        if (!section.has(entry.first) || std::none_of(routers.begin(), routers.end(), [&](const PlacedRouter& router) {
                return router.name == entry.first;
            }))
            section.fail(entry.first, "expected a router of the network, found " + entry.first);
    file.finish();
    return placements;
}

}  // namespace switchyard::sched::brainstorm
