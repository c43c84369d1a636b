// SPDX-License-Identifier: Apache-2.0
// Why the torus cannot deadlock: the channels that packets hold and wait for form no ring. And how equally long
// directions share the traffic.

#include <map>
#include <set>
#include <string>

#include "switchyard/hw/noc/flit/tie_breaker.h"
#include "switchyard/hw/noc/grid.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::RouteTable;
using hw::flit::TieBreaker;
using hw::flit::TieChoice;

namespace {

/// A link of a router with the dateline class that a packet uses on it.
struct Channel {
    unsigned router, port, dateline_class;
    bool operator<(const Channel& o) const {
        return std::tie(router, port, dateline_class) < std::tie(o.router, o.port, o.dateline_class);
    }
};

constexpr unsigned kXPorts[] = {hw::port::kEast, hw::port::kWest}, kYPorts[] = {hw::port::kSouth, hw::port::kNorth};

TieChoice choice_of(unsigned x, unsigned y) {
    return {static_cast<std::uint8_t>(kXPorts[x]), static_cast<std::uint8_t>(kYPorts[y])};
}

std::vector<Channel> path(const Config& config, const RouteTable& routes, unsigned from, unsigned to,
                          TieChoice choice) {
    const hw::Grid grid(config.torus, config.columns, config.rows);
    std::vector<Channel> channels;
    unsigned at = from;
    const auto go = [&](unsigned port, auto there) {
        while (!there()) {
            channels.push_back({at, port, config.dateline && routes.crosses(from, to, port) ? 1u : 0u});
            at = grid.behind(at, port).value().router;
        }
    };
    go(routes.x_port(from, to, choice), [&] { return routes.x(at) == routes.x(to); });
    go(routes.y_port(from, to, choice), [&] { return routes.y(at) == routes.y(to); });
    REQUIRE(at == to);
    return channels;
}

/// Whether the channels' dependencies of all pairs, by all of their routes, form a ring.
bool has_ring(const Config& config) {
    const RouteTable routes(config);
    std::map<Channel, std::set<Channel>> next;
    for (unsigned from = 0; from < config.routers(); ++from) {
        for (unsigned to = 0; to < config.routers(); ++to) {
            for (unsigned way = 0; way < 4; ++way) {
                const std::vector<Channel> channels = path(config, routes, from, to, choice_of(way / 2, way % 2));
                REQUIRE(channels.size() == routes.hops(from, to));
                for (std::size_t i = 1; i < channels.size(); ++i) next[channels[i - 1]].insert(channels[i]);
            }
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

void check_shared_load(unsigned size) {
    const auto pattern = GENERATE("uniform", "transpose", "bitcomp", "bitrev", "shuffle", "tornado", "neighbour");
    if (size == 6 && (std::string(pattern) == "bitrev" || std::string(pattern) == "shuffle")) return;
    CAPTURE(pattern, size);
    const Config config = grid(true, size, size);
    const RouteTable routes(config);
    hw::SyntheticTraffic traffic(pattern, size, size, 0, 1, 1);
    // Of each link: what it carries, what it would if every packet went both directions by halves, and how many
    // endpoints have sent something there that could have gone another way.
    struct Load {
        double flits = 0, even = 0;
        std::set<unsigned> choosers;
    };
    std::map<std::pair<unsigned, unsigned>, Load> loads;
    constexpr unsigned kPackets = 100, kLongest = 8;
    for (unsigned from = 0; from < config.routers(); ++from) {
        TieBreaker tie_breaker(routes, size, from);
        hw::SplitMix64 random(from);
        for (unsigned i = 0; i < kPackets; ++i) {
            const unsigned to = traffic.destination(from), flits = 1 + random.below(kLongest);
            const TieChoice taken = tie_breaker.choose(routes, from, to, flits);
            for (const Channel& channel : path(config, routes, from, to, taken))
                loads[{channel.router, channel.port}].flits += flits;
            for (unsigned way = 0; way < 4; ++way)
                for (const Channel& channel : path(config, routes, from, to, choice_of(way / 2, way % 2))) {
                    Load& load = loads[{channel.router, channel.port}];
                    load.even += flits / 4.0;
                    if (routes.x_tie(from, to) || routes.y_tie(from, to)) load.choosers.insert(from);
                }
        }
    }
    for (const auto& [link, load] : loads) {
        CAPTURE(link.first, link.second, load.flits, load.even);
        // An endpoint is ahead on a ring by one packet at most, half of which the other way lacks.
        CHECK(std::abs(load.flits - load.even) <= kLongest / 2.0 * static_cast<double>(load.choosers.size()));
    }
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

TEST_CASE("flit: equally long directions share the load of every pattern", "[flit]") {
    check_shared_load(GENERATE(4u, 6u, 8u));
}

TEST_CASE("flit: equally long directions share the load of every pattern, 16x16", "[.ci-long][flit]") {
    check_shared_load(16);
}

TEST_CASE("flit: packets with a choice along x and along y take all four routes", "[flit]") {
    const Config config = grid(true, 8, 8);
    const RouteTable routes(config);
    TieBreaker tie_breaker(routes, 8, 0);
    std::map<std::pair<unsigned, unsigned>, unsigned> taken;
    for (unsigned i = 0; i < 40; ++i) {
        const TieChoice choice = tie_breaker.choose(routes, 0, 4 * 8 + 4, 3);
        ++taken[{choice.x_port, choice.y_port}];
    }
    for (const unsigned x : kXPorts)
        for (const unsigned y : kYPorts) CHECK(taken[{x, y}] == 10);
}

TEST_CASE("flit: a tree has one direction in each row and column, and trees take turns", "[flit]") {
    const Config config = grid(true, 4, 4);
    const RouteTable routes(config);
    TieBreaker tie_breaker(routes, 4, 0);
    const auto choose = [&](std::vector<unsigned> routers) {
        return tie_breaker.choose(5, [&](auto&& visit) {
            for (const unsigned to : routers) visit(routes.x(to), routes.x_tie(0, to), routes.y_tie(0, to));
        });
    };
    const TieChoice first = choose({2, 8, 9}), second = choose({2, 8, 9});
    CHECK(first.x_port != second.x_port);
    CHECK(first.y_port != second.y_port);
    // A packet to one of the columns and a tree count alike.
    const TieChoice alone = tie_breaker.choose(routes, 0, 8, 5), next = choose({8});
    CHECK(alone.y_port != next.y_port);
}
