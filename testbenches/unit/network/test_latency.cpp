// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

unsigned around(unsigned size, unsigned from, unsigned to, bool torus) {
    const unsigned direct = from < to ? to - from : from - to;
    return torus ? std::min(direct, size - direct) : direct;
}

/// Every pair of endpoints, one packet at a time, against the formula written out.
void check_all_pairs(const hw::NocConfig& config) {
    NetworkBench bench(config);
    const bool torus = config.topology == "torus";
    bench.run([&] {
        const auto count = static_cast<Endpoint>(config.columns * config.rows);
        for (const std::uint64_t bytes : {0u, 1u, 176u, 177u, 4096u, 65536u}) {
            for (Endpoint from = 0; from < count; ++from) {
                for (Endpoint to = 0; to < count; ++to) {
                    const unsigned links = around(config.columns, from % config.columns, to % config.columns, torus) +
                                           around(config.rows, from / config.columns, to / config.columns, torus);
                    const std::uint64_t width = config.link_bytes_per_cycle, total = bytes + config.header_bytes;
                    const std::uint64_t latency = 2 * config.endpoint_link_cycles + (links + 1) * config.router_cycles +
                                                  links * config.link_cycles + total / width + (total % width != 0);
                    const std::uint64_t begin = bench.ends.now();
                    bench.ends.arrivals.clear();
                    const std::uint64_t returned = bench.ends.send(from, {to}, bytes);
                    // The packet model knows the arrival at once, the flits' model when it happens.
                    REQUIRE(returned == begin + (config.impl == "packet" ? latency : 0));
                    bench.ends.wait_cycles(latency + 20);
                    REQUIRE(bench.ends.arrivals.size() == 1);
                    REQUIRE(bench.ends.arrivals[0].at == to);
                    REQUIRE(bench.ends.arrivals[0].cycle == begin + latency);
                    REQUIRE(bench.torus.zero_load_cycles(from, to, bytes) == latency);
                }
            }
        }
    });
}

}  // namespace

TEST_CASE("zero-load latency of every pair is the closed formula", "[noc]") {
    auto config = GENERATE(noc(1, 1), noc(2, 2), noc(3, 4), noc(5, 1), noc(6, 6), noc(12, 12), noc(3, 4, "mesh"),
                           noc(7, 2, "mesh"), noc(1, 1, "torus", "flit"), noc(2, 2, "torus", "flit"),
                           noc(3, 4, "torus", "flit"), noc(3, 4, "mesh", "flit"));
    in_child([&] { check_all_pairs(config); });
}

TEST_CASE("other links, routers and clocks", "[noc]") {
    auto config = noc(4, 4);
    config.link_bytes_per_cycle = 24;
    config.impl = GENERATE(as<std::string>{}, "packet", "flit");
    config.router_cycles = 7;
    config.routing_cycles = 3;
    config.vc_alloc_cycles = 2;
    config.buffer_flits = 16;
    config.link_cycles = 3;
    config.endpoint_link_cycles = 2;
    config.header_bytes = 5;
    config.clock_ghz = GENERATE(0.5, 0.7, 1.0, 2.0);
    in_child([&] { check_all_pairs(config); });
}

TEST_CASE("injection between two edges waits for the next one", "[noc]") {
    const std::string impl = GENERATE(as<std::string>{}, "packet", "flit");
    in_child([&] {
        NetworkBench bench(noc(2, 2, "torus", impl));
        bench.run([&] {
            sc_core::wait(sc_core::sc_time(300, sc_core::SC_PS));
            PooledPayload payload = bench.ends.packet(0, {1}, 100);
            sc_core::sc_time delay(200, sc_core::SC_PS);
            bench.ends.out[0]->b_transport(*payload, delay);
            sc_core::wait(sc_core::sc_time(100, sc_core::SC_NS));
            REQUIRE(bench.ends.arrivals.size() == 1);
            CHECK(bench.ends.arrivals[0].cycle == 1 + bench.torus.zero_load_cycles(0, 1, 100));
        });
    });
}

SIM_TEST("delay is added to, not assigned, also what the endpoint adds", "[noc]") {
    NetworkBench bench(noc(4, 4));
    bench.run([&] { CHECK(bench.ends.send(0, {5}, 100, 0, 50) == 50 + bench.torus.zero_load_cycles(0, 5, 100)); });
}
