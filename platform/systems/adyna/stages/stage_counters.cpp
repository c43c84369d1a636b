// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/stage_counters.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace switchyard::platform {

StageCounters::StageCounters(const std::string& chip, const PlatformConfig& platform, unsigned router_links,
                             unsigned links, SimulationRegistry& registry, std::function<void()> refresh)
    : registry_(registry),
      refresh_(std::move(refresh)),
      chip_(chip),
      router_links_(router_links),
      memory_bytes_per_cycle_(platform.hbm.peak_bytes_per_cycle() * (1 - platform.hbm.refresh_share)),
      tiles_(platform.tiles()),
      memories_(platform.hbm.interfaces()),
      link_cycles_(links, 0) {
    const std::string torus = chip + ".torus";
    registry_.time_uses().operators.emplace_back([this](OperatorTimes& times) {
        refresh_();
        for (const auto& [op_id, time] : times_) times[op_id].add(time);
    });
    const auto of_network = [this] { return network_stats(); };
    register_counters(registry, torus, hw::kRouterCounters, of_network);
    hw::register_network_counters(registry, torus, hw::links_of(*hw::make_topology(platform.noc)), of_network);
    for (std::size_t i = 0; i < memories_.size(); ++i) {
        count(fmt::format("{}.hbm.interface_{}", chip, i), hw::MemoryInterface::kCounters, memories_[i],
              {&hw::MemoryInterface::Stats::requests});
    }
    count(chip + ".stages.network_interface", hw::kNetworkInterfaceCounters, interfaces_);
    const auto spend = [&](const char* name, const double& value) {
        registry_.add(chip + ".stages.pipelines", name, "cycles", [this, &value] {
            refresh_();
            return value;
        });
    };
    spend("kernel_cycles", spent_.kernels);
    spend("flight_cycles", spent_.flights);
    spend("transfer_cycles", spent_.transfers);
    spend("wait_cycles", spent_.waits);
    spend("skew_cycles", spent_.skew);
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
        const std::string tile = fmt::format("{}.tile_{}", chip, i);
        const Tile& counts = tiles_[i];
        count(tile + ".controller", hw::TileController::kCounters, counts.controller,
              {&hw::TileController::Stats::macs});
        count(tile + ".dispatcher", hw::KernelDispatcher::kCounters, counts.dispatcher,
              {&hw::KernelDispatcher::Stats::none_found});
        count(tile + ".pe_array", hw::PeArray::kCounters, counts.pe_array);
        count(tile + ".scratchpad", hw::Scratchpad::kCounters, counts.scratchpad, {&hw::Scratchpad::Stats::accesses});
    }
}

hw::NetworkStats StageCounters::network_stats() const {
    refresh_();
    hw::NetworkStats stats = network_;
    const auto end = link_cycles_.begin() + router_links_;
    stats.link_busy_cycles = std::accumulate(link_cycles_.begin(), end, std::uint64_t{0});
    stats.max_link_busy_cycles = *std::max_element(link_cycles_.begin(), end);
    return stats;
}

void StageCounters::add(const Traffic& traffic, std::uint64_t times) {
    network_.injected_packets += traffic.packets * times;
    network_.injected_bytes += traffic.payload_bytes * times;
    network_.addressed_packets += traffic.addressed_packets * times;
    network_.addressed_bytes += traffic.addressed_bytes * times;
    network_.ejected_packets += traffic.ejected_packets * times;
    network_.ejected_bytes += traffic.ejected_bytes * times;
    network_.link_packets += traffic.link_packets * times;
    network_.link_bytes += traffic.link_bytes * times;
    for (const Traffic::LinkUse& use : traffic.links) link_cycles_[use.link] += use.cycles * times;
    for (const Traffic::MemoryUse& use : traffic.memory) {
        hw::MemoryInterface::Stats& memory = memories_[use.interface];
        (use.write ? memory.write_bytes : memory.read_bytes) += use.bytes * times;
        memory.busy_cycles +=
            static_cast<double>(use.moved_bytes) / memory_bytes_per_cycle_ * static_cast<double>(times);
    }
}

void StageCounters::add(const Transfer& transfer, std::uint64_t times) {
    add(transfer.traffic, times);
    const hw::NetworkInterface::Stats& use = transfer.interfaces;
    interfaces_.sent_bytes += use.sent_bytes * times;
    interfaces_.delivered_copy_bytes += use.delivered_copy_bytes * times;
    interfaces_.received_bytes += use.received_bytes * times;
    interfaces_.memory_requested_bytes += use.memory_requested_bytes * times;
    interfaces_.memory_written_bytes += use.memory_written_bytes * times;
    interfaces_.probes += use.probes * times;
    interfaces_.acknowledges += use.acknowledges * times;
    interfaces_.packets += use.packets * times;
    interfaces_.samples_sent += use.samples_sent * times;
    interfaces_.samples_received += use.samples_received * times;
    for (const Transfer::TileUse& tile : transfer.tiles) {
        tiles_[tile.tile].scratchpad.read_bytes += tile.read_bytes * times;
        tiles_[tile.tile].scratchpad.write_bytes += tile.write_bytes * times;
    }
}

void StageCounters::add(const OperatorPlacement& placement, const StageWork& work, std::uint64_t times) {
    double& computed = times_[placement.op_id][TimeUse::compute];
    for (std::size_t rank = 0; rank < placement.tiles.size(); ++rank) {
        const KernelUse& use = work.kinds[work.kind_of_rank[rank]];
        Tile& tile = tiles_[placement.tiles[rank]];
        tile.controller.units += times;
        tile.controller.empty_units += work.kernel < 0 ? times : 0;
        tile.controller.busy_cycles += use.cycles * times;
        computed += static_cast<double>(use.cycles * times);
        tile.dispatcher.dispatches += times;
        tile.dispatcher.blocks_issued += use.blocks_issued * times;
        tile.dispatcher.blocks_skipped += use.blocks_skipped * times;
        tile.dispatcher.search_cycles += use.search_cycles * times;
        tile.pe_array.commands += use.pe_array.commands * times;
        tile.pe_array.macs += use.pe_array.macs * times;
        tile.pe_array.vector_elements += use.pe_array.vector_elements * times;
        tile.pe_array.busy_cycles += use.pe_array.busy_cycles * times;
        tile.scratchpad.read_bytes += use.scratchpad.read_bytes * times;
        tile.scratchpad.write_bytes += use.scratchpad.write_bytes * times;
        tile.scratchpad.busy_cycles += use.scratchpad.busy_cycles * times;
    }
}

void StageCounters::add(const Timeline::Spent& spent) {
    spent_.kernels += spent.kernels;
    spent_.flights += spent.flights;
    spent_.transfers += spent.transfers;
    spent_.waits += spent.waits;
    spent_.skew += spent.skew;
}

void StageCounters::add_waits(std::uint16_t op_id, const OperatorTime<double>& waited) {
    times_[op_id].add(waited);
}

void StageCounters::add_samples(std::uint16_t switch_id, std::uint16_t branch, std::uint64_t samples) {
    const auto [entry, added] = branch_samples_.try_emplace({switch_id, branch}, 0);
    entry->second += samples;
    if (!added) return;
    registry_.add(chip_ + ".stages.network_interface", hw::branch_samples(switch_id, branch), "1",
                  [this, &value = entry->second] {
                      refresh_();
                      return static_cast<double>(value);
                  });
}

}  // namespace switchyard::platform
