// SPDX-License-Identifier: Apache-2.0
// Runs of sy-sim mem whose latencies or distances of requests are long.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include "switchyard/hw/memory/timed_dram.h"
#include "switchyard/platform/characterisation/memory_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using Catch::Matchers::ContainsSubstring;
using platform::MemoryFigures;
using platform::MemoryTraffic;

namespace {

MemoryFigures run(const std::string& impl, const MemoryTraffic& traffic, const std::string& device = "lpddr4_3200") {
    platform::MemoryRunOptions options;
    options.impl = impl;
    return run_memory(hw::dram::read_device(device), traffic, options);
}

}  // namespace

// 200,000 requests of 1 KiB in one queue: the last one waits for the whole run, longer than 2^32 ps.
TEST_CASE("requests that come at once wait in the mean for half of the run, however long it is", "[dram]") {
    const std::string impl = GENERATE(as<std::string>{}, "bandwidth", "bank");
    const std::uint64_t bytes = GENERATE(std::uint64_t{64}, std::uint64_t{4096});
    MemoryTraffic traffic;
    traffic.requests = 100000;
    traffic.request_bytes = bytes;
    traffic.load_gb_per_s = 1e6;
    const MemoryFigures figures = run(impl, traffic);
    CAPTURE(impl, bytes, figures.time_ns);
    if (bytes == 4096) CHECK(figures.time_ns > 4.3e6);
    CHECK(figures.latency_max_ns == Approx(figures.time_ns).epsilon(0.01));
    CHECK(figures.latency_ns == Approx(figures.time_ns / 2).epsilon(0.02));
    CHECK(figures.latency_p50_ns == Approx(figures.time_ns / 2).epsilon(0.02));
}

TEST_CASE("a lower load never takes less time, or is refused", "[dram]") {
    const std::string impl = GENERATE(as<std::string>{}, "bandwidth", "bank");
    MemoryTraffic traffic;
    traffic.requests = 50;
    double before = 0;
    unsigned ran = 0;
    for (int exponent = 300; exponent >= -300; --exponent) {
        if (impl == "bank" && exponent < -3 && exponent > -8) continue;  // seconds of refreshes
        traffic.load_gb_per_s = std::pow(10.0, exponent);
        CAPTURE(impl, exponent);
        double ns = std::numeric_limits<double>::infinity();
        try {
            const MemoryFigures figures = run(impl, traffic);
            ns = figures.time_ns;
            ++ran;
            // From the first request to the last one, and that one's latency.
            if (exponent < 0) CHECK(ns == Approx(49 * 64 / traffic.load_gb_per_s).epsilon(0.01).margin(200));
            CHECK(figures.achieved_gb_per_s <= 1.05 * traffic.load_gb_per_s);
            CHECK(figures.latency_ns > 0);
            CHECK(figures.refresh_share <= 1);
        } catch (const InputError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("expected"));
        }
        CHECK(ns >= before);
        before = ns;
    }
    CHECK(ran > 300);
    CHECK(std::isinf(before));
}

TEST_CASE("times and requests of a trace that the memory cannot have are refused", "[dram]") {
    const std::string path = "/tmp/switchyard_memory_run_" + std::to_string(getpid()) + ".csv";
    const auto trace = [&](const std::string& last) {
        std::ofstream(path) << "time_ns,operation,address,bytes\n0,R,0,64\n" << last << "\n";
        MemoryTraffic traffic;
        traffic.pattern = "trace";
        traffic.trace = path;
        traffic.timed = true;
        return traffic;
    };
    const std::string impl = GENERATE(as<std::string>{}, "bandwidth", "bank");
    CHECK(run(impl, trace("100,W,128,64")).requests == 2);
    for (const char* line : {"1e300,R,0,64", "10,R,18446744073709551615,64", "10,R,0,18446744073709551615",
                             "10,R,64,9223372036854775807", "10,R,1099511627776,64"}) {
        CAPTURE(impl, line);
        CHECK_THROWS_AS(run(impl, trace(line)), InputError);
    }
    std::remove(path.c_str());
}

TEST_CASE("shares of a memory lie in 0 to 1, with reads that waiting writes answer and each kind of refresh",
          "[dram]") {
    const std::string path = "/tmp/switchyard_memory_shares_" + std::to_string(getpid()) + ".csv";
    {
        std::ofstream trace(path);
        trace << "time_ns,operation,address,bytes\n0,W,0,64\n";
        for (unsigned i = 0; i < 5000; ++i) trace << "0,R,0,64\n";
    }
    MemoryTraffic forwarded;
    forwarded.pattern = "trace";
    forwarded.trace = path;
    for (const char* name : {"hbm2_2400", "lpddr4_3200", "ddr4_2400", "gddr6_14"}) {
        const hw::dram::Device device = hw::dram::read_device(name);
        const MemoryFigures figures = run("bank", forwarded, name);
        CAPTURE(name, figures.forwarded_reads);
        CHECK(figures.forwarded_reads > 500);
        CHECK(figures.bus_gb_per_s <= device.peak_gb_per_s());
        CHECK(figures.bus_gb_per_s > 0);
        for (const char* refresh : {"none", "all-bank", "per-bank"}) {
            std::map<std::string, std::string> settings{{"controller.refresh", refresh}};
            if (std::string(refresh) == "per-bank") {
                settings["timing.trefi_bank_cycles"] = "400";
                settings["timing.trfc_bank_cycles"] = "111";
            }
            const hw::dram::Device refreshed = hw::dram::read_device(name, settings);
            MemoryTraffic traffic;
            traffic.requests = 40000;
            const MemoryFigures busy = run_memory(refreshed, traffic, {});
            CAPTURE(refresh);
            CHECK(busy.refresh_share == Approx(refreshed.refresh_share()).epsilon(0.15));
            CHECK(busy.bus_gb_per_s <= refreshed.peak_gb_per_s());
            // Requests to all channels at once, as an interface of the chip sends them.
            hw::TimedDram memory(refreshed, false, 1000);
            memory.submit(0, 4 << 20, false, 0, 7);
            hw::TimedDram::Tick now = 0;
            for (std::uint64_t owner = 0; owner != 7;) {
                now = memory.next(now);
                REQUIRE(now != hw::TimedDram::kNever);
                memory.advance(now);
                memory.pop(now, owner);
            }
            const double ns = static_cast<double>(now) / 1000, share = memory.busy_ns() / ns;
            CHECK(share <= 1);
            CHECK(share >= (4 << 20) / (refreshed.peak_gb_per_s() * ns) * 0.999);
        }
    }
    std::remove(path.c_str());
}
