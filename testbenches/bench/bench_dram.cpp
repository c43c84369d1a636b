// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <benchmark/benchmark.h>
#include <systemc>

#include "switchyard/platform/characterisation/memory_run.h"

// Processor time of the bank-level DRAM model at full stream, and of the bandwidth model beside it: requests per
// second.
namespace {

using namespace switchyard;

void read_stream(benchmark::State& state, const char* device_name, const char* pattern, std::uint64_t request_bytes,
                 const char* impl, double read_share) {
    const hw::dram::Device device = hw::dram::read_device(device_name);
    platform::MemoryTraffic traffic;
    traffic.pattern = pattern;
    traffic.request_bytes = request_bytes;
    traffic.requests = 500000;
    traffic.read_share = read_share;
    platform::MemoryRunOptions options;
    options.impl = impl;
    double gb_per_s = 0;
    for (auto _ : state) {
        const platform::MemoryFigures figures = platform::run_memory(device, traffic, options);
        state.SetIterationTime(figures.host_seconds);
        gb_per_s = figures.achieved_gb_per_s;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * traffic.requests));
    state.counters["simulated_GB/s"] = gb_per_s;
}

// The devices and streams of the peers' figures in docs/models/dram.md.
BENCHMARK_CAPTURE(read_stream, hbm2_sequential, "hbm2", "sequential", 64, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, hbm2_random, "hbm2", "random", 64, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, ramulator2_sequential, "hbm2_2000_ramulator2", "sequential", 64, "bank", 1.0)
    ->UseManualTime();
BENCHMARK_CAPTURE(read_stream, ramulator2_random, "hbm2_2000_ramulator2", "random", 64, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, dramsys_sequential, "hbm2_2000_dramsys", "sequential", 32, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, dramsys_random, "hbm2_2000_dramsys", "random", 32, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, adyna_sequential, "hbm2_2400", "sequential", 64, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, adyna_random, "hbm2_2400", "random", 64, "bank", 1.0)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, adyna_mixed, "hbm2_2400", "random", 64, "bank", 0.67)->UseManualTime();
BENCHMARK_CAPTURE(read_stream, adyna_bandwidth, "hbm2_2400", "random", 64, "bandwidth", 1.0)->UseManualTime();

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
