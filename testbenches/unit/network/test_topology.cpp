// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "switchyard/hw/noc/endpoint_map.h"
#include "switchyard/hw/noc/flit/route.h"
#include "switchyard/hw/noc/grid.h"
#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/hw/noc/wormhole_network.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::hw;
using switchyard::testing::noc;

namespace {

/// Fewest links from `from` to every router, by breadth-first search.
std::vector<unsigned> distances(const Topology& topology, unsigned from) {
    const unsigned count = topology.routers();
    std::vector<unsigned> distance(count, count);
    std::deque<unsigned> open{from};
    distance[from] = 0;
    while (!open.empty()) {
        const unsigned router = open.front();
        open.pop_front();
        for (unsigned p = 0; p < topology.router_ports(); ++p) {
            const auto far = topology.behind(router, p);
            if (!far || distance[far->router] != count) continue;
            distance[far->router] = distance[router] + 1;
            open.push_back(far->router);
        }
    }
    return distance;
}

constexpr flit::TieChoice kDirections[] = {{port::kEast, port::kSouth}, {port::kWest, port::kNorth}};

}  // namespace

TEST_CASE("X-Y routing takes a shortest path, all of X first", "[topology]") {
    const auto config = GENERATE(noc(1, 1), noc(2, 2), noc(3, 5), noc(4, 4), noc(1, 7), noc(12, 12), noc(4, 3, "mesh"),
                                 noc(12, 12, "mesh"), noc(6, 1, "mesh"));
    const TopologyPtr topology = make_topology(config);
    const flit::RouteTable& routes = topology->grid()->routes();
    for (unsigned from = 0; from < topology->routers(); ++from) {
        const std::vector<unsigned> distance = distances(*topology, from);
        for (unsigned to = 0; to < distance.size(); ++to) {
            for (unsigned choice = 0; choice < topology->choices(); ++choice) {
                unsigned router = from, steps = 0;
                for (; router != to; ++steps) {
                    REQUIRE(steps < distance.size());
                    const unsigned port = topology->port_to(router, to, choice);
                    const bool along_x = port == port::kEast || port == port::kWest;
                    REQUIRE(along_x == (routes.x(router) != routes.x(to)));
                    // The source's directions hold for the whole way.
                    REQUIRE(port == (along_x ? routes.x_port(from, to, Grid::directions(choice))
                                             : routes.y_port(from, to, Grid::directions(choice))));
                    const auto far = topology->behind(router, port);
                    REQUIRE(far);
                    router = far->router;
                }
                REQUIRE(steps == distance[to]);
            }
            REQUIRE(topology->hops(from, to) == distance[to]);
        }
    }
}

TEST_CASE("equal directions round a torus are left to the packet's choice, others are not", "[topology]") {
    const flit::RouteTable routes(flit_config(noc(4, 4)));
    const flit::RouteTable mesh(flit_config(noc(4, 4, "mesh")));
    for (const flit::TieChoice choice : kDirections) {
        CHECK(routes.x_port(0, 2, choice) == choice.x_port);
        CHECK(routes.y_port(0, 8, choice) == choice.y_port);
        CHECK(routes.x_port(0, 3, choice) == port::kWest);
        CHECK(routes.y_port(0, 12, choice) == port::kNorth);
        CHECK(mesh.x_port(0, 2, choice) == port::kEast);
    }
    CHECK(routes.x_tie(1, 3));
    CHECK_FALSE(routes.x_tie(1, 2));
    CHECK(routes.y_tie(1, 9));
    CHECK_FALSE(mesh.x_tie(1, 3));
}

TEST_CASE("links lead back through the opposite port", "[topology]") {
    const auto config = GENERATE(noc(2, 2), noc(3, 5), noc(5, 2, "mesh"));
    const TopologyPtr topology = make_topology(config);
    for (unsigned router = 0; router < topology->routers(); ++router)
        for (unsigned p = 0; p < topology->router_ports(); ++p) {
            const auto far = topology->behind(router, p);
            if (!far) continue;
            CHECK(far->port == (p + 2) % 4);
            const auto back = topology->behind(far->router, far->port);
            REQUIRE(back);
            CHECK(back->router == router);
            CHECK(back->port == p);
        }
    CHECK_FALSE(make_topology("mesh", 5, 2)->behind(0, port::kWest));
    CHECK_FALSE(make_topology("torus", 1, 3)->behind(0, port::kEast));
}

TEST_CASE("endpoints get their numbers in the order in which they are attached", "[topology]") {
    EndpointMap map;
    CHECK(map.attach("camera", 3) == 0);
    CHECK(map.attach("memory", 1) == 1);
    CHECK(map.attach("display", 3) == 2);
    CHECK(map.routers() == std::vector<unsigned>{3, 1, 3});
    CHECK(map.number_of("memory") == 1);
    CHECK(map.name_of(2) == "display");
    CHECK_THROWS_AS(map.attach("memory", 0), std::invalid_argument);
    CHECK(map.size() == 3);
    CHECK_THROWS_AS(map.number_of("camera_2"), std::out_of_range);
}

TEST_CASE("a network that cannot be built is refused", "[topology]") {
    auto config = noc(2, 2);
    CHECK(validation_error(config).empty());
    config.topology = "ring";
    CHECK_FALSE(validation_error(config).empty());
    CHECK_FALSE(validation_error(noc(0, 2)).empty());
    config = noc(2, 2);
    config.link_bytes_per_cycle = 0;
    CHECK_FALSE(validation_error(config).empty());
    config = noc(2, 2);
    config.header_bytes = 0;
    CHECK_FALSE(validation_error(config).empty());
    config = noc(2, 2);
    config.clock_ghz = 0;
    CHECK_FALSE(validation_error(config).empty());
    testing::in_child([] {
        SimulationRegistry registry;
        CHECK_THROWS_AS(PacketNetwork("odd", noc(2, 2, "ring"), registry, {0, 1}), ModelError);
        CHECK_THROWS_WITH(PacketNetwork("beyond", noc(2, 2), registry, {0, 4}),
                          Catch::Matchers::ContainsSubstring("endpoint 1 at router 4"));
        CHECK_THROWS_WITH(PacketNetwork("crowded", noc(2, 2), registry, std::vector<unsigned>(29, 3u)),
                          Catch::Matchers::ContainsSubstring("expected at most 28 endpoints at a router, found 29"));
    });
}
