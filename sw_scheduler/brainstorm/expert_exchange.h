// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "switchyard/sw_scheduler/brainstorm/placement.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::sched::brainstorm {

/// A batch on several devices: the routes of each one's own inputs. `router`, below: the switch in them.
using DeviceRoutes = std::vector<BatchRouting>;

/// Batches dealt to the devices in turn: batch b of device d has the number b * devices + d. Those that are left over
/// are not dealt.
std::vector<DeviceRoutes> deal_batches(const std::vector<BatchRouting>& batches, std::size_t devices);

/// The expert of each cell of one device: a cell for each expert that a sample goes to, sample by sample.
std::vector<std::size_t> experts_of(const BatchRouting& routes, std::size_t router = 0);
/// Experts that a sample of the batches goes to, at the most.
std::size_t max_experts(const std::vector<DeviceRoutes>& batches, std::size_t router);

/// [device][expert] cells of some batches.
std::vector<std::vector<std::uint64_t>> cells_by_expert(const std::vector<DeviceRoutes>& batches, std::size_t experts,
                                                        std::size_t router = 0);
/// [from][to] cells that go from their own devices to those of their experts; the diagonal stays.
CellCounts cells_between(const DeviceRoutes& batch, const Placement& placement, std::size_t router = 0);
/// Cells from one device to another with padding, as Tutel's: room for the most cells that a device has for an expert,
/// for each expert that a device can have; one at least.
std::uint64_t padded_pair_cells(const DeviceRoutes& batch, std::size_t experts, std::size_t router = 0);
/// Cells that come to a device.
std::uint64_t arriving_cells(const CellCounts& counts, std::size_t device);

/// Routes of the experts on one device as ExpertParts::on_device() numbers them, `local` ascending: cells by the device
/// from which they come and their number there, then cells that are not there, up to `capacity`. Throws
/// std::invalid_argument if more arrive.
BatchRouting routes_on_device(const DeviceRoutes& batch, const Placement& placement, std::size_t device,
                              std::uint32_t capacity, std::size_t router = 0);
/// The experts that are placed on a device, ascending.
std::vector<std::size_t> experts_on(const Placement& placement, std::size_t device);

/// Messages whose sizes both sides know, as of results on their way back: `bytes` a cell, without padding, no copies
/// within a device.
CollectiveProgram known_all_to_all(const LinkTopology& topology, const CellCounts& counts, std::uint64_t bytes,
                                   const CollectiveCosts& costs);
/// Lets each device send from ready_ns[device] on. Receivers' buffers lie ready: nobody waits for the receiver.
void delay_senders(CollectiveProgram& program, const std::vector<double>& ready_ns);
/// [to][from]: cells go back to where they came from.
CellCounts transposed(const CellCounts& counts);

}  // namespace switchyard::sched::brainstorm
