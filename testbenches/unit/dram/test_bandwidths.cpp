// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/characterisation/memory_run.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using hw::dram::Device;
using hw::dram::read_device;

namespace {

/// With every command checked.
MemoryFigures run(const Device& device, const char* pattern, std::uint64_t request_bytes, double read_share = 1,
                  std::uint64_t requests = 200000) {
    MemoryTraffic traffic;
    traffic.pattern = pattern;
    traffic.request_bytes = request_bytes;
    traffic.requests = requests;
    traffic.read_share = read_share;
    MemoryRunOptions options;
    options.check_timing = true;
    return run_memory(device, traffic, options);
}

}  // namespace

TEST_CASE("sequential reads reach 90 % of the peak less refresh", "[dram][bandwidth]") {
    for (const char* name : {"hbm2", "hbm2_2400", "ddr4", "lpddr4"}) {
        CAPTURE(name);
        const Device device = read_device(name);
        const MemoryFigures figures = run(device, "sequential", 64);
        const double max = device.peak_gb_per_s() * (1 - device.refresh_share());
        CHECK(figures.achieved_gb_per_s > 0.9 * max);
        CHECK(figures.achieved_gb_per_s < device.peak_gb_per_s());
        CHECK(figures.row_hit_rate > 0.9);
    }
}

TEST_CASE("random reads of one burst get what tFAW, tRRD, tRC and the command bus leave, less refresh",
          "[dram][bandwidth]") {
    for (const char* name : {"hbm2", "hbm2_2400", "ddr4", "lpddr4"}) {
        CAPTURE(name);
        const Device device = read_device(name);
        const MemoryFigures figures = run(device, "random", device.geometry.burst_bytes);
        const double bound = hw::dram::activation_bounds(device).min() * (1 - device.refresh_share());
        // LPDDR4's long bursts and refreshes leave its eight banks less even.
        CHECK(figures.achieved_gb_per_s == Approx(bound).epsilon(device.standard == "LPDDR4" ? 0.06 : 0.05));
        CHECK(figures.achieved_gb_per_s < bound * 1.005);
        CHECK(figures.row_hit_rate < 0.01);
    }
}

TEST_CASE("the figures are those of other simulators with the same timing, within 10 %", "[dram][bandwidth]") {
    struct Peer {
        const char *device, *mapping, *pattern;
        unsigned request_bytes;
        double gb_per_s;
        double read_share = 1;
    };
    const Peer peers[] = {
        // DRAMsim3, HBM2_8Gb_x128, 8 channels.
        {"hbm2_2000", "", "sequential", 64, 235.6},
        {"hbm2_2000", "", "random", 64, 62.1},
        {"hbm2_2000", "", "sequential", 64, 201.5, 0.5},
        {"hbm2_2000", "", "random", 64, 60.4, 0.5},
        {"hbm2_2000", "", "alternating", 64, 200.2},
        // Ramulator 2.1, HBM2 at 2000 Mb/s, 8 channels. One burst of 32 bytes a random request, then two of one row.
        {"hbm2_2000_ramulator2", "", "sequential", 64, 223.1},
        {"hbm2_2000_ramulator2", "", "random", 32, 74.2},
        {"hbm2_2000_ramulator2", "row-bank-bankgroup-pseudochannel-column:4-channel-column:1", "sequential", 64, 129.4},
        {"hbm2_2000_ramulator2", "row-bank-bankgroup-pseudochannel-column:4-channel-column:1", "random", 64, 129.4},
        // DRAMSys 5.1, HBM2, one channel.
        {"hbm2_2000_dramsys", "", "sequential", 32, 29.92},
        {"hbm2_2000_dramsys", "", "random", 32, 10.03},
        {"hbm2_2000_dramsys", "pseudochannel-bankgroup-bank-row-column", "sequential", 32, 7.73},
        {"hbm2_2000_dramsys", "pseudochannel-bankgroup-bank-row-column", "random", 32, 9.58},
    };
    for (const Peer& peer : peers) {
        CAPTURE(peer.device, peer.mapping, peer.pattern);
        std::map<std::string, std::string> settings;
        if (*peer.mapping != 0) settings["controller.mapping"] = peer.mapping;
        const MemoryFigures figures =
            run(read_device(peer.device, settings), peer.pattern, peer.request_bytes, peer.read_share, 100000);
        CHECK(figures.achieved_gb_per_s == Approx(peer.gb_per_s).epsilon(0.1));
    }
    // DRAMsim3 has 166.8 GB/s: 8 more entries a bank behind its queues of 32 save row changes when the bus turns.
    CHECK(run(read_device("hbm2_2000"), "copy", 64, 1, 100000).achieved_gb_per_s == Approx(166.8).epsilon(0.12));
}

TEST_CASE("turning between reads and writes costs bandwidth, and less the more are served at a time",
          "[dram][bandwidth]") {
    const MemoryFigures reads = run(read_device("hbm2"), "sequential", 64),
                        mixed = run(read_device("hbm2"), "sequential", 64, 0.5);
    CHECK(mixed.achieved_gb_per_s < reads.achieved_gb_per_s);
    const MemoryFigures hasty =
        run(read_device("hbm2", {{"controller.write_high_bursts", "2"}, {"controller.write_low_bursts", "1"}}),
            "sequential", 64, 0.5);
    CHECK(hasty.achieved_gb_per_s < 0.8 * mixed.achieved_gb_per_s);
    CHECK(hasty.turnarounds > 2 * mixed.turnarounds);
}

TEST_CASE("the mapping alone moves the bandwidth several times", "[dram][bandwidth]") {
    const MemoryFigures good = run(read_device("ddr4"), "sequential", 64);
    const MemoryFigures bad =
        run(read_device("ddr4", {{"controller.mapping", "column-bankgroup-bank-row"}}), "sequential", 64, 1, 20000);
    CHECK(good.achieved_gb_per_s > 4 * bad.achieved_gb_per_s);
    CHECK(bad.row_hit_rate < 0.01);
}

TEST_CASE("latency grows with the load", "[dram][bandwidth]") {
    const Device device = read_device("hbm2");
    MemoryTraffic traffic;
    traffic.pattern = "random";
    traffic.requests = 50000;
    double before = 0;
    for (const double load : {1.0, 30.0, 50.0, 58.0}) {
        traffic.load_gb_per_s = load;
        const MemoryFigures figures = run_memory(device, traffic, {});
        CHECK(figures.achieved_gb_per_s == Approx(load).epsilon(0.02));
        CHECK(figures.latency_ns > before);
        before = figures.latency_ns;
        // Most banks have not been used since the last refresh, which closed their rows.
        if (load == 1.0) CHECK(figures.latency_p50_ns == Approx(14 + 14 + 2));
    }
}

TEST_CASE("the fast model agrees on streams of pieces that are large", "[dram][bandwidth]") {
    for (const char* name : {"hbm2", "hbm2_2400", "ddr4", "lpddr4"}) {
        CAPTURE(name);
        const Device device = read_device(name);
        MemoryTraffic traffic;
        traffic.request_bytes = 16384;
        traffic.requests = 5000;
        MemoryRunOptions fast;
        fast.impl = "bandwidth";
        const double bank = run_memory(device, traffic, {}).achieved_gb_per_s;
        CHECK(run_memory(device, traffic, fast).achieved_gb_per_s == Approx(bank).epsilon(0.05));
    }
}

TEST_CASE("the same traffic gives the same figures, another seed others", "[dram][bandwidth]") {
    const Device device = read_device("hbm2");
    MemoryTraffic traffic;
    traffic.pattern = "random";
    traffic.read_share = 0.6;
    traffic.requests = 5000;
    const double first = run_memory(device, traffic, {}).time_ns;
    CHECK(run_memory(device, traffic, {}).time_ns == first);
    traffic.seed = 2;
    CHECK(run_memory(device, traffic, {}).time_ns != first);
}
