// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

std::vector<Endpoint> all(const hw::NocConfig& config) {
    std::vector<Endpoint> endpoints(std::size_t{config.columns} * config.rows);
    std::iota(endpoints.begin(), endpoints.end(), Endpoint{0});
    return endpoints;
}

}  // namespace

TEST_CASE("a broadcast reaches everybody once, each at its own zero-load time, over a tree", "[noc]") {
    auto config = GENERATE(noc(1, 1), noc(2, 2), noc(4, 4), noc(5, 3), noc(12, 12), noc(6, 5, "mesh"));
    in_child([&] {
        NetworkBench bench(config);
        bench.run([&] {
            const std::vector<Endpoint> everybody = all(config);
            for (const Endpoint source : everybody) {
                const std::uint64_t begin = bench.ends.now();
                const std::uint64_t links_before = bench.torus.stats().link_packets;
                bench.ends.arrivals.clear();
                const std::uint64_t last = bench.ends.send(source, everybody, 500, source);

                std::set<Endpoint> reached;
                std::uint64_t latest = 0;
                for (const Arrival& arrival : bench.ends.arrivals) {
                    REQUIRE(reached.insert(arrival.at).second);
                    REQUIRE(arrival.destinations == std::vector<Endpoint>{arrival.at});
                    REQUIRE(arrival.cycle == begin + bench.torus.zero_load_cycles(source, arrival.at, 500));
                    latest = std::max(latest, arrival.cycle);
                }
                REQUIRE(reached.size() == everybody.size());
                REQUIRE(last == latest);
                // A spanning tree has one link less than it has routers.
                REQUIRE(bench.torus.stats().link_packets - links_before == everybody.size() - 1);
                bench.ends.wait_cycles(1000);
            }
        });
    });
}

SIM_TEST("the caller finds its list of destinations again", "[noc]") {
    NetworkBench bench(noc(4, 4));
    bench.run([&] {
        const std::vector<Endpoint> list{14, 3, 9, 0, 5};
        PooledPayload payload = bench.ends.packet(6, list, 100);
        payload->set_address(0x1234);
        bench.ends.send(payload);
        CHECK(payload.packet().destinations == list);
        CHECK(payload->get_address() == 0x1234);
        CHECK(bench.ends.arrivals.size() == list.size());
    });
}

SIM_TEST("one copy on a shared path: a multicast costs a link what a unicast costs", "[noc]") {
    NetworkBench bench(noc(8, 1));
    bench.run([&] {
        bench.ends.send(0, {2, 3, 4}, 1000);
        CHECK(bench.torus.link(0, hw::port::kEast).packets == 1);
        CHECK(bench.torus.link(1, hw::port::kEast).bytes == 1016);
        CHECK(bench.torus.link(3, hw::port::kEast).packets == 1);
        CHECK(bench.torus.link(4, hw::port::kEast).packets == 0);
        const auto stats = bench.torus.stats();
        CHECK(stats.injected_packets == 1);
        CHECK(stats.injected_bytes == 1000);
        CHECK(stats.addressed_packets == 3);
        CHECK(stats.addressed_bytes == 3000);
        CHECK(stats.ejected_packets == 3);
        CHECK(stats.ejected_bytes == 3000);
        CHECK(stats.link_bytes == 4 * 1016);
    });
}

TEST_CASE("copies from the source leave one behind the other, as packets and as flits", "[noc]") {
    const std::string impl = GENERATE("packet", "flit");
    in_child([&] {
        hw::NocConfig config = noc(8, 1, "torus", impl);
        config.multicast = "source";
        NetworkBench bench(config);
        bench.run([&] {
            const std::uint64_t begin = bench.ends.now();
            bench.ends.send(0, {4, 2, 7}, 1000);
            bench.ends.wait_cycles(200);
            std::map<Endpoint, std::uint64_t> took;
            for (const Arrival& arrival : bench.ends.arrivals) {
                CHECK(arrival.destinations == std::vector<Endpoint>{arrival.at});
                took[arrival.at] = arrival.cycle - begin;
            }
            const std::uint64_t flits = hw::serialisation_cycles(config, 1000);
            const auto alone = [&](Endpoint to) { return bench.torus.zero_load_cycles(0, to, 1000); };
            CHECK(took ==
                  std::map<Endpoint, std::uint64_t>{{4, alone(4)}, {2, alone(2) + flits}, {7, alone(7) + 2 * flits}});
            CHECK(bench.torus.stats().addressed_packets == 3);
            CHECK(bench.torus.stats().ejected_bytes == 3000);
        });
    });
}

SIM_TEST("copies from the source go to nobody twice", "[noc]") {
    hw::NocConfig config = noc(4, 1);
    config.multicast = "source";
    NetworkBench bench(config);
    bench.run([&] {
        PooledPayload payload = bench.ends.packet(0, {3, 1, 3}, 100);
        sc_core::sc_time delay;
        CHECK_THROWS_WITH(
            bench.ends.out[0]->b_transport(*payload, delay),
            Catch::Matchers::ContainsSubstring("expected each destination of a packet once, found 3 twice"));
        CHECK(bench.ends.arrivals.empty());
    });
}

SIM_TEST("an endpoint may send from within its b_transport", "[noc]") {
    NetworkBench bench(noc(4, 4));
    bench.ends.on_arrival = [&](const Arrival& arrival) {
        if (arrival.tag == 1 && arrival.at == 5) bench.ends.send(5, {0, 1, 2, 3, 15}, 64, 2);
    };
    bench.run([&] {
        PooledPayload payload = bench.ends.packet(0, {4, 5, 6, 7, 10}, 64, 1);
        bench.ends.send(payload);
        CHECK(payload.packet().destinations == std::vector<Endpoint>{4, 5, 6, 7, 10});
        std::multiset<std::pair<std::uint32_t, Endpoint>> got, due;
        for (const Arrival& arrival : bench.ends.arrivals) got.emplace(arrival.tag, arrival.at);
        for (const Endpoint e : {4, 5, 6, 7, 10}) due.emplace(1, e);
        for (const Endpoint e : {0, 1, 2, 3, 15}) due.emplace(2, e);
        CHECK(got == due);
    });
}
