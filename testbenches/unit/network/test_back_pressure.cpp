// SPDX-License-Identifier: Apache-2.0
// Buffers that end, and virtual channels that are taken: what the packet model knows of the flits'
// (hw/noc/transit.cpp).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr std::uint64_t flits(std::uint64_t count) {
    return 192 * count - 16;
}

/// A row of six routers with one VC.
hw::NocConfig row(const std::string& impl, unsigned buffer_flits = 8) {
    hw::NocConfig config = noc(6, 1, "mesh", impl);
    config.vcs = 1;
    config.buffer_flits = buffer_flits;
    return config;
}

/// Cycle in which the packet `tag` arrives at `at`.
std::uint64_t arrival(const NetworkBench& bench, std::uint32_t tag, Endpoint at) {
    for (const Arrival& arrival : bench.ends.arrivals)
        if (arrival.tag == tag && arrival.at == at) return arrival.cycle;
    return 0;
}

}  // namespace

// Packet 0 has the link from 3 to 4 in the cycles 5 to 104. Packet 1's head follows it into the buffer behind, which
// packet 0's tail leaves in 109, and needs two more cycles there for route and VC, until 112. So packet 1 stands still
// on its way from 1 to 4 until then.
SIM_TEST("a packet that is longer than a buffer holds the VCs behind it while it waits", "[noc]") {
    NetworkBench packets(row("packet")), roomy(row("packet", 1024), NetworkBench::one_each(row("packet")), "roomy");
    NetworkBench flit_level(row("flit"), NetworkBench::one_each(row("flit")), "flit_level");
    const auto send = [](NetworkBench& bench) {
        bench.ends.send(3, {4}, flits(100), 0);
        bench.ends.send(1, {4}, flits(50), 1);
        bench.ends.send(0, {2}, flits(5), 2);
    };
    packets.ends.script = [&] { send(packets); };
    roomy.ends.script = [&] { send(roomy); };
    flit_level.run([&] {
        send(flit_level);
        flit_level.ends.wait_cycles(2000);
    });
    // Head in 112, tail 50 flits later, link to the endpoint.
    CHECK(arrival(packets, 1, 4) == 112 + 50 + 1);
    // Packet 1 has 8 flits in the buffer before its head and 8 more in the one before that; its tail leaves the link
    // from 1 to 2 two buffers and the credits' way ahead of its tail on the last link, which is in 157. A cycle later
    // packet 2 has the VC.
    CHECK(arrival(packets, 2, 2) == 147 + 1 + 4 + 5 + 1);
    // Where all of packet 1 fits into the buffer, it is gone after its own 50 cycles.
    CHECK(arrival(roomy, 2, 2) == 57 + 1 + 4 + 5 + 1);
    CHECK(arrival(packets, 1, 4) == arrival(flit_level, 1, 4));
    CHECK(arrival(packets, 2, 2) == arrival(flit_level, 2, 2));
}

SIM_TEST("the copy of a multicast that waits holds up the others", "[noc]") {
    NetworkBench packets(row("packet")), roomy(row("packet", 1024), NetworkBench::one_each(row("packet")), "roomy");
    const std::uint64_t bytes = 12 * flits(4) + flits(2);  // pieces of 4 flits, 50 in all
    const auto send = [&](NetworkBench& bench) {
        bench.ends.send(3, {4}, flits(100), 0);
        bench.ends.send(1, {2, 4}, bytes, 1);
    };
    packets.ends.script = [&] { send(packets); };
    roomy.run([&] { send(roomy); });
    CHECK(arrival(roomy, 1, 2) == roomy.torus.zero_load_cycles(1, 2, bytes));
    CHECK(arrival(packets, 1, 4) == 112 + 50 + 1);
    // The same flits, as far ahead of the slow copy as two buffers and the way allow.
    CHECK(arrival(packets, 1, 2) > 107);
    CHECK(arrival(packets, 1, 2) < arrival(packets, 1, 4));
}

SIM_TEST("a packet that fits a buffer waits without holding up its sender", "[noc]") {
    NetworkBench bench(row("packet"));
    bench.run([&] {
        bench.ends.send(3, {4}, flits(100));
        bench.ends.send(2, {4}, flits(8));
        // Its sender's next packet finds the link from 2 to 1 free. With one VC its head is routed behind the first's
        // tail.
        CHECK(bench.ends.send(2, {1}, flits(8)) == 8 + 2 + bench.torus.zero_load_cycles(2, 1, flits(8)));
    });
}

TEST_CASE("packets and flits take the same links", "[noc]") {
    const auto size = GENERATE(std::pair{4u, 4u}, std::pair{5u, 2u}, std::pair{6u, 4u});
    in_child([&] {
        const hw::NocConfig config = noc(size.first, size.second),
                            flit_level = noc(size.first, size.second, "torus", "flit");
        NetworkBench packets(config), other(flit_level, NetworkBench::one_each(flit_level), "flits");
        const auto send = [&](NetworkBench& bench) {
            const auto count = static_cast<Endpoint>(config.columns * config.rows);
            std::vector<Endpoint> odd;
            for (Endpoint e = 1; e < count; e = static_cast<Endpoint>(e + 2)) odd.push_back(e);
            for (Endpoint from = 0; from < count; ++from) {
                for (Endpoint to = 0; to < count; ++to) bench.ends.send(from, {to}, 100);
                bench.ends.send(from, odd, 100);
            }
            bench.ends.wait_cycles(10000);
        };
        packets.ends.script = [&] { send(packets); };
        other.run([&] { send(other); });
        for (unsigned r = 0; r < config.columns * config.rows; ++r)
            for (unsigned p = 0; p < hw::port::kLocal; ++p)
                if (packets.torus.topology().behind(r, p))
                    REQUIRE(packets.torus.link(r, p).packets == other.torus.link(r, p).packets);
    });
}
