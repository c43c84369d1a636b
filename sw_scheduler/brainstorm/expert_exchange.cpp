// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/expert_exchange.h"

#include <algorithm>
#include <bitset>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/brainstorm/router_placement.h"
#include "switchyard/sw_scheduler/collectives/builder.h"

namespace switchyard::sched::brainstorm {

std::vector<DeviceRoutes> deal_batches(const std::vector<BatchRouting>& batches, std::size_t devices) {
    std::vector<DeviceRoutes> dealt;
    for (std::size_t first = 0; first + devices <= batches.size(); first += devices) {
        const auto begin = batches.begin() + static_cast<std::ptrdiff_t>(first);
        dealt.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(devices));
    }
    return dealt;
}

std::vector<std::size_t> experts_of(const BatchRouting& routes, std::size_t router) {
    std::vector<std::size_t> experts;
    for (const std::uint64_t mask : routes.masks.at(router))
        for (std::size_t expert = 0; expert < 64; ++expert)
            if ((mask >> expert & 1) != 0) experts.push_back(expert);
    return experts;
}

std::size_t max_experts(const std::vector<DeviceRoutes>& batches, std::size_t router) {
    std::size_t most = 0;
    for (const DeviceRoutes& batch : batches)
        for (const BatchRouting& own : batch)
            for (const std::uint64_t mask : own.masks.at(router)) most = std::max(most, std::bitset<64>(mask).count());
    return most;
}

std::vector<std::vector<std::uint64_t>> cells_by_expert(const std::vector<DeviceRoutes>& batches, std::size_t experts,
                                                        std::size_t router) {
    std::vector<std::vector<std::uint64_t>> cells;
    for (const DeviceRoutes& batch : batches) {
        cells.resize(batch.size(), std::vector<std::uint64_t>(experts));
        for (std::size_t d = 0; d < batch.size(); ++d)
            for (const std::size_t expert : experts_of(batch[d], router)) ++cells[d].at(expert);
    }
    return cells;
}

CellCounts cells_between(const DeviceRoutes& batch, const Placement& placement, std::size_t router) {
    CellCounts counts(batch.size(), std::vector<std::uint64_t>(batch.size()));
    for (std::size_t from = 0; from < batch.size(); ++from)
        for (const std::size_t expert : experts_of(batch[from], router)) ++counts[from].at(placement.at(expert));
    return counts;
}

std::uint64_t padded_pair_cells(const DeviceRoutes& batch, std::size_t experts, std::size_t router) {
    std::uint64_t most = 1;
    for (const auto& row : cells_by_expert({batch}, experts, router))
        most = std::max(most, *std::max_element(row.begin(), row.end()));
    return most * branches_of_a_device(experts, batch.size());
}

std::uint64_t arriving_cells(const CellCounts& counts, std::size_t device) {
    std::uint64_t cells = 0;
    for (const auto& row : counts) cells += row.at(device);
    return cells;
}

std::vector<std::size_t> experts_on(const Placement& placement, std::size_t device) {
    std::vector<std::size_t> experts;
    for (std::size_t e = 0; e < placement.size(); ++e)
        if (placement[e] == device) experts.push_back(e);
    return experts;
}

BatchRouting routes_on_device(const DeviceRoutes& batch, const Placement& placement, std::size_t device,
                              std::uint32_t capacity, std::size_t router) {
    const std::vector<std::size_t> local = experts_on(placement, device);
    BatchRouting routes{capacity, {{}}};
    std::vector<std::uint64_t>& masks = routes.masks.front();
    for (const BatchRouting& own : batch)
        for (const std::size_t expert : experts_of(own, router)) {
            if (placement.at(expert) != device) continue;
            const auto branch = std::lower_bound(local.begin(), local.end(), expert) - local.begin();
            masks.push_back(std::uint64_t{1} << branch);
        }
    if (masks.size() > capacity)
        throw std::invalid_argument(fmt::format("device {}: expected at most the capacity of {} cells, found {}",
                                                device, capacity, masks.size()));
    masks.resize(capacity, std::uint64_t{1} << local.size());
    return routes;
}

CollectiveProgram known_all_to_all(const LinkTopology& topology, const CellCounts& counts, std::uint64_t bytes,
                                   const CollectiveCosts& costs) {
    const SparseLayout layout = sparse_layout(counts, bytes);
    ProgramBuilder builder(topology, "known_all_to_all", costs, layout.buffer_bytes);
    const auto n = static_cast<unsigned>(counts.size());
    // Round by round, so that no two devices begin with the same destination.
    for (unsigned round = 1; round < n; ++round)
        for (unsigned from = 0; from < n; ++from) {
            const unsigned to = (from + round) % n;
            if (counts[from][to] > 0)
                builder.copy(from, to, layout.send[from][to], layout.receive[from][to], counts[from][to] * bytes);
        }
    return builder.take();
}

void delay_senders(CollectiveProgram& program, const std::vector<double>& ready_ns) {
    for (Transfer& transfer : program.transfers)
        if (transfer.after.empty()) transfer.step_ns += ready_ns.at(transfer.from);
}

CellCounts transposed(const CellCounts& counts) {
    CellCounts result(counts.size(), std::vector<std::uint64_t>(counts.size()));
    for (std::size_t from = 0; from < counts.size(); ++from)
        for (std::size_t to = 0; to < counts.size(); ++to) result[to][from] = counts[from][to];
    return result;
}

}  // namespace switchyard::sched::brainstorm
