#include "switchyard/platform/chip.h"

namespace switchyard::platform {

namespace {

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

}  // namespace

Chip::Chip(const sc_core::sc_module_name& name, const PlatformConfig& platform, SimulationRegistry& registry)
    : sc_module(name),
      torus("torus", platform.noc, registry, platform.router_of_endpoint()),
      hbm("hbm", platform.hbm, registry, static_cast<Endpoint>(platform.tiles())),
      host("host", platform.host, surroundings_of_host(platform), registry),
      tiles("tile") {
    const hw::HostInterface::Chip endpoints = surroundings_of_host(platform);
    tiles.init(platform.tiles(), [&](const char* tile_name, std::size_t index) {
        const hw::NetworkInterface::Address address{static_cast<Endpoint>(index), endpoints.first_memory,
                                                    endpoints.host, endpoints.region_bytes};
        return new Tile(tile_name, platform, address, registry);
    });
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        tiles[i].network_interface.noc_out.bind(torus.inject[i]);
        torus.eject[i].bind(tiles[i].network_interface.noc_in);
    }
    for (unsigned i = 0; i < hbm.interfaces(); ++i) {
        hbm.out[i].bind(torus.inject[endpoints.first_memory + i]);
        torus.eject[endpoints.first_memory + i].bind(hbm.in[i]);
    }
    host.noc_out.bind(torus.inject[endpoints.host]);
    torus.eject[endpoints.host].bind(host.noc_in);
}

}  // namespace switchyard::platform
