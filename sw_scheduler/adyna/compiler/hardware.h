// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/array_timing.h"

namespace switchyard::sched {

/// What the scheduler must know of a chip; platform/ fills it from the platform YAML. Cycles are those of the chip
/// clock. Endpoints of the network: tiles 0 .. T-1 (y * columns + x), then memory interfaces T .. T+M-1.
struct HardwareDescription {
    struct MemoryInterface {
        std::uint16_t router = 0;  ///< index of the tile at whose router it is attached
        double bytes_per_cycle = 64;
    };

    std::string name;  ///< for messages and ImageMeta::platform; not part of the fingerprint
    unsigned columns = 1, rows = 1;
    unsigned pe_rows = 8, pe_columns = 8;
    double clock_ghz = 1.0;
    unsigned pe_register_bytes = 64;
    std::uint32_t scratchpad_bytes = 128 * 1024;
    unsigned scratchpad_bytes_per_cycle = 128;       ///< PE array's reads
    unsigned scratchpad_write_bytes_per_cycle = 64;  ///< PE array's writes
    double kernel_share = 0.05;                      ///< of the scratchpad, from offset 0: the kernel store
    double link_bytes_per_cycle = 192;
    double hop_cycles = 2;                                ///< router + link, head of a packet
    unsigned header_bytes = 8;                            ///< of every packet
    std::uint64_t region_bytes = std::uint64_t{1} << 30;  ///< address / region_bytes = memory interface
    double memory_latency_cycles = 100;
    double setup_cycles = 8;  ///< of a network interface, before the first packet of a transfer
    /// Tiles that need the same tensor or weights of HBM read them together; otherwise each reads for itself.
    bool multicast_reads = true;
    bool wide_partial_sums = false;  ///< sums of channel groups and of slices are handed on as binary32
    std::vector<MemoryInterface> memory;

    unsigned tiles() const { return columns * rows; }
    unsigned pes() const { return pe_rows * pe_columns; }
    ArrayPorts ports() const { return {scratchpad_bytes_per_cycle, scratchpad_write_bytes_per_cycle}; }
    double memory_bytes_per_cycle() const;
    /// Cycles of a packet's head over the torus' average distance.
    double average_travel_cycles() const { return (columns / 4.0 + rows / 4.0) * hop_cycles; }
    /// Bytes at the scratchpad's beginning that only kernels may use, a whole number of kernels.
    std::uint32_t kernel_region_bytes() const;
    unsigned kernel_store_size() const;  ///< kernels a tile, over all its operators and segments
    /// What is left for weights and micro-batch slots, in whole lines of 64 bytes.
    std::uint32_t data_bytes() const { return (scratchpad_bytes - kernel_region_bytes()) / 64 * 64; }

    /// Hops between two routers of the torus, X-Y, the shorter way round in each dimension.
    unsigned hops(unsigned tile_a, unsigned tile_b) const;
    /// Index of the memory interface with the fewest hops; the lowest index of several.
    unsigned closest_memory(unsigned tile) const;
    std::uint16_t memory_endpoint(unsigned interface) const { return static_cast<std::uint16_t>(tiles() + interface); }

    /// Throws InputError if a field is zero or out of range (no memory, a router beyond the tiles, ...).
    void check() const;
    /// FNV-1a over what an image is only right for: numbers of tiles, PEs and memory interfaces, sizes, address map.
    /// Rates and latencies are left out: an image runs on a chip with quicker links too. The same on every machine.
    std::uint64_t fingerprint() const;
};

}  // namespace switchyard::sched
