// Why the torus cannot deadlock: the channels that packets hold and wait for form no ring.

#include <map>
#include <set>

#include "switchyard/hw/noc/topology.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::RouteTable;

namespace {

/// A link of a router with the dateline class that a packet uses on it.
struct Channel {
    unsigned router, port, dateline_class;
    bool operator<(const Channel& o) const {
        return std::tie(router, port, dateline_class) < std::tie(o.router, o.port, o.dateline_class);
    }
};

std::vector<Channel> path(const Config& config, const RouteTable& routes, unsigned from, unsigned to) {
    hw::NocConfig noc;
    noc.topology = config.torus ? "torus" : "mesh";
    noc.columns = config.columns;
    noc.rows = config.rows;
    std::vector<Channel> channels;
    unsigned at = from;
    const auto go = [&](unsigned port, auto there) {
        while (!there()) {
            channels.push_back({at, port, config.dateline && routes.crosses(from, to, port) ? 1u : 0u});
            at = static_cast<unsigned>(hw::neighbour(noc, at, port));
        }
    };
    go(routes.x_port(from, to), [&] { return routes.x(at) == routes.x(to); });
    go(routes.y_port(from, to), [&] { return routes.y(at) == routes.y(to); });
    REQUIRE(at == to);
    return channels;
}

/// Whether the channels' dependencies of all pairs form a ring.
bool has_ring(const Config& config) {
    const RouteTable routes(config);
    std::map<Channel, std::set<Channel>> next;
    for (unsigned from = 0; from < config.routers(); ++from) {
        for (unsigned to = 0; to < config.routers(); ++to) {
            const std::vector<Channel> channels = path(config, routes, from, to);
            REQUIRE(channels.size() == routes.hops(from, to));
            for (std::size_t i = 1; i < channels.size(); ++i) next[channels[i - 1]].insert(channels[i]);
        }
    }
    std::map<Channel, int> state;  // 1: on the way, 2: done
    const std::function<bool(const Channel&)> visit = [&](const Channel& channel) {
        if (state[channel] != 0) return state[channel] == 1;
        state[channel] = 1;
        for (const Channel& after : next[channel])
            if (visit(after)) return true;
        state[channel] = 2;
        return false;
    };
    for (const auto& [channel, after] : std::map<Channel, std::set<Channel>>(next))
        if (visit(channel)) return true;
    return false;
}

}  // namespace

TEST_CASE("flit: dateline classes leave no ring of channels, a torus without them has one", "[flit]") {
    const auto [columns, rows] = GENERATE(std::pair{8u, 8u}, std::pair{12u, 12u}, std::pair{5u, 4u}, std::pair{2u, 2u},
                                          std::pair{3u, 1u}, std::pair{7u, 6u});
    CHECK_FALSE(has_ring(grid(true, columns, rows)));
    CHECK_FALSE(has_ring(grid(false, columns, rows)));
    Config bare = grid(true, columns, rows);
    bare.dateline = false;
    CHECK(has_ring(bare) == (columns > 3));  // half of a short ring is one link: nothing depends on it
}

TEST_CASE("flit: equally long ways are used equally by uniform traffic", "[flit]") {
    const auto [columns, rows] = GENERATE(std::pair{8u, 8u}, std::pair{6u, 6u}, std::pair{4u, 10u});
    const Config config = grid(true, columns, rows);
    const RouteTable routes(config);
    std::map<std::pair<unsigned, unsigned>, unsigned> load;  // by router and port
    for (unsigned from = 0; from < config.routers(); ++from)
        for (unsigned to = 0; to < config.routers(); ++to)
            for (const Channel& channel : path(config, routes, from, to)) ++load[{channel.router, channel.port}];
    for (unsigned r = 0; r < config.routers(); ++r) {
        CHECK(load[{r, hw::port::kEast}] == load[{0, hw::port::kEast}]);
        CHECK(load[{r, hw::port::kWest}] == load[{0, hw::port::kEast}]);
        CHECK(load[{r, hw::port::kNorth}] == load[{0, hw::port::kSouth}]);
        CHECK(load[{r, hw::port::kSouth}] == load[{0, hw::port::kSouth}]);
    }
}
