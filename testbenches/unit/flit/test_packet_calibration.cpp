// The packet-level model against the flits: the same traffic, mean latencies within the bounds that docs/models/noc.md
// states, up to 70 % of the load at which the flits saturate.

#include "switchyard/platform/noc/noc_run.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/flit/flit_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

struct Point {
    bool torus;
    unsigned size, vcs, packet_flits;
    double rate;  ///< at most 70 % of saturation
};

}  // namespace

TEST_CASE("flit: packets that reserve links have latencies within 10 % below 70 % of saturation",
          "[flit][calibration]") {
    const Point p = GENERATE(Point{true, 8, 4, 1, .20}, Point{true, 8, 4, 1, .35}, Point{true, 8, 4, 8, .10},
                             Point{true, 8, 4, 8, .20}, Point{true, 8, 4, 8, .35}, Point{true, 8, 2, 8, .10},
                             Point{true, 8, 2, 8, .20}, Point{true, 8, 2, 1, .10}, Point{true, 8, 2, 1, .175},
                             Point{true, 12, 2, 1, .11}, Point{true, 12, 4, 1, .25}, Point{true, 12, 4, 8, .20},
                             Point{false, 8, 4, 1, .25}, Point{false, 8, 4, 8, .15}, Point{false, 8, 4, 8, .25});
    in_child([&] {
        platform::NocRun run;
        run.network = grid(p.torus, p.size, p.size, p.vcs);
        run.network.link_cycles = p.torus ? 2 : 1;
        run.rate = p.rate;
        run.packet_flits = p.packet_flits;
        run.cycles = 5000;
        run.warmup_cycles = 2000;
        const double flits = platform::run_flit_network(run).mean_latency();
        const double packets = platform::run_packet_network(run).mean_latency();
        INFO((p.torus ? "torus " : "mesh ") << p.size << ", " << p.vcs << " VCs, " << p.packet_flits << " flits, load "
                                            << p.rate << ": flits " << flits << ", packets " << packets);
        CHECK(packets == Approx(flits).epsilon(0.10));
    });
}
