// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// A row of routers whose links are bound socket to socket, two endpoints at each.
struct Row {
    SimulationRegistry registry;
    std::vector<unsigned> router_of_endpoint;
    std::vector<std::unique_ptr<hw::Router>> routers;
    Ends ends;

    explicit Row(const hw::NocConfig& config) : router_of_endpoint(two_each(config.columns)), ends("row", 8) {
        for (unsigned r = 0; r < config.columns; ++r)
            routers.push_back(std::make_unique<hw::Router>(("router_" + std::to_string(r)).c_str(), config, registry,
                                                           hw::make_topology(config), r, router_of_endpoint));
        for (unsigned r = 0; r + 1 < config.columns; ++r) {
            routers[r]->out[hw::port::kEast].bind(routers[r + 1]->in[hw::port::kWest]);
            routers[r + 1]->out[hw::port::kWest].bind(routers[r]->in[hw::port::kEast]);
        }
        for (Endpoint e = 0; e < 8; ++e) {
            hw::Router& router = *routers[router_of_endpoint[e]];
            ends.out[e].bind(router.in[router.local_port(e)]);
            router.out[router.local_port(e)].bind(ends.in[e]);
        }
    }
    static std::vector<unsigned> two_each(unsigned routers) {
        std::vector<unsigned> of_endpoint;
        for (unsigned e = 0; e < 2 * routers; ++e) of_endpoint.push_back(e / 2);
        return of_endpoint;
    }
};

}  // namespace

SIM_TEST("links that are bound socket to socket carry the same packets at the same times", "[noc]") {
    const hw::NocConfig config = noc(4, 1, "mesh");
    Row row(config);
    NetworkBench network(config, row.router_of_endpoint);
    const auto traffic = [](Ends& ends) {
        std::vector<Endpoint> everybody{7, 0, 5, 3, 2, 6, 1, 4};
        for (std::uint32_t i = 0; i < 40; ++i) {
            const auto source = static_cast<Endpoint>(i * 5 % 8);
            ends.send(source, {static_cast<Endpoint>(i * 3 % 8)}, i * 100, i);
            ends.wait_cycles(1000);
            PooledPayload packet = ends.packet(source, everybody, i * 50, i);
            ends.send(packet, i % 3);
            CHECK(packet.packet().destinations == everybody);
            ends.wait_cycles(1000);  // what waits behind such a link does not hold up what is before it
        }
    };
    network.ends.script = [&] { traffic(network.ends); };
    row.ends.script = [&] { traffic(row.ends); };
    sc_core::sc_start();
    REQUIRE(row.ends.arrivals.size() == 40 * 9);
    CHECK(row.ends.arrivals == network.ends.arrivals);
    for (const Arrival& arrival : row.ends.arrivals) CHECK(arrival.destinations == std::vector<Endpoint>{arrival.at});
}
