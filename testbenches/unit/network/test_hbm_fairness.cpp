// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "switchyard/testbenches/unit/network/hbm_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

constexpr std::uint64_t kMega = 1 << 20;

/// Cycle of the last packet with each tag.
std::map<std::uint32_t, std::uint64_t> finished(const HbmBench& bench) {
    std::map<std::uint32_t, std::uint64_t> last;
    for (const Arrival& arrival : bench.ends.arrivals) last[arrival.tag] = arrival.cycle;
    return last;
}

/// Within how many cycles a request of 64 bytes is answered while `others` large ones are in flight: what each of them
/// may have on the channels, of which the 64 bytes see one and thus whole pieces of interleaving; service; latency.
std::uint64_t small_bound(const hw::HbmConfig& config, double latency_ns, unsigned others) {
    const double in_flight =
        static_cast<double>(hw::MemoryInterface::lookahead_bytes(config, nullptr) + config.max_packet_bytes);
    const double on_channel = in_flight / config.pseudo_channels_per_interface + config.interleave_bytes;
    return whole_cycles(HbmBench::service_ns(config, others * on_channel + 64) + latency_ns);
}

}  // namespace

TEST_CASE("a small request behind large ones is answered within the bound", "[hbm]") {
    for (const bool write : {false, true}) {
        for (const unsigned others : {1u, 2u, 8u}) {
            CAPTURE(write, others);
            in_child([&] {
                HbmBench bench(one_interface());
                const std::uint64_t bound = small_bound(bench.config, bench.config.read_latency_ns, others);
                const std::uint64_t at[] = {1, 100, 1000, 5000, 14000};
                bench.run([&] {
                    for (unsigned i = 0; i < others; ++i) {
                        if (write)
                            bench.write(i * kMega, kMega, i);
                        else
                            bench.read(i * kMega, kMega, i);
                    }
                    std::uint32_t tag = 100;
                    for (const std::uint64_t cycle : at) bench.read(10 * kMega, 64, tag++, cycle);
                });
                const auto last = finished(bench);
                for (std::uint32_t i = 0; i < 5; ++i) CHECK(last.at(100 + i) <= at[i] + bound);
                CHECK(last.at(0) > 14000);  // all five came while the large ones were in flight
                CHECK(bound < others * 700);
            });
        }
    }
}

TEST_CASE("large streams share evenly", "[hbm]") {
    for (const unsigned streams : {2u, 3u, 7u}) {
        CAPTURE(streams);
        in_child([&] {
            HbmBench bench(one_interface());
            bench.run([&] {
                // Each starts while the others are under way, and nowhere near the begin of a stripe.
                for (unsigned i = 0; i < streams; ++i) bench.read(i * kMega + i * 1000, 512 * 1024, i, i * 37);
            });
            std::map<std::uint32_t, std::uint64_t> bytes;
            const std::uint64_t window = hw::MemoryInterface::lookahead_bytes(bench.config, nullptr);
            for (const Arrival& arrival : bench.ends.arrivals) {
                bytes[arrival.tag] += arrival.payload_bytes;
                if (arrival.cycle < 1000 || arrival.cycle > 7000) continue;
                for (const auto& [tag, got] : bytes) CHECK(got + window + bench.config.max_packet_bytes >= bytes[0]);
            }
            CHECK(static_cast<double>(bench.ends.now()) ==
                  Approx(streams * 512 * 1024 / kSustained + bench.config.read_latency_ns).epsilon(0.002));
        });
    }
}

TEST_CASE("a stream gets the whole bandwidth, whatever the size of its packets", "[hbm]") {
    for (const unsigned packet : {32u, 256u, 1000u, 4096u, 5000u, 65536u}) {
        for (const bool write : {false, true}) {
            CAPTURE(packet, write);
            in_child([&] {
                hw::HbmConfig config = one_interface();
                config.max_packet_bytes = packet;
                HbmBench bench(config);
                const std::uint64_t bytes = 2 * kMega;
                bench.run([&] {
                    if (write)
                        bench.write(800, bytes);
                    else
                        bench.read(800, bytes);
                });
                const double latency = write ? config.write_latency_ns : config.read_latency_ns;
                CHECK(static_cast<double>(bench.ends.now()) ==
                      Approx(static_cast<double>(bytes) / kSustained + latency).epsilon(0.002));
            });
        }
    }
}

SIM_TEST("small requests crowd one pseudo-channel and leave the others to a stream", "[hbm]") {
    HbmBench bench(one_interface());
    const std::uint64_t stripe = 1024, smalls = 4000;
    bench.run([&] {
        for (std::uint32_t i = 0; i < smalls; ++i) bench.read(i * stripe, 64, 1);          // channel 0: 14286 cycles
        for (std::uint32_t i = 0; i < 1000; ++i) bench.read(i * stripe + 256, 768, 2, 1);  // the three others
    });
    // Each request's time is rounded up to the simulator's resolution.
    const auto last = finished(bench);
    CHECK(static_cast<double>(last.at(1)) ==
          Approx(bench.service_ns(smalls * 64.0) + bench.config.read_latency_ns).epsilon(0.0005));
    CHECK(static_cast<double>(last.at(2)) ==
          Approx(1 + bench.service_ns(1000 * 256.0) + bench.config.read_latency_ns).epsilon(0.0005));
}

SIM_TEST("packets of one read stay in order, however its channels are loaded", "[hbm]") {
    hw::HbmConfig config = one_interface();
    config.max_packet_bytes = 96;
    HbmBench bench(config);
    bench.run([&] {
        for (std::uint32_t i = 0; i < 50; ++i) bench.read(std::uint64_t{i} * 1024, 256, 1);  // channel 0
        bench.read(0, 20000, 2);
    });
    std::uint64_t next = 0;
    for (const Arrival& arrival : bench.ends.arrivals) {
        if (arrival.tag != 2) continue;
        CHECK(arrival.address == next);
        next += arrival.payload_bytes;
    }
    CHECK(next == 20000);
}
