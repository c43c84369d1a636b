// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/unit/network/network_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

// All on default links: 192 bytes a cycle, header 16, so a payload of 192 * n - 16 bytes takes n cycles.
namespace {
constexpr std::uint64_t cycles_of_payload(std::uint64_t cycles) {
    return 192 * cycles - 16;
}
}  // namespace

SIM_TEST("packets of one source follow each other without a gap", "[noc]") {
    NetworkBench bench(noc(4, 4));
    bench.run([&] {
        const std::uint64_t first = bench.ends.send(0, {2}, cycles_of_payload(20));
        CHECK(bench.ends.send(0, {2}, cycles_of_payload(20)) == first + 20);
        CHECK(bench.ends.send(0, {2}, cycles_of_payload(7)) == first + 27);
    });
}

SIM_TEST("packets that meet on a link wait for it and for nothing else", "[noc]") {
    NetworkBench bench(noc(8, 1));
    bench.run([&] {
        const auto idle = [&](Endpoint from, Endpoint to) {
            return bench.torus.zero_load_cycles(from, to, cycles_of_payload(50));
        };
        CHECK(bench.ends.send(0, {2}, cycles_of_payload(50)) == idle(0, 2));
        // Its head reaches the link from 1 to 2 a hop (5 cycles) before the first packet's, and 5 of its flits go
        // first.
        CHECK(bench.ends.send(1, {3}, cycles_of_payload(50)) == idle(1, 3) + 50);
        CHECK(bench.ends.send(4, {5}, cycles_of_payload(50)) == idle(4, 5));
        CHECK(bench.ends.send(2, {1}, cycles_of_payload(50)) == idle(2, 1));  // the other direction
    });
}

SIM_TEST("a packet takes the gap in front of one that was reserved before it", "[noc]") {
    NetworkBench bench(noc(8, 1, "mesh"));  // with four VCs for each
    bench.run([&] {
        bench.ends.send(0, {3}, cycles_of_payload(50), 0, 100);
        CHECK(bench.ends.send(1, {3}, cycles_of_payload(50)) ==
              bench.torus.zero_load_cycles(1, 3, cycles_of_payload(50)));
        // 100 + 5 until the link from 1 to 2 is taken for 50: 50 flits of 56 go behind the second and before it.
        CHECK(bench.ends.send(1, {2}, cycles_of_payload(56)) ==
              100 + 5 + 50 + bench.torus.zero_load_cycles(1, 2, cycles_of_payload(6)) - 5);
    });
}

SIM_TEST("an endpoint takes no more than its link gives", "[noc]") {
    NetworkBench bench(noc(5, 5));
    bench.run([&] {
        std::uint64_t last = 0;
        for (int round = 0; round < 50; ++round)
            for (Endpoint source = 0; source < 25; ++source)
                last = std::max(last, bench.ends.send(source, {12}, cycles_of_payload(4)));
        const std::uint64_t busy = 50 * 25 * 4;
        CHECK(bench.torus.link(12, hw::port::kLocal).busy_cycles == busy);
        CHECK(last >= 1 + 5 + busy);
        // The first comes from the endpoint itself: injection link, router, link. Heads from 1 to 4 hops away come 5
        // cycles apart, so packets of 4 leave one cycle unused before each of these times; then there is no gap.
        CHECK(last <= 1 + 5 + busy + 4);
    });
}

SIM_TEST("a small packet does not overtake a large one of the same flow", "[noc]") {
    NetworkBench bench(noc(8, 1, "mesh"));
    bench.run([&] {
        // Leaves a gap of 10 cycles on the link from 1 to 2, which only the small packet fits into.
        bench.ends.send(1, {2}, cycles_of_payload(30), 0, 0);
        bench.ends.send(1, {2}, cycles_of_payload(30), 0, 40);
        const std::uint64_t large = bench.ends.send(0, {3}, cycles_of_payload(15), 1);
        const std::uint64_t small = bench.ends.send(0, {3}, 1, 2);
        CHECK(small > large);
        // Of another flow it does.
        CHECK(bench.ends.send(0, {2}, 1, 3) < large);
    });
}

SIM_TEST("several endpoints share a router, each with links of its own", "[noc]") {
    NetworkBench bench(noc(2, 2), {0, 0, 0, 3});
    bench.run([&] {
        CHECK(bench.ends.send(0, {1}, 1000) == bench.torus.zero_load_cycles(0, 1, 1000));
        CHECK(bench.ends.send(1, {2}, 1000) == bench.torus.zero_load_cycles(1, 2, 1000));
        CHECK(bench.ends.send(2, {0}, 1000) == bench.torus.zero_load_cycles(2, 0, 1000));
        CHECK(bench.ends.send(3, {3}, 1000) == bench.torus.zero_load_cycles(3, 3, 1000));
        CHECK(bench.torus.stats().link_packets == 0);
    });
}
