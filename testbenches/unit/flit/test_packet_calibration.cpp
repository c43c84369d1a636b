// SPDX-License-Identifier: Apache-2.0
// The packet-level model against the flits: the same traffic, mean latencies within the bound that docs/models/noc.md
// states wherever the model says of itself that it was validated.

#include <string>

#include "switchyard/platform/characterisation/noc_run.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

struct Point {
    bool torus;
    unsigned size, vcs, packet_flits;
    double rate;
    const char* traffic = "uniform";
};

platform::NocRun run_of(const Point& p) {
    platform::NocRun run;
    run.network = grid(p.torus, p.size, p.size, p.vcs);
    run.network.link_cycles = p.torus ? 2 : 1;
    run.traffic = p.traffic;
    run.rate = p.rate;
    run.packet_flits = p.packet_flits;
    run.cycles = 2000;
    run.warmup_cycles = 1000;
    return run;
}

std::string name_of(const Point& p) {
    return std::string(p.traffic) + " on a " + (p.torus ? "torus" : "mesh") + " of " + std::to_string(p.size) + ", " +
           std::to_string(p.vcs) + " VCs, " + std::to_string(p.packet_flits) + " flits, load " + std::to_string(p.rate);
}

/// Where the packet model calls itself validated its latency is the flits', and they are not saturated. `must`: it is
/// to do so here.
void compare(const Point& p, bool must) {
    in_child([&] {
        const platform::NocMeasurement packets = platform::run_packet_network(run_of(p));
        INFO(name_of(p) << ": packets " << packets.mean_latency() << ", slowdown " << platform::packet_slowdown(packets)
                        << ", VCs busy " << packets.max_vc_busy);
        if (must) CHECK(platform::packets_validated(packets));
        if (!platform::packets_validated(packets)) return;
        const platform::NocMeasurement flits = platform::run_flit_network(run_of(p));
        CHECK(packets.mean_latency() == Approx(flits.mean_latency()).epsilon(platform::kPacketError));
        CHECK(static_cast<double>(flits.accepted_flits) > 0.95 * static_cast<double>(flits.offered_flits));
    });
}

void compare_on_8x8(unsigned packet_flits) {
    const bool torus = GENERATE(true, false);
    const unsigned vcs = GENERATE(2u, 4u);
    for (const double rate : {.1, .2, .3, .4})
        compare({torus, 8, vcs, packet_flits, rate}, rate <= (vcs == 2 && packet_flits == 1 ? .1 : .2));
}

}  // namespace

TEST_CASE("flit: packets have the flits' latency within 10 % wherever they say so, 8x8", "[flit][calibration]") {
    compare_on_8x8(GENERATE(1u, 8u));
}

TEST_CASE("flit: packets have the flits' latency within 10 % wherever they say so, 8x8, other lengths",
          "[.ci-long][flit][calibration]") {
    compare_on_8x8(GENERATE(2u, 4u, 16u));
}

TEST_CASE("flit: packets have the flits' latency within 10 % wherever they say so, other sizes and traffic",
          "[.ci-long][flit]") {
    const bool torus = GENERATE(true, false);
    const unsigned vcs = GENERATE(2u, 4u), packet_flits = GENERATE(1u, 8u, 16u);
    for (const double rate : {.2, .4, .6}) compare({torus, 4, vcs, packet_flits, rate}, rate <= .2);
    for (const double rate : {.07, .15}) compare({torus, 12, vcs, packet_flits, rate}, rate <= .07);
    for (const char* const traffic : {"transpose", "bitcomp", "tornado", "hotspot"})
        for (const double rate : {.08, .16}) compare({torus, 8, vcs, packet_flits, rate, traffic}, false);
}

TEST_CASE("flit: near saturation packets still have the flits' latency within 10 %", "[flit][calibration]") {
    // 85 to 95 % of the load at which the flits saturate, outside of what is called validated.
    const Point p = GENERATE(Point{true, 12, 2, 1, .15}, Point{true, 12, 4, 8, .35}, Point{false, 8, 4, 1, .35},
                             Point{false, 8, 2, 8, .30}, Point{false, 8, 4, 8, .35}, Point{false, 8, 2, 1, .25});
    in_child([&] {
        platform::NocRun run = run_of(p);
        run.cycles = 4000;
        const platform::NocMeasurement packets = platform::run_packet_network(run);
        const double flits = platform::run_flit_network(run).mean_latency();
        INFO(name_of(p) << ": flits " << flits << ", packets " << packets.mean_latency());
        CHECK(packets.mean_latency() == Approx(flits).epsilon(0.10));
    });
}

TEST_CASE("flit: packets on a saturated network do not call themselves validated", "[flit][calibration]") {
    const Point p = GENERATE(Point{true, 8, 2, 1, .35}, Point{true, 8, 4, 8, .6}, Point{false, 8, 2, 8, .5},
                             Point{false, 8, 4, 1, .6});
    in_child([&] { CHECK_FALSE(platform::packets_validated(platform::run_packet_network(run_of(p)))); });
}
