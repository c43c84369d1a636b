// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/kernel_meter.h"
#include "switchyard/platform/systems/adyna/stages/timeline.h"
#include "switchyard/platform/systems/adyna/stages/transfer_costs.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

/// The counters that the modules of hw/ would have, under the same names, so that reports and checks find them.
/// Of tiles, links and memory interfaces each has its own; network interfaces and the routers are summed up.
class StageCounters {
public:
    /// Registers the counters below `chip`, the path of the chip's module. `refresh` is called before a counter is
    /// read.
    StageCounters(const std::string& chip, const PlatformConfig& platform, unsigned router_links, unsigned links,
                  SimulationRegistry& registry, std::function<void()> refresh);
    StageCounters(const StageCounters&) = delete;
    StageCounters& operator=(const StageCounters&) = delete;

    void add(const Traffic& traffic, std::uint64_t times);
    void add(const Transfer& transfer, std::uint64_t times);
    void add(const OperatorPlacement& placement, const StageWork& work, std::uint64_t times);
    void add_samples(std::uint16_t switch_id, std::uint16_t branch, std::uint64_t samples);
    void add(const Timeline::Spent& spent);
    void add_segment(Endpoint tile) { ++tiles_[tile].segments; }

private:
    struct Tile {
        std::uint64_t units = 0, empty_units = 0, kernel_cycles = 0, segments = 0;
        std::uint64_t dispatches = 0, blocks_issued = 0, blocks_skipped = 0, search_cycles = 0;
        hw::PeArray::Stats pe_array;
        hw::Scratchpad::Stats scratchpad;
    };
    struct Memory {
        std::uint64_t read_bytes = 0, write_bytes = 0;
        double busy_cycles = 0;
    };

    void count(const std::string& module, const char* name, const char* unit, const std::uint64_t& value);

    SimulationRegistry& registry_;
    std::function<void()> refresh_;
    std::string chip_;
    unsigned router_links_;
    unsigned wires_ = 0;  ///< links between routers that exist
    double memory_bytes_per_cycle_;
    std::vector<Tile> tiles_;
    std::vector<Memory> memories_;
    Traffic network_;  ///< its sums; the lists stay empty
    std::vector<std::uint64_t> link_cycles_;
    hw::NetworkInterface::Stats interfaces_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> branch_samples_;
    Timeline::Spent spent_;
};

}  // namespace switchyard::platform
