// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <systemc>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/network_image.h"
#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"
#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/trace.h"

// Host time of what happens before a simulation: reading models and traces, compiling, sampling kernels, writing and
// reading images. Run from the top of the repository.
namespace {

using namespace switchyard;

const char* const kPlatform = "configs/platforms/adyna.yaml";
const char* const kTrace = "configs/workloads/digits/skipnet/routing.jsonl";

std::string workload(const std::string& name) {
    return "configs/workloads/" + name + ".yaml";
}

Image compiled(const std::string& name) {
    const sched::Model model = sched::read_model(workload(name));
    return sched::compile(model.graph, platform::make_hardware_description(platform::read_platform(kPlatform)));
}

void read_model(benchmark::State& state, const std::string& name) {
    for (auto _ : state) benchmark::DoNotOptimize(sched::read_model(workload(name)));
}

void read_recorded_trace(benchmark::State& state) {
    const sched::Model model = sched::read_model(workload("digits_skipnet"));
    std::size_t batches = 0;
    for (auto _ : state) batches += read_trace(kTrace, model.graph.signatures(), model.graph.batch_samples()).size();
    state.counters["batches/s"] = benchmark::Counter(static_cast<double>(batches), benchmark::Counter::kIsRate);
}

void compile(benchmark::State& state, const std::string& name) {
    const sched::Model model = sched::read_model(workload(name));
    const auto hardware = platform::make_hardware_description(platform::read_platform(kPlatform));
    for (auto _ : state) benchmark::DoNotOptimize(sched::compile(model.graph, hardware));
}

/// As `sy-sched compile` does it, with the routes that the network declares.
void schedule(benchmark::State& state, const std::string& name) {
    const sched::Model model = sched::read_model(workload(name));
    const platform::PlatformConfig chip = platform::read_platform(kPlatform);
    for (auto _ : state) benchmark::DoNotOptimize(platform::compile_network(model, chip, {}));
    state.counters["operators"] = static_cast<double>(model.graph.operators.size());
}

/// Argument: tiles of the chip that may be used.
void schedule_on_tiles(benchmark::State& state) {
    const sched::Model model = sched::read_model(workload("skipnet_resnet34"));
    const auto hardware = platform::make_hardware_description(platform::read_platform(kPlatform));
    sched::CompileOptions options;
    options.tiles = static_cast<unsigned>(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(sched::compile(model.graph, hardware, options));
}

/// Micro-batches of 8192 samples, at the operator in two bells.
sched::Distribution two_bells() {
    std::vector<double> frequency(8193, 0);
    for (std::size_t v = 1; v < frequency.size(); ++v) {
        const double a = (static_cast<double>(v) - 2500) / 300, b = (static_cast<double>(v) - 5500) / 900;
        frequency[v] = std::exp(-a * a / 2) + std::exp(-b * b / 2);
    }
    return sched::Distribution(std::move(frequency));
}

/// Argument of the three: kernels.
void sample_from_kernels(benchmark::State& state) {
    const sched::Distribution phi = two_bells();
    const sched::DynDims even = sched::uniform_dyn_dims(phi.largest(), static_cast<unsigned>(state.range(0)));
    const sched::Samples counted = sched::selected_counts(phi, even);
    while (state.KeepRunning())
        benchmark::DoNotOptimize(sched::resample_best(counted, sched::usual_iterations(even.size())));
}

void sample_from_dyn_dims(benchmark::State& state) {
    const sched::Distribution phi = two_bells();
    const sched::DynDims even = sched::uniform_dyn_dims(phi.largest(), static_cast<unsigned>(state.range(0)));
    while (state.KeepRunning()) benchmark::DoNotOptimize(sched::refine(even, phi));
}

void sample_optimally(benchmark::State& state) {
    const sched::Distribution phi = two_bells();
    while (state.KeepRunning())
        benchmark::DoNotOptimize(sched::optimal_dyn_dims(phi, static_cast<unsigned>(state.range(0))));
}

void encode_image(benchmark::State& state, const std::string& name) {
    const Image image = compiled(name);
    std::size_t bytes = 0;
    for (auto _ : state) bytes += encode(image).size();
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void decode_image(benchmark::State& state, const std::string& name) {
    const std::vector<std::uint8_t> bytes = encode(compiled(name));
    for (auto _ : state) benchmark::DoNotOptimize(switchyard::decode_image(bytes, name));
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size() * state.iterations()));
}

BENCHMARK(read_recorded_trace)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_model, resnet101, "skipnet_resnet101")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile, digits, "digits_skipnet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compile, resnet101, "skipnet_resnet101")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, pabee, "pabee_bert")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, tutel_moe, "tutel_moe")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, dpsnet, "dpsnet")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, resnet34, "skipnet_resnet34")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, resnet101, "skipnet_resnet101")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, fbsnet, "fbsnet_resnet18")->Unit(benchmark::kMillisecond);
BENCHMARK(schedule_on_tiles)->Arg(18)->Arg(36)->Arg(72)->Arg(144)->Unit(benchmark::kMillisecond);
BENCHMARK(sample_from_kernels)->Arg(32)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK(sample_from_dyn_dims)->Arg(32)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK(sample_optimally)->Arg(32)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode_image, resnet101, "skipnet_resnet101")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_image, resnet101, "skipnet_resnet101")->Unit(benchmark::kMillisecond);

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
