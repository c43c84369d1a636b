// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/m_tenant/simulation/tenant_simulation.h"

#include <memory>
#include <string>

#include <systemc>

#include "switchyard/hw/memory/hbm.h"
#include "switchyard/hw/task_tile/task_tile.h"
#include "switchyard/platform/chip/blocks.h"
#include "switchyard/platform/chip/link_binder.h"
#include "switchyard/platform/system/no_progress.h"
#include "switchyard/platform/systems/m_tenant/simulation/tenant_host.h"

namespace switchyard::platform {

namespace {

/// Tiles that run tasks, network, HBM and host.
class TenantChipModel : public sc_core::sc_module {
public:
    std::unique_ptr<hw::Network> network;
    hw::Hbm hbm;
    TenantHost host;
    sc_core::sc_vector<hw::TaskTile> tiles;

    TenantChipModel(const sc_core::sc_module_name& name, const PlatformConfig& platform, const ChipEndpoints& endpoints,
                    TenantHost::Job job, SimulationRegistry& registry)
        : sc_module(name),
          network(blocks::make_network("network", platform.noc, registry, endpoints.map.routers())),
          hbm("hbm", platform.hbm, registry, endpoints.memory),
          host("host", with_counters(std::move(job)), registry),
          tiles("tile"),
          links_(platform.chip.check_protocol) {
        tiles.init(platform.tiles(), [&](const char* tile_name, std::size_t index) {
            hw::TaskTile::Config config;
            config.clock_ghz = platform.chip.clock_ghz;
            config.setup_cycles = platform.network_interface.setup_cycles;
            config.max_packet_bytes = platform.network_interface.max_packet_bytes;
            config.tile = static_cast<Endpoint>(index);
            config.host = endpoints.host;
            config.memory = endpoints.memory;
            config.region_bytes = platform.hbm.region_bytes;
            return new hw::TaskTile(tile_name, std::move(config), registry);
        });
        const auto attach = [&](auto& initiator, auto& target, Endpoint endpoint) {
            const std::string& link = endpoints.map.name_of(endpoint);
            links_.bind(initiator, network->inject[endpoint], link + "_inject");
            links_.bind(network->eject[endpoint], target, link + "_eject");
        };
        for (unsigned i = 0; i < tiles.size(); ++i) attach(tiles[i].noc_out, tiles[i].noc_in, static_cast<Endpoint>(i));
        for (unsigned i = 0; i < hbm.interfaces(); ++i) attach(hbm.out[i], hbm.in[i], endpoints.memory[i]);
        attach(host.noc_out, host.noc_in, endpoints.host);
    }

private:
    TenantHost::Job with_counters(TenantHost::Job job) {
        job.counted = [this] {
            const hw::Hbm::Stats memory = hbm.stats();
            return TenantHost::Counted{memory.read_bytes, memory.write_bytes, network->stats().link_bytes};
        };
        return job;
    }

    LinkBinder links_;
};

}  // namespace

std::vector<TenantBatch> simulate_tenants(const TenantGraph& graph, const std::vector<BatchRouting>& routing,
                                          const PlatformConfig& platform, TenantKernels& kernels,
                                          const TenantConfig& config) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    const ChipEndpoints endpoints = platform.endpoints();
    const TensorPlaces places(kernels, platform.hbm.interfaces(), platform.hbm.region_bytes);
    SimulationRegistry registry;
    TenantHost::Job job{routing, graph, kernels, places, config, platform.chip.clock_ghz, endpoints.host, {}};
    TenantChipModel chip("chip", platform, endpoints, std::move(job), registry);
    sc_core::sc_start();
    if (!chip.host.finished()) throw no_progress(registry);
    chip.hbm.finish_logs();
    return chip.host.batches();
}

}  // namespace switchyard::platform
