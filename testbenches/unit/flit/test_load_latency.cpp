// SPDX-License-Identifier: Apache-2.0
// Load and latency against BookSim 2 (github.com/booksim/booksim2, 28f43299), which was run with its default router:
// one cycle each for routing, VC allocation, switch allocation and switch traversal, 8-flit buffers, dim_order_torus,
// links of two cycles, 8x8 nodes. Its figures are the average packet latency from generation to the last flit.

#include "switchyard/platform/characterisation/noc_run.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

platform::NocMeasurement measure(unsigned vcs, unsigned packet_flits, double rate, std::uint64_t cycles = 8000,
                                 const std::string& traffic = "uniform") {
    platform::NocRun run;
    run.network = grid(true, 8, 8, vcs);
    run.network.link_cycles = 2;
    run.traffic = traffic;
    run.rate = rate;
    run.packet_flits = packet_flits;
    run.cycles = cycles;
    run.warmup_cycles = cycles / 2;
    return platform::run_flit_network(run);
}

struct PublishedPoint {
    unsigned vcs, packet_flits;
    double rate, booksim_cycles;
};

void check_latency(const PublishedPoint& p) {
    const platform::NocMeasurement measured = measure(p.vcs, p.packet_flits, p.rate);
    CAPTURE(p.vcs, p.packet_flits, p.rate);
    CHECK(measured.arrived() == measured.generated);
    CHECK(measured.mean_latency() == Approx(p.booksim_cycles).epsilon(0.03));
}

struct SaturationPoint {
    unsigned vcs, packet_flits;
    double stable, unstable;  ///< flits an endpoint and cycle
};

void check_saturation(const SaturationPoint& p) {
    CAPTURE(p.vcs, p.packet_flits);
    const auto accepted = [](const platform::NocMeasurement& m) {
        return static_cast<double>(m.accepted_flits) / static_cast<double>(m.offered_flits);
    };
    const platform::NocMeasurement below = measure(p.vcs, p.packet_flits, p.stable, 6000);
    CHECK(accepted(below) == Approx(1).epsilon(0.02));
    CHECK(below.mean_latency() < 150);
    CHECK(accepted(measure(p.vcs, p.packet_flits, p.unstable, 6000)) < 0.95);
}

}  // namespace

TEST_CASE("flit: latency is BookSim 2's below saturation", "[flit]") {
    check_latency(GENERATE(PublishedPoint{2, 1, .10, 32.3}, PublishedPoint{2, 1, .20, 36.1},
                           PublishedPoint{2, 8, .20, 45.1}, PublishedPoint{4, 1, .10, 31.3},
                           PublishedPoint{4, 1, .45, 38.3}, PublishedPoint{4, 8, .10, 39.9},
                           PublishedPoint{4, 8, .30, 47.6}, PublishedPoint{4, 8, .45, 61.7}));
}

TEST_CASE("flit: latency is BookSim 2's below saturation, further loads", "[.ci-long][flit]") {
    check_latency(GENERATE(PublishedPoint{2, 1, .01, 31.3}, PublishedPoint{2, 8, .01, 38.1},
                           PublishedPoint{2, 8, .10, 40.8}, PublishedPoint{4, 1, .01, 31.2},
                           PublishedPoint{4, 1, .20, 32.1}, PublishedPoint{4, 1, .30, 33.2},
                           PublishedPoint{4, 1, .40, 35.7}, PublishedPoint{4, 8, .01, 38.1},
                           PublishedPoint{4, 8, .20, 43.1}, PublishedPoint{4, 8, .40, 54.9}));
}

// BookSim 2's last stable load, in steps of .05, and the first unstable one.
TEST_CASE("flit: saturates where BookSim 2 does", "[flit]") {
    check_saturation(GENERATE(SaturationPoint{2, 1, .25, .30}, SaturationPoint{4, 8, .50, .60}));
}

TEST_CASE("flit: saturates where BookSim 2 does, further lengths", "[.ci-long][flit]") {
    check_saturation(GENERATE(SaturationPoint{2, 8, .30, .40}, SaturationPoint{4, 1, .50, .60}));
}

TEST_CASE("flit: transpose traffic on a torus has BookSim 2's latency, up to the edge", "[flit]") {
    // Every row and column has a flow whose directions are equally long: on one of them alone a link is full at .25.
    const auto [rate, booksim_cycles] = GENERATE(std::pair{.15, 43.8}, std::pair{.20, 50.4});
    CHECK(measure(4, 8, rate, 20000, "transpose").mean_latency() == Approx(booksim_cycles).epsilon(0.03));
    const platform::NocMeasurement edge = measure(4, 8, .25, 20000, "transpose");
    CHECK(edge.arrived() == edge.generated);
    CHECK(static_cast<double>(edge.accepted_flits) > 0.98 * static_cast<double>(edge.offered_flits));
    CHECK(edge.mean_latency() < 136);  // BookSim 2: 121 to 136, by its seed
}
