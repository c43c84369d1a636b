// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/placement.h"

namespace switchyard::sched::brainstorm {

/// Branches of a router that a device takes: an even share, as in section 4.2 of the paper.
std::size_t branches_of_a_device(std::size_t branches, std::size_t devices);

/// The branches of one router in blocks, as frameworks place them.
Placement block_placement(std::size_t branches, std::size_t devices);
/// `cells`: of each branch. `balanced`: the heaviest branch goes to the device with the least cells that has room;
/// otherwise the heaviest branches go together.
Placement placement_by_load(const std::vector<std::uint64_t>& cells, std::size_t devices, bool balanced);
/// `from`: [device][branch] cells that start on the device and return to it. Annealing of the cells between devices.
Placement annealed_router_placement(const std::vector<std::vector<std::uint64_t>>& from);

/// A router that a file places: its name and how many branches it has.
struct PlacedRouter {
    std::string name;
    std::size_t branches = 0;
};
/// `devices: N` and `routers: {NAME: [device of each branch]}` for all `routers`, the result in their order
/// (docs/brainstorm.md). Throws InputError "file:line: key: message": another number of devices, a router that is
/// missing or unknown, a branch without a device, a device that is not there or takes more than its share.
std::vector<Placement> read_placement(const std::string& path, const std::vector<PlacedRouter>& routers,
                                      std::size_t devices);

}  // namespace switchyard::sched::brainstorm
