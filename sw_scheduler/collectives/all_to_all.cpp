// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/collectives/builder.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::sched {
namespace {

void check_square(const LinkTopology& topology, const CellCounts& cells, std::uint64_t cell_bytes) {
    const std::size_t devices = topology.devices();
    if (cells.size() != devices)
        throw std::invalid_argument(fmt::format("cells: expected {} rows, found {}", devices, cells.size()));
    for (const auto& row : cells)
        if (row.size() != devices)
            throw std::invalid_argument(
                fmt::format("cells: expected rows of {} counts, found {}", devices, row.size()));
    if (cell_bytes == 0) throw std::invalid_argument("expected cells of a byte or more, found 0");
}

}  // namespace

CollectiveProgram padded_all_to_all(const LinkTopology& topology, const CellCounts& cells, std::uint64_t cell_bytes,
                                    std::uint64_t capacity, const CollectiveCosts& costs) {
    check_square(topology, cells, cell_bytes);
    std::uint64_t largest = 0;
    for (const auto& row : cells)
        for (const std::uint64_t count : row) largest = std::max(largest, count);
    if (capacity == 0) capacity = largest;
    if (largest > capacity)
        throw std::invalid_argument(
            fmt::format("expected at most the capacity of {} cells, found {}", capacity, largest));
    const unsigned n = topology.devices();
    const std::uint64_t part = capacity * cell_bytes;
    ProgramBuilder builder(topology, "padded_all_to_all", costs, 2 * n * part);
    // Round by round, so that no two devices begin with the same destination.
    for (unsigned round = 0; round < n && part > 0; ++round)
        for (unsigned from = 0; from < n; ++from) {
            const unsigned to = (from + round) % n;
            builder.copy(from, to, to * part, n * part + from * part, part);
        }
    return builder.take();
}

SparseLayout sparse_layout(const CellCounts& cells, std::uint64_t cell_bytes) {
    const std::size_t n = cells.size();
    SparseLayout layout;
    layout.sizes_received = 8 * n;
    layout.send.assign(n, std::vector<std::uint64_t>(n));
    layout.receive = layout.send;
    std::uint64_t sent_end = 0;
    for (std::size_t from = 0; from < n; ++from) {
        std::uint64_t at = 16 * n;
        for (std::size_t to = 0; to < n; ++to) {
            layout.send[from][to] = at;
            at += cells[from][to] * cell_bytes;
        }
        sent_end = std::max(sent_end, at);
    }
    layout.buffer_bytes = sent_end;
    for (std::size_t to = 0; to < n; ++to) {
        std::uint64_t at = sent_end;
        for (std::size_t from = 0; from < n; ++from) {
            layout.receive[from][to] = at;
            at += cells[from][to] * cell_bytes;
        }
        layout.buffer_bytes = std::max(layout.buffer_bytes, at);
    }
    return layout;
}

CollectiveProgram sparse_all_to_all(const LinkTopology& topology, const CellCounts& cells, std::uint64_t cell_bytes,
                                    const CollectiveCosts& costs) {
    check_square(topology, cells, cell_bytes);
    const unsigned n = topology.devices();
    const SparseLayout layout = sparse_layout(cells, cell_bytes);
    ProgramBuilder builder(topology, "sparse_all_to_all", costs, layout.buffer_bytes);
    std::vector<std::vector<std::uint32_t>> sizes(n);
    for (unsigned round = 1; round < n; ++round)
        for (unsigned from = 0; from < n; ++from) {
            const unsigned to = (from + round) % n;
            sizes[to].push_back(
                builder.copy(from, to, layout.sizes_sent + 8 * to, layout.sizes_received + 8 * from, 8));
        }
    for (unsigned round = 0; round < n; ++round)
        for (unsigned from = 0; from < n; ++from) {
            const unsigned to = (from + round) % n;
            if (cells[from][to] == 0) continue;
            builder.copy(from, to, layout.send[from][to], layout.receive[from][to], cells[from][to] * cell_bytes,
                         sizes[to]);
        }
    return builder.take();
}

CollectiveProgram gather(const LinkTopology& topology, unsigned root, std::uint64_t bytes,
                         const CollectiveCosts& costs) {
    if (root >= topology.devices() || bytes == 0)
        throw std::invalid_argument(fmt::format("gather: expected a root below {} and a byte or more, found {} and {}",
                                                topology.devices(), root, bytes));
    ProgramBuilder builder(topology, "gather", costs, topology.devices() * bytes);
    for (unsigned from = 0; from < topology.devices(); ++from)
        if (from != root) builder.copy(from, root, 0, from * bytes, bytes);
    return builder.take();
}

CollectiveProgram scatter(const LinkTopology& topology, unsigned root, std::uint64_t bytes,
                          const CollectiveCosts& costs) {
    if (root >= topology.devices() || bytes == 0)
        throw std::invalid_argument(fmt::format("scatter: expected a root below {} and a byte or more, found {} and {}",
                                                topology.devices(), root, bytes));
    ProgramBuilder builder(topology, "scatter", costs, topology.devices() * bytes);
    for (unsigned to = 0; to < topology.devices(); ++to)
        if (to != root) builder.copy(root, to, to * bytes, 0, bytes);
    return builder.take();
}

}  // namespace switchyard::sched
