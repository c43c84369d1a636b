// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "switchyard/hw/noc/flit/route.h"
#include "switchyard/hw/noc/flit_torus.h"
#include "switchyard/hw/noc/torus.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::hw;
using switchyard::testing::noc;

namespace {

/// Fewest links from `from` to every router, by breadth-first search over `neighbour`.
std::vector<unsigned> distances(const NocConfig& config, unsigned from) {
    const unsigned count = config.columns * config.rows;
    std::vector<unsigned> distance(count, count);
    std::deque<unsigned> open{from};
    distance[from] = 0;
    while (!open.empty()) {
        const unsigned router = open.front();
        open.pop_front();
        for (unsigned p = 0; p < port::kLocal; ++p) {
            const int next = neighbour(config, router, p);
            if (next < 0 || distance[static_cast<unsigned>(next)] != count) continue;
            distance[static_cast<unsigned>(next)] = distance[router] + 1;
            open.push_back(static_cast<unsigned>(next));
        }
    }
    return distance;
}

constexpr flit::TieChoice kDirections[] = {{port::kEast, port::kSouth}, {port::kWest, port::kNorth}};

}  // namespace

TEST_CASE("X-Y routing takes a shortest path, all of X first", "[topology]") {
    const auto config = GENERATE(noc(1, 1), noc(2, 2), noc(3, 5), noc(4, 4), noc(1, 7), noc(12, 12), noc(4, 3, "mesh"),
                                 noc(12, 12, "mesh"), noc(6, 1, "mesh"));
    const flit::RouteTable routes(flit_config(config));
    for (unsigned from = 0; from < config.columns * config.rows; ++from) {
        const std::vector<unsigned> distance = distances(config, from);
        for (unsigned to = 0; to < distance.size(); ++to) {
            // The source decides which way round.
            for (const flit::TieChoice choice : kDirections) {
                const unsigned x_port = routes.x_port(from, to, choice), y_port = routes.y_port(from, to, choice);
                unsigned router = from, steps = 0;
                for (; router != to; ++steps) {
                    REQUIRE(steps < distance.size());
                    const bool along_x = routes.x(router) != routes.x(to);
                    const int next = neighbour(config, router, along_x ? x_port : y_port);
                    REQUIRE(next >= 0);
                    router = static_cast<unsigned>(next);
                }
                REQUIRE(steps == distance[to]);
            }
            REQUIRE(routes.hops(from, to) == distance[to]);
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
    for (unsigned router = 0; router < config.columns * config.rows; ++router)
        for (unsigned p = 0; p < port::kLocal; ++p) {
            const int next = neighbour(config, router, p);
            if (next >= 0)
                CHECK(neighbour(config, static_cast<unsigned>(next), (p + 2) % 4) == static_cast<int>(router));
        }
    CHECK(neighbour(noc(5, 2, "mesh"), 0, port::kWest) == -1);
    CHECK(neighbour(noc(1, 3), 0, port::kEast) == -1);
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
        CHECK_THROWS_AS(Torus("odd", noc(2, 2, "ring"), registry, {0, 1}), ModelError);
        CHECK_THROWS_WITH(Torus("beyond", noc(2, 2), registry, {0, 4}),
                          Catch::Matchers::ContainsSubstring("endpoint 1 at router 4"));
        CHECK_THROWS_WITH(Torus("crowded", noc(2, 2), registry, std::vector<unsigned>(29, 3u)),
                          Catch::Matchers::ContainsSubstring("29 endpoints: at most 28"));
    });
}
