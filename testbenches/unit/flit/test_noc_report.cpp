// SPDX-License-Identifier: Apache-2.0
// The report of sy-sim noc in short windows, without packets, and at loads at the ends of their range.
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "switchyard/platform/characterisation/noc_run.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using nlohmann::ordered_json;

namespace {

platform::NocRun run_of(const std::string& impl, unsigned size, unsigned packet_flits, double rate,
                        std::uint64_t cycles, std::uint64_t seed = 1) {
    platform::NocRun run;
    run.impl = impl;
    run.network = grid(true, size, size, 4);
    run.network.link_cycles = 2;
    run.packet_flits = packet_flits;
    run.rate = rate;
    run.cycles = cycles;
    run.warmup_cycles = cycles / 2;
    run.seed = seed;
    return run;
}

ordered_json report_of(const platform::NocRun& run) {
    return noc_report(run, run.impl == "packet" ? run_packet_network(run) : run_flit_network(run));
}

void check_shares(const ordered_json& report) {
    double largest = 0;
    for (const auto& [direction, rows] : report.at("link_utilisation").items())
        for (const ordered_json& row : rows)
            for (const ordered_json& use : row) {
                CHECK(use.get<double>() >= 0);
                CHECK(use.get<double>() <= 1);
                if (direction != "ejection") largest = std::max(largest, use.get<double>());
            }
    CHECK(report.at("largest_link_utilisation").get<double>() == largest);
    if (report.contains("against_flits")) {
        CHECK(report.at("against_flits").at("vc_busy").get<double>() >= 0);
        CHECK(report.at("against_flits").at("vc_busy").get<double>() <= 1);
    }
}

}  // namespace

TEST_CASE("a network that all packets pass is not saturated, however short the window", "[flit][noc]") {
    const std::string impl = GENERATE(as<std::string>{}, "flit", "packet");
    const unsigned size = GENERATE(2u, 4u, 7u);
    const std::uint64_t cycles = GENERATE(8u, 50u, 200u, 1000u);
    in_child([&] {
        // A process elaborates SystemC once.
        const unsigned seeds = impl == "packet" ? 1 : 6;
        unsigned packets = 0;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const platform::NocRun run = run_of(impl, size, 8, 0.02, cycles, impl == "packet" ? cycles : seed);
            const ordered_json report = report_of(run);
            INFO(impl << " " << size << " " << cycles << " seed " << run.seed);
            CHECK(report.at("saturated") == false);
            CHECK(report.at("packets").at("generated") == report.at("packets").at("arrived"));
            packets += report.at("packets").at("generated").get<unsigned>();
            for (const ordered_json& latency : report.at("latency_cycles"))
                CHECK(latency.is_null() == (report.at("packets").at("arrived") == 0));
            check_shares(report);
        }
        if (size == 7 && cycles == 1000) CHECK(packets > 50);
    });
}

TEST_CASE("a network that falls behind is saturated", "[flit][noc]") {
    const std::string impl = GENERATE(as<std::string>{}, "flit", "packet");
    const unsigned packet_flits = GENERATE(1u, 8u, 64u);
    const std::uint64_t cycles = GENERATE(500u, 4000u);
    in_child([&] {
        const ordered_json report = report_of(run_of(impl, 8, packet_flits, 0.95, cycles));
        INFO(impl << " " << packet_flits << " " << cycles);
        CHECK(report.at("saturated") == true);
        check_shares(report);
    });
}

TEST_CASE("without packets there is no latency", "[flit][noc]") {
    const std::string impl = GENERATE(as<std::string>{}, "flit", "packet");
    const double rate = GENERATE(0.0, 1e-12, 1e-17);
    in_child([&] {
        const ordered_json report = report_of(run_of(impl, 4, 1, rate, 100));
        CHECK(report.at("saturated") == false);
        CHECK(report.at("packets").at("generated") == 0);
        for (const char* key : {"mean", "p50", "p99", "max"}) CHECK(report.at("latency_cycles").at(key).is_null());
        if (impl == "packet") {
            CHECK(report.at("against_flits").at("slowdown").is_null());
            CHECK(report.at("against_flits").at("validated") == false);
        }
        check_shares(report);
    });
}

TEST_CASE("rates and packets that no run can have are refused", "[flit][noc]") {
    const std::string impl = GENERATE(as<std::string>{}, "flit", "packet");
    const auto refused = [&](unsigned packet_flits, double rate, std::uint64_t cycles) {
        in_child([&] {
            CAPTURE(impl, packet_flits, rate, cycles);
            CHECK_THROWS_AS(report_of(run_of(impl, 4, packet_flits, rate, cycles)), std::invalid_argument);
        });
    };
    for (const double rate : {1e-300, 1e-25, 1.5, 1e300}) refused(1, rate, 100);
    refused(101, 0.1, 100);
    refused(65536, 0.1, 200);
}
