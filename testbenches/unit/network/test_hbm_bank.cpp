// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "switchyard/testbenches/unit/network/hbm_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

hw::HbmConfig with_impl(const char* impl, hw::HbmConfig config = one_interface()) {
    config.impl = impl;
    config.device = hw::HbmConfig{}.device;
    config.check_timing = true;
    return config;
}

/// Bytes a cycle of all packets, until the last has arrived.
double achieved(const HbmBench& bench) {
    double bytes = 0, last = 0;
    for (const Arrival& arrival : bench.ends.arrivals) {
        bytes += static_cast<double>(arrival.payload_bytes);
        last = std::max(last, static_cast<double>(arrival.cycle));
    }
    return bytes / last;
}

std::vector<std::uint8_t> counting_bytes(std::size_t count, std::uint8_t first) {
    std::vector<std::uint8_t> bytes(count);
    std::iota(bytes.begin(), bytes.end(), first);
    return bytes;
}

}  // namespace

TEST_CASE("both models answer alike, but for the time", "[hbm][bank]") {
    for (const char* impl : {"bandwidth", "bank"}) {
        CAPTURE(impl);
        in_child([&] {
            hw::HbmConfig config = with_impl(impl);
            config.max_packet_bytes = 4096;
            HbmBench bench(config);
            const auto older = counting_bytes(6000, 1), newer = counting_bytes(6000, 99);
            std::mt19937_64 random(3);
            std::map<std::uint32_t, std::uint64_t> wanted;
            bench.run([&] {
                bench.write(5000, older.size(), 1, 0, older);
                bench.read(5000, older.size(), 2, 10, true);
                bench.write(5000, newer.size(), 3, 11, newer);
                bench.read(5000, newer.size(), 4, 12, true);
                for (std::uint32_t tag = 10; tag < 300; ++tag) {
                    const std::uint64_t bytes = 1 + random() % 40000;
                    const std::uint64_t address = 10000 + random() % (1 << 24);
                    if (random() % 3 == 0) {
                        bench.write(address, bytes, tag, random() % 1000);
                        wanted[tag] = 0;
                    } else {
                        bench.read(address, bytes, tag, random() % 1000);
                        wanted[tag] = bytes;
                    }
                    if (random() % 8 == 0) bench.ends.wait_cycles(random() % 3000);
                }
            });
            std::map<std::uint32_t, std::uint64_t> seen, next_address;
            std::map<std::uint32_t, std::vector<std::uint8_t>> values;
            for (const Arrival& arrival : bench.ends.arrivals) {
                seen[arrival.tag] += arrival.payload_bytes;
                CHECK(arrival.payload_bytes <= 4096);
                // The packets of a read come in order of their addresses.
                if (next_address.count(arrival.tag) > 0) CHECK(arrival.address == next_address[arrival.tag]);
                next_address[arrival.tag] = arrival.address + arrival.payload_bytes;
                values[arrival.tag].insert(values[arrival.tag].end(), arrival.values.begin(), arrival.values.end());
            }
            CHECK(values[2] == older);
            CHECK(values[4] == newer);
            for (const auto& [tag, bytes] : wanted) {
                CAPTURE(tag);
                REQUIRE(seen.count(tag) == 1);
                CHECK(seen[tag] == bytes);
            }
            CHECK(bench.hbm.stats().requests == 294);
        });
    }
}

SIM_TEST("a small read takes tRCD, tCL and its bursts", "[hbm][bank]") {
    HbmBench bench(with_impl("bank"));
    const hw::dram::Timing timing = hw::interface_device(bench.config).timing;
    bench.run([&] { bench.read(0, 32, 0, 100); });
    REQUIRE(bench.ends.arrivals.size() == 1);
    const double ns = timing.ns(timing.trcd_read_cycles + timing.tcl_cycles + timing.burst_cycles);
    CHECK(static_cast<double>(bench.ends.arrivals[0].cycle) ==
          Approx(100 + ns).margin(2));  // whole cycles of both clocks
}

SIM_TEST("a stream gets 90 % of the bandwidth less refresh", "[hbm][bank]") {
    HbmBench bench(with_impl("bank"));
    bench.run([&] { bench.read(0, 8 << 20); });
    const double sustained = 76.8 * (1 - hw::interface_device(bench.config).refresh_share());
    CHECK(achieved(bench) > 0.9 * sustained);
    CHECK(achieved(bench) < sustained * 1.01);
    const double busy = bench.hbm.stats().busy_cycles / static_cast<double>(bench.ends.now());
    CHECK(busy > 0.9);
    CHECK(busy <= 1);
}

SIM_TEST("random reads of one burst each open a row each", "[hbm][bank]") {
    HbmBench bench(with_impl("bank"));
    std::mt19937_64 random(1);
    bench.run([&] {
        for (std::uint32_t i = 0; i < 10000; ++i) bench.read(random() % (bench.config.region_bytes / 32) * 32, 32, i);
    });
    const hw::dram::Device device = hw::interface_device(bench.config);
    const double bound = hw::dram::activation_bounds(device).min() * (1 - device.refresh_share());
    CHECK(achieved(bench) == Approx(bound).epsilon(0.1));
    CHECK(bench.registry.sum("hbm", "activates") >= 9900);
    CHECK(bench.registry.sum("hbm", "row_hits") < 100);
}

TEST_CASE("a small request does not wait until large ones are through", "[hbm][bank]") {
    for (const unsigned others : {1u, 2u, 8u}) {
        CAPTURE(others);
        in_child([&] {
            HbmBench bench(with_impl("bank"));
            bench.run([&] {
                for (unsigned i = 0; i < others; ++i) bench.read(i << 20, 1 << 20, i);
                bench.read(20 << 20, 64, 100, 5000);
            });
            std::uint64_t small = 0, first = ~0ull;
            for (const Arrival& arrival : bench.ends.arrivals) {
                if (arrival.tag == 100) small = arrival.cycle;
            }
            std::map<std::uint32_t, std::uint64_t> last;
            for (const Arrival& arrival : bench.ends.arrivals) last[arrival.tag] = arrival.cycle;
            for (unsigned i = 0; i < others; ++i) first = std::min(first, last[i]);
            const hw::dram::Device device = hw::interface_device(bench.config);
            const double turn =
                2 * static_cast<double>(hw::MemoryInterface::lookahead_bytes(bench.config, &device)) / 70;
            CHECK(static_cast<double>(small) < 5000 + others * turn + 1000);
            CHECK(small < first);
        });
    }
}

TEST_CASE("a configuration that the device contradicts is refused", "[hbm][bank]") {
    hw::HbmConfig config = with_impl("bank");
    CHECK(hw::validation_error(config).empty());
    config.pseudo_channel_gb_per_s = 16;
    CHECK(hw::validation_error(config) == "pseudo_channel_gb_per_s: expected 19.2, as device hbm2_2400 has, found 16");
    config = with_impl("bank");
    config.burst_bytes = 64;
    CHECK_THAT(hw::validation_error(config),
               ContainsSubstring("burst_bytes: expected 32, as device hbm2_2400 has, found "));
    config = with_impl("bank");
    config.region_bytes = 1ull << 40;
    CHECK_THAT(hw::validation_error(config), ContainsSubstring("found 1099511627776"));
    config = with_impl("bank");
    config.pseudo_channels_per_interface = 3;
    CHECK_THAT(hw::validation_error(config), ContainsSubstring("of whole channels, which have 2, found "));
    config = with_impl("bank");
    config.mapping = "row";
    CHECK_THAT(hw::validation_error(config),
               ContainsSubstring("device: hbm2_2400: controller.mapping: field channel:"));
    config = with_impl("bank");
    config.device = "sram";
    CHECK_THAT(hw::validation_error(config), ContainsSubstring("device: sram: expected a file or one of "));
}
