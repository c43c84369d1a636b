// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/collectives/builder.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::sched {
namespace {

constexpr std::uint64_t kElement = 4;  ///< bytes of a binary32

void check_elements(std::uint64_t bytes) {
    if (bytes == 0 || bytes % kElement != 0)
        throw std::invalid_argument(fmt::format("all-reduce: expected a multiple of 4 bytes, found {}", bytes));
}

}  // namespace

CollectiveProgram all_gather(const LinkTopology& topology, std::uint64_t bytes, const CollectiveCosts& costs) {
    if (bytes == 0) throw std::invalid_argument("all-gather: expected a byte or more, found 0");
    const unsigned n = topology.devices();
    const Rings rings = find_rings(topology);
    const std::size_t parts = rings.orders.size();
    ProgramBuilder builder(topology, "all_gather", costs, n * bytes);
    for (std::size_t ring = 0; ring < parts; ++ring) {
        const std::vector<unsigned>& order = rings.orders[ring];
        const std::uint64_t begin = bytes * ring / parts, end = bytes * (ring + 1) / parts;
        if (begin == end) continue;
        // What each position has sent last: the part that came to it, sent on.
        for (unsigned owner = 0; owner < n; ++owner) {
            std::vector<std::uint32_t> after;
            for (unsigned step = 0; step + 1 < n; ++step) {
                const unsigned from = order[(owner + step) % n], to = order[(owner + step + 1) % n];
                const std::uint64_t place = order[owner] * bytes + begin;
                const std::uint32_t number = builder.copy(from, to, place, place, end - begin, std::move(after));
                after.assign(1, number);
            }
        }
    }
    return builder.take();
}

CollectiveProgram ring_all_reduce(const LinkTopology& topology, std::uint64_t bytes, const CollectiveCosts& costs) {
    check_elements(bytes);
    const unsigned n = topology.devices();
    const Rings rings = find_rings(topology);
    const std::size_t parts = rings.orders.size() * n;
    const std::uint64_t elements = bytes / kElement;
    ProgramBuilder builder(topology, "ring_all_reduce", costs, 2 * bytes);
    for (std::size_t ring = 0; ring < rings.orders.size(); ++ring) {
        const std::vector<unsigned>& order = rings.orders[ring];
        for (unsigned part = 0; part < n; ++part) {
            const std::uint64_t begin = elements * (ring * n + part) / parts * kElement,
                                end = elements * (ring * n + part + 1) / parts * kElement;
            if (begin == end) continue;
            std::vector<std::uint32_t> after;
            // Once around with sums, and once more with the result.
            for (unsigned step = 0; step < 2 * (n - 1); ++step) {
                const unsigned from = order[(part + step) % n], to = order[(part + step + 1) % n];
                const std::uint32_t number =
                    step < n - 1 ? builder.add(from, to, begin, bytes + begin, end - begin, std::move(after))
                                 : builder.copy(from, to, begin, begin, end - begin, std::move(after));
                after.assign(1, number);
            }
        }
    }
    return builder.take();
}

CollectiveProgram tree_all_reduce(const LinkTopology& topology, std::uint64_t bytes, std::uint64_t slice_bytes,
                                  const CollectiveCosts& costs) {
    check_elements(bytes);
    slice_bytes = slice_bytes / kElement * kElement;
    if (slice_bytes == 0)
        throw std::invalid_argument("all-reduce: expected slices of at least 4 bytes, found smaller ones");
    const unsigned n = topology.devices();
    ProgramBuilder builder(topology, "tree_all_reduce", costs, 3 * bytes);
    const std::uint64_t half = bytes / kElement / 2 * kElement;
    for (unsigned tree = 0; tree < 2; ++tree) {
        // The second tree mirrors the first one, so that a leaf of one is an inner node of the other.
        const auto device = [&](unsigned node) { return tree == 0 ? node : n - 1 - node; };
        const std::uint64_t first = tree == 0 ? 0 : half, last = tree == 0 ? half : bytes;
        for (std::uint64_t begin = first; begin < last; begin += slice_bytes) {
            const std::uint64_t size = std::min(slice_bytes, last - begin);
            std::vector<std::vector<std::uint32_t>> arrived(n);
            for (unsigned node = n - 1; node > 0; --node) {
                const unsigned parent = (node - 1) / 2, child = (node - 1) % 2;
                arrived[parent].push_back(
                    builder.add(device(node), device(parent), begin, (1 + child) * bytes + begin, size, arrived[node]));
            }
            for (unsigned node = 1; node < n; ++node) {
                const unsigned parent = (node - 1) / 2;
                const std::uint32_t number =
                    builder.copy(device(parent), device(node), begin, begin, size, arrived[parent]);
                arrived[node].assign(1, number);
            }
        }
    }
    return builder.take();
}

}  // namespace switchyard::sched
