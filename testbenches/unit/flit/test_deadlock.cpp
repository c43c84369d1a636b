// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::FlitNetwork;
using hw::flit::NoProgress;

namespace {

/// The watchdog's report, or "" if the cycles passed.
std::string saturate(const Config& config, unsigned cycles) {
    FlitNetwork network(config, one_each(config));
    hw::SyntheticTraffic traffic("uniform", config.columns, config.rows, 0.9, 8, 3);
    try {
        for (unsigned c = 0; c < cycles; ++c) {
            network.begin_cycle();
            traffic.cycle([&](unsigned source, unsigned destination) {
                if (network.queued(source) < 4) network.send(source, destination, 8, c);
            });
            network.end_cycle();
        }
    } catch (const NoProgress& report) {
        return report.what();
    }
    return "";
}

}  // namespace

TEST_CASE("flit: a torus without datelines deadlocks, and the watchdog names the ring", "[flit]") {
    Config config = grid(true, 8, 8, 2);
    config.watchdog_cycles = 500;
    CHECK(saturate(config, 20000) == "");
    config.dateline = false;
    const std::string report = saturate(config, 20000);
    INFO(report);
    CHECK(report.find("no flit has moved for 500 cycles") == 0);
    CHECK(report.find("; ring") != std::string::npos);
    CHECK(report.find(" waits for ") != std::string::npos);
}

TEST_CASE("flit: the watchdog names row and direction of a ring", "[flit]") {
    // Every router of one row sends two to the east: with one VC and no dateline, packets longer than the buffers on
    // their way hold one link and wait for the next, all at once.
    Config config = grid(true, 5, 3, 1);
    config.dateline = false;
    config.watchdog_cycles = 100;
    config.buffer_flits = 4;
    FlitNetwork network(config, one_each(config));
    for (unsigned x = 0; x < 5; ++x) network.send(5 + x, 5 + (x + 2) % 5, 64, x);
    std::string report;
    try {
        for (unsigned c = 0; c < 5000 && !network.idle(); ++c) network.step();
    } catch (const NoProgress& stuck) {
        report = stuck.what();
    }
    INFO(report);
    CHECK(report.find("40 flits in flight") != std::string::npos);
    CHECK(report.find("; ring of row 1, eastward: ") != std::string::npos);
    for (const char* place :
         {"(0,1) from west VC 0 waits for", "(1,1) from west VC 0 waits for", "(2,1) from west VC 0 waits for",
          "(3,1) from west VC 0 waits for", "(4,1) from west VC 0 waits for"})
        CHECK(report.find(place) != std::string::npos);
    CHECK(report.find("column") == std::string::npos);
}

TEST_CASE("flit: an idle network does not bark", "[flit]") {
    Config config = grid(true, 4, 4);
    config.watchdog_cycles = 50;
    FlitNetwork network(config, one_each(config));
    for (unsigned c = 0; c < 500; ++c) network.step();
    network.skip_to(100000);
    network.send(0, 5, 3, 0);
    for (unsigned c = 0; c < 200; ++c) network.step();
    CHECK(network.stats().ejected_flits == 3);
    CHECK(network.idle());
}
