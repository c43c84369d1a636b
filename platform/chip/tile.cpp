// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/tile.h"

#include "switchyard/platform/chip/blocks.h"

namespace switchyard::platform {

/// The component's configuration in this tile.
template <class Config>
static Config in_tile(Config config, const TileOverrides& overrides, Endpoint tile) {
    config.impl = overrides.impl_of(tile, config.impl);
    return config;
}

Tile::Tile(const sc_core::sc_module_name& name, const PlatformConfig& platform,
           const hw::NetworkInterface::Address& address, SimulationRegistry& registry)
    : sc_module(name),
      controller("controller", platform.controller, registry),
      dispatcher(blocks::make_kernel_dispatcher(
          "dispatcher", in_tile(platform.dispatcher, platform.dispatcher_overrides, address.tile), registry)),
      pe_array(blocks::make_pe_array("pe_array", in_tile(platform.pe_array, platform.pe_array_overrides, address.tile),
                                     registry)),
      scratchpad("scratchpad", platform.scratchpad, registry),
      network_interface("network_interface",
                        in_tile(platform.network_interface, platform.network_interface_overrides, address.tile),
                        address, registry, &blocks::make_routing_blocks),
      links_(platform.chip.check_protocol) {
    links_.bind(controller.interface, network_interface.control, "controller_interface");
    links_.bind(controller.dispatcher, dispatcher->dispatch, "controller_dispatcher");
    links_.bind(controller.dispatcher_config, dispatcher->configure, "controller_dispatcher_config");
    links_.bind(controller.scratchpad, scratchpad.controller, "controller_scratchpad");
    links_.bind(dispatcher->scratchpad, scratchpad.dispatcher, "dispatcher_scratchpad");
    links_.bind(dispatcher->pe_array, pe_array->command, "dispatcher_pe_array");
    links_.bind(dispatcher->network_interface, network_interface.issue, "dispatcher_interface");
    links_.bind(pe_array->scratchpad, scratchpad.pe_array, "pe_array_scratchpad");
    links_.bind(network_interface.controller, controller.events, "interface_controller");
    links_.bind(network_interface.scratchpad, scratchpad.network_interface, "interface_scratchpad");
}

}  // namespace switchyard::platform
