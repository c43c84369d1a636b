// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/memory/memory_interface.h"
#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/hw/tile/tile_controller.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/kernel_meter.h"
#include "switchyard/platform/systems/adyna/stages/timeline.h"
#include "switchyard/platform/systems/adyna/stages/transfer_costs.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::platform {

/// The counters that the modules of hw/ would have, from the lists of these, so that reports and checks find them.
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
    void add_waits(std::uint16_t op_id, const OperatorTime<double>& waited);
    /// Of the links between routers.
    std::vector<double> link_busy_cycles() const {
        return {link_cycles_.begin(), link_cycles_.begin() + static_cast<std::ptrdiff_t>(router_links_)};
    }
    void add_segment(Endpoint tile) { ++tiles_[tile].controller.segments; }

private:
    struct Tile {
        hw::TileController::Stats controller;
        hw::KernelDispatcher::Stats dispatcher;
        hw::PeArray::Stats pe_array;
        hw::Scratchpad::Stats scratchpad;
    };
    /// Registers those of a module that `stats` stands for.
    template <class Stats, std::size_t Count>
    void count(const std::string& module, const StatCounter<Stats> (&counters)[Count], const Stats& stats,
               std::initializer_list<std::uint64_t Stats::*> uncounted = {}) {
        const auto refreshed = [this, &stats]() -> const Stats& {
            refresh_();
            return stats;
        };
        register_counters(registry_, module, counters, refreshed, uncounted);
    }
    /// Of the routers, summed up.
    hw::NetworkStats network_stats() const;

    SimulationRegistry& registry_;
    std::function<void()> refresh_;
    std::string chip_;
    unsigned router_links_;
    double memory_bytes_per_cycle_;
    std::vector<Tile> tiles_;
    std::vector<hw::MemoryInterface::Stats> memories_;
    hw::NetworkStats network_;  ///< but for the cycles that links are busy
    std::vector<std::uint64_t> link_cycles_;
    hw::NetworkInterface::Stats interfaces_;
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> branch_samples_;
    Timeline::Spent spent_;
    OperatorTimes times_;
};

}  // namespace switchyard::platform
