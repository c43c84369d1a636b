// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <random>

#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

struct Load {
    unsigned seed, packets;
    std::uint64_t mean_gap;  ///< cycles between packets of the whole network
};

struct Sent {
    Endpoint source;
    std::vector<Endpoint> destinations;
    std::uint64_t bytes;
};

/// Injects random packets, a third of them multicast, of 0 to 8 kB.
std::vector<Sent> drive(NetworkBench& bench, std::size_t endpoints, const Load& load) {
    std::mt19937 random(load.seed);
    const auto draw = [&](std::uint64_t n) { return random() % n; };
    std::vector<Sent> sent;
    for (unsigned i = 0; i < load.packets; ++i) {
        Sent packet;
        packet.source = static_cast<Endpoint>(draw(endpoints));
        packet.bytes = draw(3) == 0 ? draw(8192) : draw(64);
        const std::size_t count = draw(3) == 0 ? 1 + draw(endpoints) : 1;
        std::vector<Endpoint> everybody(endpoints);
        std::iota(everybody.begin(), everybody.end(), Endpoint{0});
        for (std::size_t k = 0; k < count; ++k) {
            std::swap(everybody[k], everybody[k + draw(endpoints - k)]);
            packet.destinations.push_back(everybody[k]);
        }
        bench.ends.send(packet.source, packet.destinations, packet.bytes, i);
        sent.push_back(std::move(packet));
        if (load.mean_gap > 0) bench.ends.wait_cycles(draw(2 * load.mean_gap + 1));
    }
    return sent;
}

void check_delivery(const std::vector<Arrival>& arrivals, const std::vector<Sent>& sent) {
    std::map<std::pair<std::uint32_t, Endpoint>, unsigned> copies;
    for (std::uint32_t tag = 0; tag < sent.size(); ++tag)
        for (const Endpoint destination : sent[tag].destinations) copies[{tag, destination}] = 0;
    for (const Arrival& arrival : arrivals) {
        const auto copy = copies.find({arrival.tag, arrival.at});
        REQUIRE(copy != copies.end());
        REQUIRE(++copy->second == 1);
        REQUIRE(arrival.payload_bytes == sent[arrival.tag].bytes);
        REQUIRE(arrival.source == sent[arrival.tag].source);
    }
    REQUIRE(arrivals.size() == copies.size());
}

/// Tags rise in the order of injection, so along a flow the times must rise with them.
void check_order(std::vector<Arrival> arrivals) {
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const Arrival& a, const Arrival& b) { return a.tag < b.tag; });
    std::map<std::pair<Endpoint, Endpoint>, std::uint64_t> last;
    for (const Arrival& arrival : arrivals) {
        std::uint64_t& cycle = last[{arrival.source, arrival.at}];
        REQUIRE(arrival.cycle >= cycle);
        cycle = arrival.cycle;
    }
}

/// By any time no endpoint's link has carried more than fits into the time so far. Flits of several packets take turns,
/// so two tails may follow each other more closely than the packets are long.
void check_endpoint_links(std::vector<Arrival> arrivals, const hw::NocConfig& config) {
    std::sort(arrivals.begin(), arrivals.end(),
              [](const Arrival& a, const Arrival& b) { return std::tie(a.at, a.cycle) < std::tie(b.at, b.cycle); });
    std::uint64_t carried = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (i == 0 || arrivals[i].at != arrivals[i - 1].at) carried = 0;
        carried += hw::serialisation_cycles(config, arrivals[i].payload_bytes);
        REQUIRE(carried + 2 * config.endpoint_link_cycles + config.router_cycles <= arrivals[i].cycle);
    }
}

}  // namespace

TEST_CASE("random traffic with multicast is conserved and keeps its order", "[noc]") {
    const auto config = GENERATE(noc(4, 4), noc(5, 3), noc(12, 12), noc(4, 4, "mesh"), noc(4, 4, "torus", "flit"),
                                 noc(5, 3, "torus", "flit"), noc(4, 4, "mesh", "flit"));
    // From an almost idle network to everything at once.
    const auto load = GENERATE(Load{1, 600, 400}, Load{2, 1500, 20}, Load{3, 1500, 3}, Load{4, 1500, 0});
    in_child([&] {
        NetworkBench bench(config);
        const std::size_t endpoints = std::size_t{config.columns} * config.rows;
        bench.run([&] {
            const std::vector<Sent> sent = drive(bench, endpoints, load);
            const std::vector<Arrival>& arrivals = bench.ends.arrivals;
            if (config.impl == "flit")
                bench.ends.wait_cycles(1'000'000);  // the time passes without an event once all are there
            check_delivery(arrivals, sent);
            check_order(arrivals);
            check_endpoint_links(arrivals, config);

            std::uint64_t bytes_in = 0, bytes_addressed = 0, bytes_out = 0, last = 0;
            for (const Sent& packet : sent) {
                bytes_in += packet.bytes;
                bytes_addressed += packet.bytes * packet.destinations.size();
            }
            for (const Arrival& arrival : arrivals) {
                bytes_out += arrival.payload_bytes;
                last = std::max(last, arrival.cycle);
            }
            const auto stats = bench.torus.stats();
            CHECK(stats.injected_packets == sent.size());
            CHECK(stats.injected_bytes == bytes_in);
            CHECK(stats.addressed_bytes == bytes_addressed);
            CHECK(stats.ejected_bytes == bytes_out);
            CHECK(bytes_out == bytes_addressed);
            CHECK(stats.ejected_packets == arrivals.size());
            CHECK(stats.max_link_busy_cycles <= last);
            CHECK(bench.registry.sum("network", "ejected_bytes") == static_cast<double>(bytes_out));
            CHECK(bench.registry.sum("network", "link_bytes") == static_cast<double>(stats.link_bytes));
            CHECK(bench.registry.sum("network", "max_link_busy_cycles") ==
                  static_cast<double>(stats.max_link_busy_cycles));
            double endpoint_bytes = 0;
            for (std::size_t e = 0; e < endpoints; ++e)
                endpoint_bytes += bench.registry.sum("network", "endpoint_" + std::to_string(e) + "_out_bytes");
            // A multicast's pieces have a header each.
            const auto min = static_cast<double>(bytes_out + arrivals.size() * config.header_bytes);
            if (config.impl == "packet") CHECK(endpoint_bytes == min);
            CHECK(endpoint_bytes >= min);
            CHECK(endpoint_bytes < 1.2 * min);
        });
    });
}

TEST_CASE("the same packets arrive at the same times twice", "[noc]") {
    const auto config = noc(6, 6, "torus", GENERATE(as<std::string>{}, "packet", "flit"));
    in_child([&] {
        NetworkBench first(config, NetworkBench::one_each(config), "first");
        NetworkBench second(config, NetworkBench::one_each(config), "second");
        first.ends.script = [&] { drive(first, 36, {7, 2000, 2}); };
        second.run([&] { drive(second, 36, {7, 2000, 2}); });
        REQUIRE(first.ends.arrivals.size() > 2000);
        CHECK(first.ends.arrivals == second.ends.arrivals);
    });
}

SIM_TEST("waves to the same tile leave calendars short once they are over", "[noc]") {
    // Traffic over 10 ms of simulated time: what lies in the past is forgotten, so the host's time per packet stays.
    NetworkBench bench(noc(4, 4));
    bench.run([&] {
        for (int i = 0; i < 20000; ++i) {
            bench.ends.send(static_cast<Endpoint>(i % 16), {0}, 100, 0, static_cast<std::uint64_t>(i % 7) * 50);
            bench.ends.wait_cycles(500);
        }
        CHECK(bench.torus.stats().ejected_packets == 20000);
    });
}
