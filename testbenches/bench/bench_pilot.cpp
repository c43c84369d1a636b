// SPDX-License-Identifier: Apache-2.0
// Inference of DyNN-Offload's pilot on this machine's CPU, one sample (HPCA 2024, Table IV: 5, 12, 20, 42 and 80 us
// with 256, 512, 1024, 2048 and 4096 neurons; 30 us in section IV-C).
#include <benchmark/benchmark.h>

#include "switchyard/sw_scheduler/dynn_offload/pilot.h"

namespace {

using namespace switchyard;

void inference(benchmark::State& state) {
    dynn_offload::PilotConfig config;
    config.neurons = static_cast<unsigned>(state.range(0));
    const dynn_offload::Pilot pilot(config);
    const std::vector<std::vector<double>> matrix(
        dynn_offload::kProgramRows, std::vector<double>(dynn_offload::row_elements(config.representation), 1));
    const dynn_offload::Pilot::Architecture architecture = pilot.encode(matrix, sched::BasicType::recurrent);
    const std::vector<float> features(sched::kFeatures, 0.5F);
    for (auto _ : state) benchmark::DoNotOptimize(pilot.infer(features, architecture));
    state.counters["KB"] = static_cast<double>(4 * pilot.active_parameters()) / 1000;
}
BENCHMARK(inference)->RangeMultiplier(2)->Range(256, 4096)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
