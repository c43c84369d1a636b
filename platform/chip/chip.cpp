// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/chip.h"

#include <string>

#include "switchyard/platform/chip/blocks.h"

namespace switchyard::platform {

hw::HostInterface::Chip surroundings_of_host(const PlatformConfig& platform) {
    hw::HostInterface::Chip chip;
    chip.platform_fingerprint = make_hardware_description(platform).fingerprint();
    chip.tiles = platform.tiles();
    chip.first_memory = platform.first_memory_endpoint();
    chip.memory_interfaces = platform.hbm.interfaces();
    chip.region_bytes = platform.hbm.region_bytes;
    chip.host = platform.host_endpoint();
    return chip;
}

Chip::Chip(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry)
    : sc_module(name),
      torus(blocks::make_network("torus", platform.noc, registry, platform.router_of_endpoint())),
      hbm("hbm", platform.hbm, registry, static_cast<Endpoint>(platform.tiles())),
      host("host", platform.host, surroundings_of_host(platform), registry),
      tiles("tile"),
      links_(platform.chip.check_protocol) {
    const hw::HostInterface::Chip endpoints = surroundings_of_host(platform);
    tiles.init(platform.tiles(), [&](const char* tile_name, std::size_t index) {
        const hw::NetworkInterface::Address address{static_cast<Endpoint>(index), endpoints.first_memory,
                                                    endpoints.host, endpoints.region_bytes};
        return new Tile(tile_name, platform, address, registry);
    });
    const auto attach = [this](auto& initiator, auto& target, Endpoint endpoint, const std::string& link) {
        links_.bind(initiator, torus->inject[endpoint], link + "_inject");
        links_.bind(torus->eject[endpoint], target, link + "_eject");
    };
    for (unsigned i = 0; i < tiles.size(); ++i) {
        hw::NetworkInterface& interface = tiles[i].network_interface;
        attach(interface.noc_out, interface.noc_in, static_cast<Endpoint>(i), "tile_" + std::to_string(i));
    }
    for (unsigned i = 0; i < hbm.interfaces(); ++i) {
        attach(hbm.out[i], hbm.in[i], static_cast<Endpoint>(endpoints.first_memory + i), "hbm_" + std::to_string(i));
    }
    attach(host.noc_out, host.noc_in, endpoints.host, "host");
}

}  // namespace switchyard::platform
