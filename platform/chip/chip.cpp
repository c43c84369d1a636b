// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/chip.h"

#include <string>

#include "switchyard/platform/chip/blocks.h"

namespace switchyard::platform {

hw::HostInterface::Chip surroundings_of_host(const PlatformConfig& platform) {
    const ChipEndpoints endpoints = platform.endpoints();
    hw::HostInterface::Chip chip;
    chip.platform_fingerprint = make_hardware_description(platform).fingerprint();
    chip.tiles = platform.tiles();
    chip.memory = endpoints.memory;
    chip.region_bytes = platform.hbm.region_bytes;
    chip.host = endpoints.host;
    return chip;
}

Chip::Chip(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry)
    : Chip(name, platform, platform.endpoints(), registry) {}

Chip::Chip(const sc_core::sc_module_name& name, const PlatformConfig& platform, const ChipEndpoints& endpoints,
           SimulationRegistry& registry)
    : sc_module(name),
      torus(blocks::make_network("torus", platform.noc, registry, endpoints.map.routers())),
      hbm("hbm", platform.hbm, registry, endpoints.memory),
      host("host", platform.host, surroundings_of_host(platform), registry),
      tiles("tile"),
      links_(platform.chip.check_protocol) {
    tiles.init(platform.tiles(), [&](const char* tile_name, std::size_t index) {
        const hw::NetworkInterface::Address address{static_cast<Endpoint>(index), endpoints.memory, endpoints.host,
                                                    platform.hbm.region_bytes};
        return new Tile(tile_name, platform, address, registry);
    });
    const auto attach = [&](auto& initiator, auto& target, Endpoint endpoint) {
        const std::string& link = endpoints.map.name_of(endpoint);
        links_.bind(initiator, torus->inject[endpoint], link + "_inject");
        links_.bind(torus->eject[endpoint], target, link + "_eject");
    };
    for (unsigned i = 0; i < tiles.size(); ++i) {
        hw::NetworkInterface& interface = tiles[i].network_interface;
        attach(interface.noc_out, interface.noc_in, static_cast<Endpoint>(i));
    }
    for (unsigned i = 0; i < hbm.interfaces(); ++i) {
        attach(hbm.out[i], hbm.in[i], endpoints.memory[i]);
    }
    attach(host.noc_out, host.noc_in, endpoints.host);
}

}  // namespace switchyard::platform
