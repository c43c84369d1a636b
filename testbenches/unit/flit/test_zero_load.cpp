// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::FlitNetwork;

namespace {

unsigned around(unsigned size, unsigned from, unsigned to, bool torus) {
    const unsigned direct = from < to ? to - from : from - to;
    return torus ? std::min(direct, size - direct) : direct;
}

/// Cycles until the one packet in the network has arrived, and that everything is back where it was.
std::uint64_t alone(FlitNetwork& network, unsigned from, unsigned to, unsigned flits) {
    const std::uint64_t begin = network.cycle();
    network.send(from, to, flits, 7);
    while (true) {
        network.begin_cycle();
        if (!network.deliveries().empty()) break;
        network.end_cycle();
    }
    const std::uint64_t latency = network.cycle() - begin;
    REQUIRE(network.deliveries().size() == 1);
    REQUIRE(network.deliveries()[0].endpoint == to);
    REQUIRE(network.deliveries()[0].tag == 7);
    network.end_cycle();
    while (!network.idle()) network.step();
    return latency;
}

void check_all_pairs(const Config& config, const std::vector<unsigned>& sizes) {
    FlitNetwork network(config, one_each(config));
    for (unsigned from = 0; from < config.routers(); ++from) {
        for (unsigned to = 0; to < config.routers(); ++to) {
            const unsigned hops = around(config.columns, from % config.columns, to % config.columns, config.torus) +
                                  around(config.rows, from / config.columns, to / config.columns, config.torus);
            REQUIRE(network.hops(from, to) == hops);
            for (const unsigned flits : sizes) {
                CAPTURE(from, to, flits);
                REQUIRE(alone(network, from, to, flits) == hw::flit::zero_load_cycles(config, hops, flits));
            }
        }
    }
}

const std::vector<unsigned> kSizes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

}  // namespace

TEST_CASE("flit: zero-load latency of every pair and size is the closed formula", "[flit]") {
    const Config config = GENERATE(grid(true, 8, 8), grid(true, 8, 8, 2), grid(true, 5, 3), grid(true, 2, 2),
                                   grid(true, 1, 1), grid(false, 8, 8), grid(false, 4, 3, 1), grid(false, 6, 1));
    check_all_pairs(config, kSizes);
    // The formula written out, for the pipeline and links of the platforms' default.
    CHECK(hw::flit::zero_load_cycles(config, 3, 5) == 1 + 4 * (4 + 1) + 5);
}

TEST_CASE("flit: zero-load latency with two-cycle links, where the head's credit comes late", "[flit]") {
    Config config = grid(true, 6, 5);
    config.link_cycles = 2;
    config.buffer_flits = GENERATE(7u, 8u, 9u, 16u);
    REQUIRE(hw::flit::body_credit_loop(config) == 7);
    check_all_pairs(config, kSizes);
    CHECK(hw::flit::zero_load_cycles(config, 4, 9) == 1 + 1 + 5 * 4 + 4 * 2 + 9);
}

TEST_CASE("flit: zero-load latency of other pipelines", "[flit]") {
    struct Pipeline {
        unsigned routing, vc_alloc, switch_alloc, switch_traversal, link, endpoint_link, credit;
    };
    const Pipeline p =
        GENERATE(Pipeline{0, 1, 1, 1, 1, 1, 0}, Pipeline{2, 1, 1, 1, 1, 1, 0}, Pipeline{1, 2, 1, 1, 1, 1, 0},
                 Pipeline{1, 3, 2, 1, 1, 2, 1}, Pipeline{1, 1, 2, 1, 1, 1, 0}, Pipeline{1, 1, 1, 3, 2, 1, 2});
    Config config = grid(true, 4, 4);
    config.routing_cycles = p.routing;
    config.vc_alloc_cycles = p.vc_alloc;
    config.switch_alloc_cycles = p.switch_alloc;
    config.switch_cycles = p.switch_traversal;
    config.link_cycles = p.link;
    config.endpoint_link_cycles = p.endpoint_link;
    config.credit_cycles = p.credit;
    config.buffer_flits = 32;  // deeper than any credit loop here
    check_all_pairs(config, kSizes);
}

TEST_CASE("flit: a buffer of one flit throttles, and loses nothing", "[flit]") {
    Config config = grid(false, 3, 1, 1);
    config.buffer_flits = 1;
    FlitNetwork network(config, one_each(config));
    // Every flit waits for the credit of the one before.
    const std::uint64_t latency = alone(network, 0, 2, 10);
    CHECK(latency >= hw::flit::zero_load_cycles(config, 2, 1) + 9 * hw::flit::body_credit_loop(config));
    CHECK(network.stats().ejected_flits == 10);
}

TEST_CASE("flit: bad configurations and packets are refused", "[flit]") {
    const auto refused = [](Config config, const char* what) {
        CHECK_THROWS_WITH(FlitNetwork(config, one_each(config)), Catch::Contains(what));
    };
    refused(grid(true, 0, 4), "at least one router");
    refused(grid(true, 4, 4, 3), "vcs: expected an even number");
    refused(grid(true, 4, 4, 0), "vcs: expected at least 1, found 0");
    refused(grid(false, 4, 4, 13), "at most 64");
    Config config = grid(true, 4, 4);
    config.link_cycles = 0;
    refused(config, "expected at least 1, found 0 and 1");
    CHECK_THROWS_WITH(FlitNetwork(grid(true, 2, 2), {4}), Catch::Contains("at routers below 4, found one at router 4"));
    FlitNetwork network(grid(true, 2, 2), {0, 1});
    CHECK_THROWS_AS(network.send(0, 2, 1, 0), std::out_of_range);
    CHECK_THROWS_WITH(network.send(0, 1, 0, 0), Catch::Contains("of at least 1 flit, found 0"));
    const std::uint16_t both[] = {0, 1};
    CHECK_THROWS_WITH(network.multicast(0, both, 2, 9, 0),
                      Catch::Contains("of at most 8 flits, as a buffer has, found 9"));
}
