// SPDX-License-Identifier: Apache-2.0
// How many cycles a second of CPU time the flit-level network simulates, beside BookSim 2 (28f43299) with the same
// routers, sizes and loads: `peer_cycles_per_second`, as measured on a machine of the same kind, `times_peer` the
// ratio.

#include <numeric>

#include <benchmark/benchmark.h>

#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/traffic.h"

using namespace switchyard::hw;

namespace {

void run(benchmark::State& state, bool torus, unsigned size, unsigned packet_flits, double rate, double peer) {
    flit::Config config;
    config.torus = torus;
    config.columns = config.rows = size;
    config.link_cycles = torus ? 2 : 1;
    std::vector<unsigned> routers(config.routers());
    std::iota(routers.begin(), routers.end(), 0u);
    flit::FlitNetwork network(config, routers);
    SyntheticTraffic traffic("uniform", size, size, rate, packet_flits, 1);
    const auto cycle = [&] {
        network.begin_cycle();
        traffic.cycle([&](unsigned source, unsigned destination) {
            network.send(source, destination, packet_flits, network.cycle());
        });
        network.end_cycle();
    };
    for (unsigned warmup = 0; warmup < 2000; ++warmup) cycle();
    const std::uint64_t hops = network.stats().hop_flits;
    for (auto _ : state) cycle();
    const auto cycles = static_cast<double>(state.iterations());
    state.counters["cycles_per_second"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
    state.counters["flit_hops_per_second"] =
        benchmark::Counter(static_cast<double>(network.stats().hop_flits - hops), benchmark::Counter::kIsRate);
    state.counters["peer_cycles_per_second"] = peer;
    state.counters["times_peer"] = benchmark::Counter(cycles / peer, benchmark::Counter::kIsRate);
}

}  // namespace

BENCHMARK_CAPTURE(run, torus_12x12_8_flits_load_25, true, 12, 8, 0.25, 4.2e3);
BENCHMARK_CAPTURE(run, torus_8x8_8_flits_load_30, true, 8, 8, 0.30, 12.3e3);
BENCHMARK_CAPTURE(run, torus_8x8_1_flit_load_30, true, 8, 1, 0.30, 8.1e3);
BENCHMARK_CAPTURE(run, mesh_8x8_8_flits_load_08, false, 8, 8, 0.08, 34.0e3);
BENCHMARK_CAPTURE(run, mesh_8x8_8_flits_load_24, false, 8, 8, 0.24, 11.9e3);

/// What Debian's SystemC library calls; our library links it.
extern "C" int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
