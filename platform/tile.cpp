#include "switchyard/platform/tile.h"

namespace switchyard::platform {

Tile::Tile(const sc_core::sc_module_name& name, const PlatformConfig& platform,
           const hw::NetworkInterface::Address& address, SimulationRegistry& registry)
    : sc_module(name),
      controller("controller", platform.controller, registry),
      dispatcher("dispatcher", platform.dispatcher, registry),
      pe_array("pe_array", platform.pe_array, registry),
      scratchpad("scratchpad", platform.scratchpad, registry),
      network_interface("network_interface", platform.network_interface, address, registry) {
    controller.interface.bind(network_interface.control);
    controller.dispatcher.bind(dispatcher.dispatch);
    controller.dispatcher_config.bind(dispatcher.configure);
    controller.scratchpad.bind(scratchpad.controller);
    dispatcher.scratchpad.bind(scratchpad.dispatcher);
    dispatcher.pe_array.bind(pe_array.command);
    dispatcher.network_interface.bind(network_interface.issue);
    pe_array.scratchpad.bind(scratchpad.pe_array);
    network_interface.controller.bind(controller.events);
    network_interface.scratchpad.bind(scratchpad.network_interface);
}

}  // namespace switchyard::platform
