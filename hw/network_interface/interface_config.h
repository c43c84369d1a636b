// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/tlm/packet_format.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

struct NetworkInterfaceConfig {
    std::string impl = "packets";            ///< of switch, merge and packetiser: RoutingBlocks
    unsigned setup_cycles = 8;               ///< address and range generation before the first packet of a transfer
    unsigned max_packet_bytes = 65536;       ///< payload of one packet
    std::string memory_reads = "multicast";  ///< or "unicast": of what several tiles need of HBM
    double clock_ghz = 1.0;
    bool values = false;         ///< tensors have values, set by the composer
    PacketFormat packet_format;  ///< the network's, set by the composer
    bool multicast_reads() const { return memory_reads == "multicast"; }
};

/// Where a tile stands in the network's numbering.
struct NetworkInterfaceAddress {
    Endpoint tile = 0;
    std::vector<Endpoint> memory;  ///< interfaces
    Endpoint host = 0;
    std::uint64_t region_bytes = 1;  ///< HBM address / region_bytes = memory interface
};

struct NetworkInterfaceStats {
    std::uint64_t sent_bytes = 0;              ///< tensor bytes injected, each multicast once
    std::uint64_t delivered_copy_bytes = 0;    ///< the same times the number of destinations
    std::uint64_t received_bytes = 0;          ///< tensor and weight bytes that arrived, from tiles and from memory
    std::uint64_t memory_requested_bytes = 0;  ///< asked of HBM, times the tiles that get them
    std::uint64_t memory_written_bytes = 0;
    std::uint64_t probes = 0, acknowledges = 0, packets = 0;
    std::uint64_t samples_sent = 0;      ///< (edge, sample) pairs of on-chip edges that left here
    std::uint64_t samples_received = 0;  ///< the same, counted where they arrive (first channel slice, first row slice)
};

/// Those that reports have.
inline constexpr StatCounter<NetworkInterfaceStats> kNetworkInterfaceCounters[] = {
    {"sent_bytes", "bytes", &NetworkInterfaceStats::sent_bytes},
    {"delivered_copy_bytes", "bytes", &NetworkInterfaceStats::delivered_copy_bytes},
    {"received_bytes", "bytes", &NetworkInterfaceStats::received_bytes},
    {"memory_requested_bytes", "bytes", &NetworkInterfaceStats::memory_requested_bytes},
    {"memory_written_bytes", "bytes", &NetworkInterfaceStats::memory_written_bytes},
    {"probes", "1", &NetworkInterfaceStats::probes},
    {"acknowledges", "1", &NetworkInterfaceStats::acknowledges},
    {"packets", "1", &NetworkInterfaceStats::packets},
    {"samples_sent", "1", &NetworkInterfaceStats::samples_sent},
    {"samples_received", "1", &NetworkInterfaceStats::samples_received}};
/// Name of a counter of samples that took a branch; each is registered with the first one.
inline std::string branch_samples(std::uint16_t switch_id, unsigned branch) {
    return "switch_" + std::to_string(switch_id) + "_branch_" + std::to_string(branch) + "_samples";
}

/// The switch, merge and packetiser of `impl`; the last two are RTL.
inline const std::vector<std::string> kNetworkInterfaceImplementations{"packets", "rtl", "lockstep"};

template <class Visitor>
void describe(Visitor& visitor, NetworkInterfaceConfig& config) {
    visitor.choice("impl", config.impl, kNetworkInterfaceImplementations,
                   "switch, merge and packetiser: model, Verilated RTL, or both side by side (the last two need "
                   "chip.impl: tiles)");
    visitor.field("setup_cycles", config.setup_cycles, 0, 1000,
                  "cycles for range and address generation before the first packet of a transfer");
    visitor.field("max_packet_bytes", config.max_packet_bytes, 64, 1048576, "largest payload of one packet");
    visitor.choice("memory_reads", config.memory_reads, {"multicast", "unicast"},
                   "tiles that need the same tensor or weights of HBM read them together, answered by one multicast "
                   "packet, or each for itself");
}

}  // namespace switchyard::hw
