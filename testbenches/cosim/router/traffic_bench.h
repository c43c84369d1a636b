// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/hw/noc/flit/flit_network.h"

namespace switchyard::testing {

/// The external router for number `router` of a network of `ports` ports.
using MakeRouter = std::function<std::unique_ptr<hw::flit::ExternalRouter>(const hw::flit::Config& network,
                                                                           unsigned router, unsigned ports)>;

/// How a router is simulated.
enum class RouterImpl : std::uint8_t { flit, rtl, lockstep };

/// A network under random traffic: packets of 1 to 2 * buffer_flits flits, multicast and control packets among them.
struct RouterLoad {
    hw::flit::Config network;
    std::vector<unsigned> homes;  ///< router of each endpoint
    double rate = 1;              ///< of a source with less than two packets waiting, to get one in a cycle
    unsigned multicast_percent = 15;
    std::uint64_t cycles = 1000;  ///< in which packets are offered; then the network runs empty
    std::uint64_t seed = 1;
};

/// What came of it.
struct RouterRun {
    struct Arrival {
        std::uint64_t cycle, packet;
        std::uint16_t endpoint;
        bool operator==(const Arrival& o) const {
            return cycle == o.cycle && packet == o.packet && endpoint == o.endpoint;
        }
    };
    std::vector<Arrival> arrivals;
    std::uint64_t expected = 0;  ///< arrivals
    std::uint64_t copies = 0, flits = 0;
    std::vector<std::uint64_t> link_flits;  ///< by router and port
    std::string difference;                 ///< that lockstep, or the watchdog, has found
};

/// Runs `load` with router r simulated as impl(r) says.
RouterRun run_routers(const RouterLoad& load, const std::function<RouterImpl(unsigned router)>& impl,
                      const MakeRouter& make);

/// One endpoint at each router.
std::vector<unsigned> an_endpoint_each(const hw::flit::Config& network);

}  // namespace switchyard::testing
