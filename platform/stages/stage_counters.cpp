// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/stages/stage_counters.h"

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
    count(torus, "injected_packets", "1", network_.packets);
    count(torus, "injected_bytes", "bytes", network_.payload_bytes);
    count(torus, "addressed_packets", "1", network_.addressed_packets);
    count(torus, "addressed_bytes", "bytes", network_.addressed_bytes);
    count(torus, "ejected_packets", "1", network_.ejected_packets);
    count(torus, "ejected_bytes", "bytes", network_.ejected_bytes);
    count(torus, "link_packets", "1", network_.link_packets);
    count(torus, "link_bytes", "bytes", network_.link_bytes);
    wires_ = hw::links_of(*hw::make_topology(platform.noc));
    registry.add(torus, "links", "1", [this] { return static_cast<double>(wires_); });
    registry.add(torus, "link_busy_cycles", "cycles", [this] {
        refresh_();
        return std::accumulate(link_cycles_.begin(), link_cycles_.begin() + router_links_, 0.0);
    });
    registry.add(torus, "max_link_busy_cycles", "cycles", [this] {
        refresh_();
        return static_cast<double>(*std::max_element(link_cycles_.begin(), link_cycles_.begin() + router_links_));
    });
    for (std::size_t i = 0; i < memories_.size(); ++i) {
        const std::string module = fmt::format("{}.hbm.interface_{}", chip, i);
        count(module, "read_bytes", "bytes", memories_[i].read_bytes);
        count(module, "write_bytes", "bytes", memories_[i].write_bytes);
        registry.add(module, "busy_cycles", "cycles", [this, i] {
            refresh_();
            return memories_[i].busy_cycles;
        });
    }
    const std::string interfaces = chip + ".stages.network_interface";
    count(interfaces, "sent_bytes", "bytes", interfaces_.sent_bytes);
    count(interfaces, "delivered_copy_bytes", "bytes", interfaces_.delivered_copy_bytes);
    count(interfaces, "received_bytes", "bytes", interfaces_.received_bytes);
    count(interfaces, "memory_requested_bytes", "bytes", interfaces_.memory_requested_bytes);
    count(interfaces, "memory_written_bytes", "bytes", interfaces_.memory_written_bytes);
    count(interfaces, "probes", "1", interfaces_.probes);
    count(interfaces, "acknowledges", "1", interfaces_.acknowledges);
    count(interfaces, "packets", "1", interfaces_.packets);
    count(interfaces, "samples_sent", "1", interfaces_.samples_sent);
    count(interfaces, "samples_received", "1", interfaces_.samples_received);
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
        count(tile + ".controller", "units", "1", counts.units);
        count(tile + ".controller", "empty_units", "1", counts.empty_units);
        count(tile + ".controller", "busy_cycles", "cycles", counts.kernel_cycles);
        count(tile + ".controller", "segments", "1", counts.segments);
        count(tile + ".dispatcher", "dispatches", "1", counts.dispatches);
        count(tile + ".dispatcher", "blocks_issued", "1", counts.blocks_issued);
        count(tile + ".dispatcher", "blocks_skipped", "1", counts.blocks_skipped);
        count(tile + ".dispatcher", "search_cycles", "cycles", counts.search_cycles);
        count(tile + ".pe_array", "commands", "1", counts.pe_array.commands);
        count(tile + ".pe_array", "macs", "1", counts.pe_array.macs);
        count(tile + ".pe_array", "vector_elements", "1", counts.pe_array.vector_elements);
        count(tile + ".pe_array", "busy_cycles", "cycles", counts.pe_array.busy_cycles);
        count(tile + ".scratchpad", "read_bytes", "bytes", counts.scratchpad.read_bytes);
        count(tile + ".scratchpad", "write_bytes", "bytes", counts.scratchpad.write_bytes);
        count(tile + ".scratchpad", "busy_cycles", "cycles", counts.scratchpad.busy_cycles);
    }
}

void StageCounters::count(const std::string& module, const char* name, const char* unit, const std::uint64_t& value) {
    registry_.add(module, name, unit, [this, &value] {
        refresh_();
        return static_cast<double>(value);
    });
}

void StageCounters::add(const Traffic& traffic, std::uint64_t times) {
    network_.packets += traffic.packets * times;
    network_.payload_bytes += traffic.payload_bytes * times;
    network_.addressed_packets += traffic.addressed_packets * times;
    network_.addressed_bytes += traffic.addressed_bytes * times;
    network_.ejected_packets += traffic.ejected_packets * times;
    network_.ejected_bytes += traffic.ejected_bytes * times;
    network_.link_packets += traffic.link_packets * times;
    network_.link_bytes += traffic.link_bytes * times;
    for (const Traffic::LinkUse& use : traffic.links) link_cycles_[use.link] += use.cycles * times;
    for (const Traffic::MemoryUse& use : traffic.memory) {
        Memory& memory = memories_[use.interface];
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
    for (std::size_t rank = 0; rank < placement.tiles.size(); ++rank) {
        const KernelUse& use = work.kinds[work.kind_of_rank[rank]];
        Tile& tile = tiles_[placement.tiles[rank]];
        tile.units += times;
        tile.empty_units += work.kernel < 0 ? times : 0;
        tile.kernel_cycles += use.cycles * times;
        tile.dispatches += times;
        tile.blocks_issued += use.blocks_issued * times;
        tile.blocks_skipped += use.blocks_skipped * times;
        tile.search_cycles += use.search_cycles * times;
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

void StageCounters::add_samples(std::uint16_t switch_id, std::uint16_t branch, std::uint64_t samples) {
    const auto [entry, added] = branch_samples_.try_emplace({switch_id, branch}, 0);
    entry->second += samples;
    if (added)
        count(chip_ + ".stages.network_interface",
              fmt::format("switch_{}_branch_{}_samples", switch_id, branch).c_str(), "1", entry->second);
}

}  // namespace switchyard::platform
