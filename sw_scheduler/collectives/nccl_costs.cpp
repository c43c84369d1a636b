// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "switchyard/sw_scheduler/collectives/collectives.h"

namespace switchyard::sched {
namespace {

/// NVIDIA/nccl src/graph/tuning.cc @01afd20a, in microseconds: baseLat and hwLat of NVLink and PCI, by protocol (LL,
/// LL128, Simple). Its bandwidth of a protocol, of Simple's: LL 1/4 for all-reduce on one node, 1/3 for all-gather;
/// LL128 0.92.
struct Constants {
    double base[3], nvlink[3], pci[3], factor[3];
};
constexpr Constants kAllReduceRing{{3.6, 10.0, 8.4}, {0.47, 1.9, 3.4}, {1.0, 2.5, 5.7}, {4, 1 / 0.92, 1}};
constexpr Constants kAllReduceTree{{4.4, 4.4, 0}, {0.52, 1.2, 28}, {1.0, 1.9, 28}, {4, 1 / 0.92, 1}};
constexpr Constants kAllGather{{3.6, 10.0, 8.4}, {0.47, 1.9, 3.4}, {1.0, 2.5, 5.7}, {3, 1 / 0.92, 1}};

}  // namespace

CollectiveCosts nccl_costs(NcclCollective collective, NcclProtocol protocol) {
    const Constants& constants = collective == NcclCollective::all_reduce_ring   ? kAllReduceRing
                                 : collective == NcclCollective::all_reduce_tree ? kAllReduceTree
                                                                                 : kAllGather;
    const auto i = static_cast<std::size_t>(protocol);
    return {1e3 * constants.base[i], 1e3 * constants.nvlink[i], 1e3 * constants.pci[i], constants.factor[i]};
}

NcclProtocol nccl_protocol(NcclCollective collective, const LinkTopology& topology, std::uint64_t bytes, bool ll128) {
    const Rings rings = find_rings(topology);
    const unsigned n = topology.devices();
    double gb_per_s = std::numeric_limits<double>::infinity();  // of all rings
    bool pcie = false;
    std::vector<unsigned> uses(topology.channels());
    for (const auto& order : rings.orders)
        for (unsigned i = 0; i < n; ++i)
            for (const unsigned channel : topology.route(order[i], order[(i + 1) % n])) ++uses[channel];
    for (unsigned channel = 0; channel < topology.channels(); ++channel) {
        if (uses[channel] == 0) continue;
        const double ring = topology.payload_gb_per_s(channel, LinkRate::kernel) / uses[channel];
        gb_per_s = std::min(gb_per_s, ring * static_cast<double>(rings.orders.size()));
        pcie = pcie || topology.links()[channel / 2].kind.pcie;
    }
    const bool gathers = collective == NcclCollective::all_gather;
    const double steps = gathers ? n - 1 : 2.0 * (n - 1);
    NcclProtocol best = NcclProtocol::simple;
    double shortest = std::numeric_limits<double>::infinity();
    for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple}) {
        if (protocol == NcclProtocol::ll128 && (!ll128 || pcie)) continue;
        const CollectiveCosts costs = nccl_costs(collective, protocol);
        // All-gather: `bytes` of each device pass each link n - 1 times, all-reduce an n-th of them 2 (n - 1) times.
        const double on_link = steps * static_cast<double>(bytes) / (gathers ? 1 : n);
        const double ns = costs.base_ns + steps * (pcie ? costs.pcie_step_ns : costs.step_ns) +
                          costs.wire_factor * on_link / gb_per_s;
        if (ns < shortest) {
            shortest = ns;
            best = protocol;
        }
    }
    return best;
}

}  // namespace switchyard::sched
