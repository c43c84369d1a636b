// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <systemc>
#include <tlm>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/hw/memory/hbm.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/platform/chip/link_binder.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/chip/tile.h"

namespace switchyard::platform {

/// What the chip's host interface is told of its surroundings.
hw::HostInterface::Chip surroundings_of_host(const PlatformConfig& platform);

/// The whole accelerator: tiles, torus, HBM and host interface, composed from a PlatformConfig.
///
/// Sockets: the configuration port `host.config` (memory mapped, docs/registers.md), the initiator port
/// `host.host_memory` and the interrupt `host.irq`. Nothing else leads in or out.
/// Network endpoints: PlatformConfig::endpoints().
class Chip : public sc_core::sc_module {
public:
    std::unique_ptr<hw::Network> torus;  ///< `noc.impl`, over `noc.topology`
    hw::Hbm hbm;
    hw::HostInterface host;
    sc_core::sc_vector<Tile> tiles;

    Chip(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry);

private:
    Chip(const sc_core::sc_module_name& name, const PlatformConfig& platform, const ChipEndpoints& endpoints,
         SimulationRegistry& registry);

    LinkBinder links_;
};

}  // namespace switchyard::platform
