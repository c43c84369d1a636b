// SPDX-License-Identifier: Apache-2.0
// What TrafficBuilder says that packets cost, against the torus that carries them.

#include <random>

#include "switchyard/hw/noc/packet_network.h"
#include "switchyard/platform/systems/adyna/stages/traffic.h"
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

/// One endpoint a router, and three more at routers that have one already.
std::vector<unsigned> endpoints_of(const hw::NocConfig& config) {
    std::vector<unsigned> routers = NetworkBench::one_each(config);
    for (const unsigned router : {0u, config.columns - 1, 0u}) routers.push_back(router);
    return routers;
}

std::vector<Endpoint> some_endpoints(std::mt19937& random, std::size_t count) {
    std::vector<Endpoint> all(count);
    std::iota(all.begin(), all.end(), Endpoint{0});
    std::shuffle(all.begin(), all.end(), random);
    all.resize(1 + random() % 6);
    return all;
}

}  // namespace

TEST_CASE("random packets hold each link for as long as on the torus", "[traffic]") {
    const auto topology = GENERATE("torus", "mesh"), multicast = GENERATE("tree", "source");
    in_child([&] {
        hw::NocConfig config = noc(5, 4, topology);
        config.multicast = multicast;
        const std::vector<unsigned> routers = endpoints_of(config);
        NetworkBench bench(config, routers);
        TrafficBuilder builder(config, hw::HbmConfig{}, routers);
        bench.run([&] {
            std::mt19937 random(7);
            for (unsigned i = 0; i < 500; ++i) {
                const auto source = static_cast<Endpoint>(random() % routers.size());
                const std::vector<Endpoint> destinations = some_endpoints(random, routers.size());
                const std::uint64_t bytes = random() % 5000;
                bench.ends.send(source, destinations, bytes);
                builder.add_packet(source, destinations, bytes);
                bench.ends.wait_cycles(100);
            }
        });
        const Traffic traffic = builder.take();
        const hw::PacketNetwork::Stats stats = bench.torus.stats();
        CHECK(traffic.packets == stats.injected_packets);
        CHECK(traffic.payload_bytes == stats.injected_bytes);
        CHECK(traffic.addressed_packets == stats.addressed_packets);
        CHECK(traffic.addressed_bytes == stats.addressed_bytes);
        CHECK(traffic.ejected_packets == stats.ejected_packets);
        CHECK(traffic.ejected_bytes == stats.ejected_bytes);
        CHECK(traffic.link_packets == stats.link_packets);
        CHECK(traffic.link_bytes == stats.link_bytes);

        std::vector<std::uint64_t> cycles(builder.links(), 0);
        for (const Traffic::LinkUse& use : traffic.links) cycles[use.link] = use.cycles;
        for (unsigned router = 0; router < config.columns * config.rows; ++router) {
            for (unsigned p = 0; p < hw::port::kLocal; ++p) {
                CAPTURE(router, p);
                CHECK(cycles[router * hw::port::kLocal + p] == bench.torus.link(router, p).busy_cycles);
            }
        }
        for (std::size_t e = 0; e < routers.size(); ++e) {
            const hw::Router& router = dynamic_cast<const hw::PacketNetwork&>(bench.torus).router(routers[e]);
            const auto endpoint = static_cast<Endpoint>(e);
            CHECK(cycles[builder.router_links() + builder.endpoints() + e] ==
                  router.link(router.local_port(endpoint)).busy_cycles);
        }
    });
}

SIM_TEST("a packet on its own takes as long as the closed form of the torus says", "[traffic]") {
    const hw::NocConfig config = noc(4, 3);
    const std::vector<unsigned> routers = endpoints_of(config);
    NetworkBench bench(config, routers);
    const TrafficBuilder builder(config, hw::HbmConfig{}, routers);
    for (Endpoint from = 0; from < static_cast<Endpoint>(routers.size()); ++from) {
        for (Endpoint to = 0; to < static_cast<Endpoint>(routers.size()); ++to) {
            for (const std::uint64_t bytes : {0, 1, 191, 4096}) {
                const std::uint64_t exact = bench.torus.zero_load_cycles(from, to, bytes);
                CHECK(builder.packet_cycles(from, to, bytes) == exact);
                CHECK(builder.head_cycles(from, to) + builder.serialisation_cycles(from, {to}, bytes) == exact);
            }
        }
    }
    sc_core::sc_start();
}

TEST_CASE("a packet whose buffers are shorter than its links takes as long as on the torus", "[traffic]") {
    const unsigned buffer_flits = GENERATE(1u, 2u, 3u, 8u), link_cycles = GENERATE(1u, 7u, 40u);
    const unsigned endpoint_link_cycles = GENERATE(0u, 12u);
    in_child([&] {
        hw::NocConfig config = noc(4, 3);
        config.buffer_flits = buffer_flits;
        config.link_cycles = link_cycles;
        config.endpoint_link_cycles = endpoint_link_cycles;
        const std::vector<unsigned> routers = endpoints_of(config);
        NetworkBench bench(config, routers);
        TrafficBuilder builder(config, hw::HbmConfig{}, routers);
        bench.run([&] {
            for (const Endpoint to : {Endpoint{1}, Endpoint{7}, Endpoint{12}, Endpoint{14}}) {  // 12, 14: at router 0
                for (const std::uint64_t bytes : {0, 191, 700, 5000}) {
                    CAPTURE(to, bytes);
                    const std::uint64_t begin = bench.ends.now();
                    const std::uint64_t cycles = bench.ends.send(0, {to}, bytes) - begin;
                    CHECK(builder.packet_cycles(0, to, bytes) == cycles);
                    CHECK(builder.head_cycles(0, to) + builder.serialisation_cycles(0, {to}, bytes) == cycles);
                    bench.ends.wait_cycles(100'000);
                }
            }
        });
    });
}

TEST_CASE("a transfer of several packets has a header each", "[traffic]") {
    const hw::NocConfig config = noc(3, 1);
    TrafficBuilder builder(config, hw::HbmConfig{}, {0, 1, 2});
    builder.add_packet(0, {1}, 2500, 1000);
    const Traffic traffic = builder.take();
    CHECK(traffic.packets == 3);
    CHECK(traffic.link_bytes == 2500 + 3 * config.header_bytes);
    CHECK(traffic.links.front().cycles ==
          2 * builder.serialisation_cycles(0, {1}, 1000) + builder.serialisation_cycles(0, {1}, 500));
    CHECK(builder.take().packets == 0);
}

TEST_CASE("requests to memory move whole bursts", "[traffic]") {
    hw::HbmConfig memory;
    memory.burst_bytes = 32;
    memory.interleave_bytes = 256;
    memory.pseudo_channels_per_interface = 4;
    TrafficBuilder builder(noc(3, 1), memory, {0, 1, 2});
    builder.add_request(40, 50, false);  // bytes 40 .. 89: bursts 32 .. 95
    builder.add_request(memory.region_bytes, 2048, true);
    builder.add_request(0, 32, false);
    const Traffic traffic = builder.take();
    REQUIRE(traffic.memory.size() == 2);
    const Traffic::MemoryUse &read = traffic.memory[0], &write = traffic.memory[1];
    CHECK(read.interface == 0);
    CHECK(!read.write);
    CHECK(read.bytes == 82);
    CHECK(read.moved_bytes == 64 + 32);
    CHECK(read.channel_bytes == std::vector<std::uint64_t>{96, 0, 0, 0});
    CHECK(write.interface == 1);
    CHECK(write.write);
    CHECK(write.channel_bytes == std::vector<std::uint64_t>(4, 512));  // 8 pieces on 4 channels
}
