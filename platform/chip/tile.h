// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <systemc>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/hw/tile/tile_controller.h"
#include "switchyard/platform/chip/link_binder.h"
#include "switchyard/platform/chip/platform_config.h"

namespace switchyard::platform {

/// One tile (Adyna Fig. 7, right): controller with profiler, kernel dispatcher, PE array, scratchpad and network
/// interface. The components know each other's sockets only; this is where they meet.
///
/// Sockets: `network_interface.noc_in` and `network_interface.noc_out`, to be bound to the router.
class Tile : public sc_core::sc_module {
public:
    hw::TileController controller;
    std::unique_ptr<hw::KernelDispatcher> dispatcher;
    std::unique_ptr<hw::PeArray> pe_array;
    hw::Scratchpad scratchpad;
    hw::NetworkInterface network_interface;

    Tile(const sc_core::sc_module_name& name, const PlatformConfig& platform,
         const hw::NetworkInterface::Address& address, SimulationRegistry& registry);

private:
    LinkBinder links_;
};

}  // namespace switchyard::platform
