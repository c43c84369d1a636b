// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/router/traffic_bench.h"

#include <algorithm>
#include <numeric>

#include "switchyard/hw/noc/traffic.h"

namespace switchyard::testing {

using hw::flit::FlitNetwork;

std::vector<unsigned> an_endpoint_each(const hw::flit::Config& network) {
    std::vector<unsigned> homes(network.routers());
    std::iota(homes.begin(), homes.end(), 0u);
    return homes;
}

RouterRun run_routers(const RouterLoad& load, const std::function<RouterImpl(unsigned)>& impl, const MakeRouter& make) {
    FlitNetwork network(load.network, load.homes);
    for (unsigned r = 0; r < load.network.routers(); ++r) {
        const RouterImpl one = impl(r);
        if (one != RouterImpl::flit)
            network.exchange(r, make(load.network, r, network.ports()), one == RouterImpl::lockstep);
    }

    hw::SplitMix64 random(load.seed);
    RouterRun run;
    const auto endpoints = static_cast<unsigned>(load.homes.size());
    std::uint64_t packets = 0;
    const auto offer = [&](unsigned source) {
        const bool control = load.network.control_vcs > 0 && random.below(8) == 0;
        const auto traffic = control ? TrafficClass::control : TrafficClass::data;
        if (endpoints > 2 && random.below(100) < load.multicast_percent) {
            std::vector<std::uint16_t> all(endpoints);
            std::iota(all.begin(), all.end(), std::uint16_t{0});
            const unsigned count = 1 + random.below(endpoints - 1);
            for (unsigned i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(endpoints - i)]);
            network.multicast(source, all.data(), count, 1 + random.below(load.network.buffer_flits), packets++,
                              traffic);
            run.expected += count;
        } else {
            const unsigned flits = 1 + random.below(random.below(2) == 0 ? 2 : 2 * load.network.buffer_flits);
            network.send(source, random.below(endpoints), flits, packets++, traffic);
            ++run.expected;
        }
    };
    const auto threshold = static_cast<unsigned>(load.rate * 1024);
    try {
        for (std::uint64_t cycle = 0; cycle < load.cycles || !network.idle(); ++cycle) {
            network.begin_cycle();
            for (const FlitNetwork::Delivery& delivery : network.deliveries())
                run.arrivals.push_back({cycle, delivery.tag, delivery.endpoint});
            for (unsigned source = 0; cycle < load.cycles && source < endpoints; ++source)
                if (network.queued(source) < 2 && random.below(1024) < threshold) offer(source);
            network.end_cycle();
            if (cycle > 50 * load.cycles + 10'000) {
                run.difference = "the network does not run empty";
                break;
            }
        }
    } catch (const RtlFault& fault) {
        run.difference = fault.what();
    } catch (const hw::flit::NoProgress& stuck) {
        run.difference = stuck.what();
    }
    run.copies = network.stats().copies;
    run.flits = network.stats().ejected_flits;
    for (unsigned r = 0; r < load.network.routers(); ++r)
        for (unsigned p = 0; p < network.ports(); ++p) run.link_flits.push_back(network.link_flits(r, p));
    return run;
}

}  // namespace switchyard::testing
