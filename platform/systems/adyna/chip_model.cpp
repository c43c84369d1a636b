// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/chip_model.h"

#include <stdexcept>

#include "switchyard/platform/chip/chip.h"
#include "switchyard/platform/systems/adyna/stages/stage_chip.h"

namespace switchyard::platform {

namespace {

class Tiles : public ChipModel {
public:
    Tiles(const char* name, const PlatformConfig& platform, SimulationRegistry& registry)
        : region_bytes_(platform.hbm.region_bytes), chip_(name, platform, registry) {}

    hw::HostInterface& host() override { return chip_.host; }
    std::vector<double> link_busy_cycles() override {
        const hw::Topology& topology = chip_.torus->topology();
        std::vector<double> cycles;
        for (unsigned router = 0; router < topology.routers(); ++router)
            for (unsigned port = 0; port < topology.router_ports(); ++port)
                cycles.push_back(topology.behind(router, port)
                                     ? static_cast<double>(chip_.torus->link(router, port).busy_cycles)
                                     : 0.0);
        return cycles;
    }
    void finish_logs() override { chip_.hbm.finish_logs(); }
    void read_memory(std::uint64_t address, std::uint8_t* data, unsigned bytes) override {
        ::tlm::tlm_generic_payload payload;
        payload.set_read();
        payload.set_address(address);
        payload.set_data_ptr(data);
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        chip_.hbm.in[address / region_bytes_].get_base_export()->transport_dbg(payload);
    }

private:
    std::uint64_t region_bytes_;
    Chip chip_;
};

class Stages : public ChipModel {
public:
    Stages(const char* name, const PlatformConfig& platform, SimulationRegistry& registry)
        : chip_(name, platform, registry) {}

    hw::HostInterface& host() override { return chip_.host; }
    std::vector<double> link_busy_cycles() override { return chip_.stages.link_busy_cycles(); }

private:
    StageChip chip_;
};

}  // namespace

void ChipModel::read_memory(std::uint64_t /*address*/, std::uint8_t* /*data*/, unsigned /*bytes*/) {
    throw std::logic_error("the model of the chip has no memory contents");
}

std::unique_ptr<ChipModel> make_chip(const char* name, const PlatformConfig& platform, SimulationRegistry& registry) {
    if (platform.chip.impl == "stages") return std::make_unique<Stages>(name, platform, registry);
    return std::make_unique<Tiles>(name, platform, registry);
}

}  // namespace switchyard::platform
