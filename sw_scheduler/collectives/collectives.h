// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/collectives/link_topology.h"
#include "switchyard/sw_scheduler/collectives/program.h"

namespace switchyard::sched {

/// Cells by source and destination device: [from][to].
using CellCounts = std::vector<std::vector<std::uint64_t>>;
/// `cells` of each device, whose destinations are drawn from Zipf's law: the device of rank r, counted from 1, gets the
/// share r^-skew. The seed ranks the devices and draws. Skew 0: uniform. `own_ranks`: each source ranks them for
/// itself, so that no device is the first of all.
CellCounts skewed_cells(unsigned devices, std::uint64_t cells, double skew, std::uint64_t seed, bool own_ranks = false);

/// What software adds to the links' time.
struct CollectiveCosts {
    double base_ns = 0;       ///< once
    double step_ns = 0;       ///< of each transfer, its route's latency included, ...
    double pcie_step_ns = 0;  ///< ... and of one whose route has PCI Express in it
    double wire_factor = 1;   ///< bytes on links for a byte of data
};

enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
enum class NcclCollective : std::uint8_t { all_reduce_ring, all_reduce_tree, all_gather };
/// NCCL's own cost model: base and hop latencies and the bandwidth of its protocols (NVIDIA/nccl
/// src/graph/tuning.cc @01afd20a).
CollectiveCosts nccl_costs(NcclCollective collective, NcclProtocol protocol);
/// The protocol that NCCL's cost model finds fastest: base + steps * hop + factor * bytes_on_busiest / rate.
NcclProtocol nccl_protocol(NcclCollective collective, const LinkTopology& topology, std::uint64_t bytes, bool ll128);

/// Directed rings through all devices such that each takes one link (of the count) of a channel between neighbours;
/// as many as a search finds that stops at a bound of devices' links, or of steps. One ring in the order of the
/// devices, over routes, where links close no ring.
struct Rings {
    std::vector<std::vector<unsigned>> orders;  ///< of devices
    bool direct = false;                        ///< neighbours are joined by links
};
Rings find_rings(const LinkTopology& topology);

/// Each device sends `capacity` cells to each other one, what is missing being padding, as NCCL's all-to-all wants it.
/// Cells lie at (to * capacity + cell) * cell_bytes of the sender's buffer and come to receive_offset +
/// (from * capacity + cell) * cell_bytes of the receiver's, where receive_offset is devices * capacity * cell_bytes.
/// `capacity` 0: the largest count. Throws std::invalid_argument: a count above the capacity, no square matrix.
CollectiveProgram padded_all_to_all(const LinkTopology& topology, const CellCounts& cells, std::uint64_t cell_bytes,
                                    std::uint64_t capacity = 0, const CollectiveCosts& costs = {});

/// Where the sparse all-to-all has what.
struct SparseLayout {
    std::uint64_t sizes_sent = 0;                           ///< offset of 8 bytes for each destination
    std::uint64_t sizes_received = 0;                       ///< and for each source
    std::vector<std::vector<std::uint64_t>> send, receive;  ///< offsets, [from][to]
    std::uint64_t buffer_bytes = 0;
};
SparseLayout sparse_layout(const CellCounts& cells, std::uint64_t cell_bytes);
/// Brainstorm's all-to-all (OSDI 2023, section 6, Fig. 10): each device tells each other one how many cells come
/// (8 bytes, from sizes_sent to sizes_received), and sends only these when the receiver knows all sizes.
CollectiveProgram sparse_all_to_all(const LinkTopology& topology, const CellCounts& cells, std::uint64_t cell_bytes,
                                    const CollectiveCosts& costs = {});

/// `bytes` of each device come to device * bytes of the root's buffer; those of a device lie at 0 of its own (the
/// root's own stay where they are, at root * bytes).
CollectiveProgram gather(const LinkTopology& topology, unsigned root, std::uint64_t bytes,
                         const CollectiveCosts& costs = {});
/// device * bytes of the root's buffer come to 0 of each other device.
CollectiveProgram scatter(const LinkTopology& topology, unsigned root, std::uint64_t bytes,
                          const CollectiveCosts& costs = {});

/// The part of each device, device * bytes of its buffer, comes to the same place of all others. Rings.
CollectiveProgram all_gather(const LinkTopology& topology, std::uint64_t bytes, const CollectiveCosts& costs = {});
/// The sum of all devices' [0, bytes), binary32, comes to each of them. `bytes`: a multiple of 4. Staging lies behind.
/// Rings: reduce-scatter, then all-gather.
CollectiveProgram ring_all_reduce(const LinkTopology& topology, std::uint64_t bytes, const CollectiveCosts& costs = {});
/// The same over two binary trees, each for half of the bytes, in slices that follow each other (P. Sanders, J. Speck,
/// J. L. Traff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009).
CollectiveProgram tree_all_reduce(const LinkTopology& topology, std::uint64_t bytes,
                                  std::uint64_t slice_bytes = 1 << 20, const CollectiveCosts& costs = {});

}  // namespace switchyard::sched
