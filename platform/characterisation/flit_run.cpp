// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <stdexcept>
#include <string>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/noc_config.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/platform/characterisation/noc_run.h"
#if defined(SWITCHYARD_RTL)
#include "switchyard/rtl/router/make_router.h"
#endif

namespace switchyard::platform {

using hw::flit::FlitNetwork;

namespace {

void exchange_routers(const NocRun& run, FlitNetwork& network) {
    if (run.impl == "flit") return;
#if defined(SWITCHYARD_RTL)
    const bool lockstep = run.impl == "lockstep";
    for (unsigned r = 0; r < run.network.routers(); ++r) {
        const std::string waveform = "noc.router_" + std::to_string(r) + "." + run.impl + ".fst";
        network.exchange(r, rtl::make_router(run.network, r, network.ports(), waveform), lockstep);
    }
#else
    static_cast<void>(network);
    throw std::invalid_argument("--impl: expected flit or packet in a build without SWITCHYARD_RTL, found " + run.impl);
#endif
}

}  // namespace

NocMeasurement run_flit_network(const NocRun& run) {
    check(run);
    std::vector<unsigned> routers(run.network.routers());
    std::iota(routers.begin(), routers.end(), 0u);
    FlitNetwork network(run.network, routers);
    exchange_routers(run, network);
    hw::SyntheticTraffic traffic(run.traffic, run.network.columns, run.network.rows, run.rate, run.packet_flits,
                                 run.seed);
    constexpr unsigned kPorts = hw::port::kLocal + 1;
    NocMeasurement measured;
    measured.link_flits.resize(std::size_t{run.network.routers()} * kPorts);
    const auto add_link_flits = [&](bool begin) {
        for (unsigned r = 0; r < run.network.routers(); ++r)
            for (unsigned p = 0; p < kPorts; ++p) {
                double& flits = measured.link_flits[r * kPorts + p];
                flits = static_cast<double>(network.link_flits(r, p)) - (begin ? 0 : flits);
            }
    };
    const std::uint64_t begin = run.warmup_cycles, end = begin + run.cycles, last = end + drain_cycles(run);
    // A model counts a flit when it is granted the switch, RTL when its pins show it.
    const std::uint64_t counted_later = run.impl == "rtl" ? run.network.switch_cycles + 1 : 0;
    std::uint64_t missing = 0;
    for (std::uint64_t cycle = 0; cycle < last || cycle <= end + counted_later; ++cycle) {
        if (cycle == begin + counted_later) add_link_flits(true);
        if (cycle == end + counted_later) add_link_flits(false);
        if (cycle >= end + counted_later && missing == 0) break;
        network.begin_cycle();
        const bool counts = cycle >= begin && cycle < end;
        for (const FlitNetwork::Delivery& delivery : network.deliveries()) {
            // A packet's tag is the cycle in which it was generated.
            if (counts) measured.accepted_flits += run.packet_flits;
            if (delivery.tag < begin || delivery.tag >= end || cycle >= last) continue;
            measured.add_latency(cycle - delivery.tag);
            --missing;
        }
        traffic.cycle([&](unsigned source, unsigned destination) {
            if (counts) {
                ++measured.generated;
                ++missing;
                measured.offered_flits += run.packet_flits;
            }
            network.send(source, destination, run.packet_flits, cycle);
        });
        network.end_cycle();
    }
    measured.simulated_cycles = network.cycle();
    return measured;
}

}  // namespace switchyard::platform
