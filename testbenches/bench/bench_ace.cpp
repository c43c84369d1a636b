// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <benchmark/benchmark.h>

#include "switchyard/sw_scheduler/ace/scheduled_list.h"
#include "switchyard/sw_scheduler/ace/scheduling_window.h"

// Table 2 of ACE (PACT 2024): the host's time to check a kernel's dependences against a window of 16 or 32 kernels with
// 6 or 10 read and write segments each; `paper_ns` is what it states, on a machine of its own (Intel 11700K). The
// segments are half reads and half writes and none of them overlap, so that every pair is compared.
namespace {

using namespace switchyard;
using namespace switchyard::sched;

ace::Footprint footprint(std::uint64_t number, std::uint64_t segments) {
    ace::Footprint result;
    for (std::uint64_t i = 0; i < segments; ++i)
        (i % 2 == 0 ? result.reads : result.writes).push_back({(number * segments + i) * 4096, 4096});
    return result;
}

void dependence_check(benchmark::State& state, ace::DependenceRule rule) {
    const auto window = static_cast<std::uint64_t>(state.range(0)),
               segments = static_cast<std::uint64_t>(state.range(1));
    std::vector<ace::Footprint> kernels;
    for (std::uint64_t k = 0; k < window; ++k) kernels.push_back(footprint(k, segments));
    const ace::Footprint fresh = footprint(window, segments);
    std::uint64_t pairs = 0;
    for (const ace::Footprint& earlier : kernels) pairs += ace::segment_pairs(fresh, earlier, rule);
    for (auto _ : state) {
        bool any = false;
        for (const ace::Footprint& earlier : kernels) any |= ace::depends_on(fresh, earlier, rule);
        benchmark::DoNotOptimize(any);
    }
    state.counters["paper_ns"] = static_cast<double>(state.range(2));
    state.counters["pairs"] = static_cast<double>(pairs);
    state.counters["pair"] = benchmark::Counter(
        static_cast<double>(pairs), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void table_2(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgNames({"window", "segments", "paper_ns"});
    benchmark->Args({16, 6, 410})->Args({16, 10, 700})->Args({32, 6, 510})->Args({32, 10, 1640});
}

BENCHMARK_CAPTURE(dependence_check, all_hazards, ace::DependenceRule::all_hazards)->Apply(table_2);
BENCHMARK_CAPTURE(dependence_check, as_printed, ace::DependenceRule::as_printed)->Apply(table_2);

/// ACE-SW: a kernel into the window with its check, out of it when it completes.
void window_module(benchmark::State& state) {
    const auto slots = static_cast<std::uint64_t>(state.range(0));
    ace::SchedulingWindow window(slots, ace::DependenceRule::all_hazards);
    std::vector<ace::Footprint> footprints;
    for (std::uint64_t k = 0; k < 2 * slots; ++k) footprints.push_back(footprint(k, 6));
    std::uint64_t number = 0;
    while (number + 1 < slots) {
        window.insert(number, footprints[number]);
        ++number;
    }
    for (auto _ : state) {
        window.insert(number, footprints[number % footprints.size()]);
        ++number;
        window.complete(*window.take_ready());
    }
}
BENCHMARK(window_module)->ArgName("slots")->Arg(16)->Arg(32)->Arg(128);

/// ACE-HW: the check against the scheduled_list, with the entry for the device.
void scheduled_list(benchmark::State& state) {
    const auto kernels = static_cast<std::uint64_t>(state.range(0));
    ace::ScheduledList list(kernels, ace::DependenceRule::all_hazards);
    std::vector<ace::Footprint> footprints;
    for (std::uint64_t k = 0; k < 2 * kernels; ++k) footprints.push_back(footprint(k, 6));
    std::uint64_t number = 0;
    for (auto _ : state) benchmark::DoNotOptimize(list.send(footprints[number++ % footprints.size()]));
}
BENCHMARK(scheduled_list)->ArgName("kernels")->Arg(32)->Arg(64)->Arg(255);

}  // namespace

BENCHMARK_MAIN();
