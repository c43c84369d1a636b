// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

/// The accelerator with one implementation of `chip.impl`, as its host and its integrator see it.
class ChipModel {
public:
    ChipModel() = default;
    ChipModel(const ChipModel&) = delete;
    ChipModel& operator=(const ChipModel&) = delete;
    virtual ~ChipModel() = default;

    /// All sockets and signals of the chip are those of its host interface.
    virtual hw::HostInterface& host() = 0;
    /// Since the beginning, of each link between routers: by router and port, all ports of a router in turn.
    virtual std::vector<double> link_busy_cycles() = 0;
    /// Writes what logs of the memory still hold.
    virtual void finish_logs() {}
    /// Reads `bytes` bytes of HBM from `address` on by debug transport. Throws std::logic_error if the model has sizes
    /// only.
    virtual void read_memory(std::uint64_t address, std::uint8_t* data, unsigned bytes);
};

/// The only factory of chips: Chip, or StageChip where `chip.impl` is stages. With `auto` it is Chip: what will run,
/// and whether stages are validated for it, is open here (run_on_chosen_chip()). Within the elaboration, in whatever
/// module is under construction.
std::unique_ptr<ChipModel> make_chip(const char* name, const PlatformConfig& platform, SimulationRegistry& registry);

}  // namespace switchyard::platform
