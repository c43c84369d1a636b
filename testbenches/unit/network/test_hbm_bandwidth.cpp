// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "switchyard/testbenches/unit/network/hbm_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// Bytes a cycle of what has arrived, up to the last arrival; fails if it was ever more than the pins give.
double achieved(const HbmBench& bench, unsigned interfaces) {
    const double peak = bench.config.peak_bytes_per_cycle() * interfaces;
    double bytes = 0;
    std::uint64_t last = 0;
    for (const Arrival& arrival : bench.ends.arrivals) {
        bytes += static_cast<double>(arrival.payload_bytes);
        last = std::max(last, arrival.cycle);
        REQUIRE(bytes <= peak * static_cast<double>(last));
    }
    return bytes / static_cast<double>(last);
}

}  // namespace

SIM_TEST("a sequential stream gets the bandwidth less the refresh share", "[hbm]") {
    HbmBench bench(one_interface());
    bench.run([&] { bench.read(0, 8 << 20); });
    const std::size_t packets = (8 << 20) / bench.config.max_packet_bytes;
    CHECK(bench.ends.arrivals.size() == packets);
    CHECK(achieved(bench, 1) == Approx(kSustained).epsilon(0.002));  // the latency of the first packet
    CHECK(bench.hbm.stats().busy_cycles == Approx((8 << 20) / kSustained).epsilon(1e-6));
    // One event a packet, one for the arrival of the request, and the start.
    CHECK(sc_core::sc_delta_count() <= packets + 3);
}

SIM_TEST("many requests share an interface and lose nothing", "[hbm]") {
    HbmBench bench(one_interface());
    bench.run([&] {
        for (std::uint32_t i = 0; i < 4096; ++i) {
            bench.read(std::uint64_t{i} * 2048, 1024, i);
            bench.write(std::uint64_t{i} * 2048 + 1024, 1024, i);
        }
    });
    CHECK(bench.ends.arrivals.size() == 8192);
    CHECK(bench.hbm.stats().read_bytes + bench.hbm.stats().write_bytes == 8u << 20);
    CHECK(bench.hbm.stats().busy_cycles == Approx((8 << 20) / kSustained).epsilon(1e-3));
    CHECK(bench.hbm.stats().busy_cycles <= static_cast<double>(bench.ends.now()));
}

SIM_TEST("random small reads: whole bursts at full speed where banks cost nothing", "[hbm]") {
    HbmBench bench(one_interface());
    std::mt19937_64 random(1);
    bench.run([&] {
        for (std::uint32_t i = 0; i < 20000; ++i) bench.read(random() % (bench.config.region_bytes / 64) * 64, 64, i);
    });
    // The channels' shares differ: 5000 requests each, give or take 61 (one standard deviation).
    CHECK(achieved(bench, 1) >= 0.96 * kSustained);
}

SIM_TEST("reads of less than a burst cost the burst", "[hbm]") {
    HbmBench bench(one_interface());
    bench.run([&] {
        for (std::uint32_t i = 0; i < 20000; ++i) bench.read(std::uint64_t{i} * 256, 4, i);
    });
    CHECK(achieved(bench, 1) == Approx(kSustained * 4 / 32).epsilon(0.01));
}

SIM_TEST("all interfaces together make 1842 GB/s at the pins", "[hbm]") {
    HbmBench bench;
    CHECK(24 * bench.config.peak_bytes_per_cycle() == Approx(1842).epsilon(0.001));
    bench.run([&] {
        for (unsigned i = 0; i < 24; ++i) bench.read(i * bench.config.region_bytes, 1 << 20, i);
    });
    CHECK(achieved(bench, 24) == Approx(24 * kSustained).epsilon(0.005));
    CHECK(bench.registry.sum("hbm", "read_bytes") == 24.0 * (1 << 20));
    CHECK(bench.registry.sum("hbm", "requests") == 24);
    CHECK(bench.registry.sum("hbm", "peak_bytes_per_cycle") == Approx(24 * 76.8));
    CHECK(bench.registry.sum("hbm.interface_3", "busy_cycles") <= static_cast<double>(bench.ends.now()));
}

SIM_TEST("two requests that arrive out of the order of their calls are served in that of arrival", "[hbm]") {
    HbmBench bench(one_interface());
    bench.run([&] {
        bench.read(0, 4096, 1, 100);
        bench.read(0, 4096, 2, 50);
    });
    REQUIRE(bench.ends.arrivals.size() == 2);
    CHECK(bench.ends.arrivals[0].tag == 2);
    const double service = bench.service_ns(1024), latency = bench.config.read_latency_ns;
    CHECK(bench.ends.arrivals[0].cycle == whole_cycles(50 + service + latency));
    CHECK(bench.ends.arrivals[1].cycle == whole_cycles(50 + 2 * service + latency));
}
