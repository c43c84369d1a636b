// SPDX-License-Identifier: Apache-2.0
#include <Vmulticast_copy_mutants.h>
#include <Vroute_computation_mutants.h>
#include <Vstage_timer_mutants.h>

#include "switchyard/testbenches/cosim/mutation/mutation_test.h"
#include "switchyard/testbenches/cosim/router/block_benches.h"
#include "switchyard/testbenches/cosim/router/buffer_bench.h"
#include "switchyard/testbenches/cosim/router/regression.h"
#include "switchyard/testbenches/cosim/seed.h"

using namespace switchyard;
using namespace switchyard::testing;
using hw::flit::Config;
using hw::flit::ExternalRouter;

namespace switchyard::testing {

std::unique_ptr<ExternalRouter> make_router_mutants_fast(const Config& network, unsigned router, unsigned ports);
std::unique_ptr<ExternalRouter> make_router_mutants_slow(const Config& network, unsigned router, unsigned ports);

}  // namespace switchyard::testing

namespace {

/// Of the file's block alone.
std::string block_difference(const std::string& file) {
    if (file == "stage_timer.sv") return TimerBench<Vstage_timer_mutants>().difference(random_seed());
    if (file == "route_computation.sv") return route_difference<Vroute_computation_mutants>(random_seed());
    if (file == "multicast_copy.sv") return copy_difference<Vmulticast_copy_mutants>(random_seed());
    return "";
}

/// A router that has nothing to do is not simulated: packets arrive as in the model nevertheless.
std::string idle_difference(const std::vector<RouterLoad>& loads, const MakeRouter& make) {
    if (make(loads[2].network, 0, 5)->busy()) return "busy behind a reset";
    const RouterRun flit = run_routers(
        loads[2], [](unsigned) { return RouterImpl::flit; }, make);
    const RouterRun rtl = run_routers(
        loads[2], [](unsigned) { return RouterImpl::rtl; }, make);
    if (!rtl.difference.empty()) return rtl.difference;
    return rtl.arrivals == flit.arrivals ? "" : "packets arrive in other cycles";
}

std::string regression(const Mutant& mutant) {
    if (std::string found = block_difference(mutant.file); !found.empty()) return found;
    Config fast;
    fast.columns = 3;
    fast.rows = 2;
    fast.routing_cycles = 0;
    fast.vcs = 2;
    fast.buffer_flits = 3;
    const std::vector<RouterLoad> loads = router_loads(fast, 5, 2, 3, 300, random_seed());
    if (std::string found = router_regression(loads, &make_router_mutants_fast); !found.empty()) return found;
    if (std::string found = idle_difference(loads, &make_router_mutants_fast); !found.empty()) return found;
    Config slow;
    slow.columns = 2;
    slow.rows = 3;
    slow.routing_cycles = slow.switch_alloc_cycles = slow.switch_cycles = 2;
    slow.vc_alloc_cycles = 3;
    if (std::string found =
            router_regression(router_loads(slow, 6, 2, 4, 300, random_seed()), &make_router_mutants_slow);
        !found.empty())
        return found;
    return buffer_difference(fast, &make_router_mutants_fast);
}

}  // namespace

TEST_CASE("router mutants: a sample", "[mutants]") {
    check_mutants("router", MUTANTS, 40, &regression);
}

TEST_CASE("router mutants: all", "[.all-mutants]") {
    check_mutants("router", MUTANTS, 1, &regression);
}
