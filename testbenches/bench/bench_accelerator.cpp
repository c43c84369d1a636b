// SPDX-License-Identifier: Apache-2.0
// Host time and simulated time of an access to a mounted accelerator, and what an idle one costs a prototype whose
// clock ticks on. Run from the top of the repository.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include "switchyard/accelerator.h"
#include "switchyard/hw/host/host_registers.h"
#include "switchyard/tlm/has_process.h"

namespace {

using namespace switchyard;
namespace regs = hw::host_registers;
using Payload = ::tlm::tlm_generic_payload;

const char* const kPlatforms[] = {"configs/platforms/mini.yaml", "configs/platforms/adyna.yaml"};

/// The processor's side and the memory's side of a prototype around one accelerator.
struct Prototype : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Prototype> bus{"bus"};
    tlm_utils::simple_target_socket<Prototype> memory{"memory"};
    sc_core::sc_signal<bool> irq{"irq"}, reset{"reset"};
    Accelerator accelerator;

    Prototype(const sc_core::sc_module_name& name, const PlatformConfig& platform)
        : sc_module(name), accelerator("accelerator", platform) {
        memory.register_b_transport(this, &Prototype::b_transport);
        bus.bind(accelerator.config_socket);
        accelerator.host_socket.bind(memory);
        accelerator.irq(irq);
        accelerator.reset(reset);
    }
    void b_transport(Payload& payload, sc_core::sc_time&) { payload.set_response_status(::tlm::TLM_OK_RESPONSE); }
};

Prototype& prototype() {
    static const auto kInstance = [] {
        auto made = std::make_unique<Prototype>("prototype", PlatformConfig::from_yaml_file(kPlatforms[0]));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        return made;
    }();
    return *kInstance;
}

/// A prototype with a clock of 1 GHz and some idle accelerators, in a process of its own, because SystemC elaborates
/// once.
struct IdleCost {
    double elaboration_s = 0, simulation_s = 0;
    std::uint64_t deltas = 0, resident_kib = 0;
};

constexpr unsigned kTicks = 1'000'000;

struct Ticking : sc_core::sc_module {
    sc_core::sc_event tick{"tick"};
    explicit Ticking(const sc_core::sc_module_name& name) : sc_module(name) {
        SWITCHYARD_HAS_PROCESS(Ticking);
        SC_METHOD(next);
        sensitive << tick;
    }
    void next() { tick.notify(1, sc_core::SC_NS); }
};

IdleCost measure_idle(unsigned accelerators, const char* platform) {
    const auto seconds = [begin = std::chrono::steady_clock::now()] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const PlatformConfig config = PlatformConfig::from_yaml_file(platform);
    const double read = seconds();
    const Ticking ticking("ticking");
    std::vector<std::unique_ptr<Prototype>> mounted;
    for (unsigned i = 0; i < accelerators; ++i)
        mounted.push_back(std::make_unique<Prototype>(("prototype_" + std::to_string(i)).c_str(), config));
    sc_core::sc_start(1, sc_core::SC_NS);
    IdleCost cost;
    const double elaborated = seconds();
    cost.elaboration_s = elaborated - read;
    const std::uint64_t before = sc_core::sc_delta_count();
    sc_core::sc_start(sc_core::sc_time(kTicks, sc_core::SC_NS));
    cost.simulation_s = seconds() - elaborated;
    cost.deltas = sc_core::sc_delta_count() - before;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    cost.resident_kib = static_cast<std::uint64_t>(usage.ru_maxrss);
    return cost;
}

IdleCost in_child(unsigned accelerators, const char* platform) {
    int channel[2];
    if (pipe(channel) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        const IdleCost cost = measure_idle(accelerators, platform);
        const auto written = write(channel[1], &cost, sizeof cost);
        _exit(written == sizeof cost ? 0 : 1);
    }
    close(channel[1]);
    IdleCost cost;
    if (read(channel[0], &cost, sizeof cost) != sizeof cost) cost = {};
    close(channel[0]);
    waitpid(child, nullptr, 0);
    return cost;
}

/// Arguments: idle accelerators, platform. Time: of a million ticks of a clock.
void idle(benchmark::State& state) {
    IdleCost cost;
    for (auto _ : state) {
        cost = in_child(static_cast<unsigned>(state.range(0)), kPlatforms[state.range(1)]);
        if (cost.deltas == 0) state.SkipWithError("the simulation's process failed");
        state.SetIterationTime(cost.simulation_s);
    }
    state.counters["deltas_per_tick"] = static_cast<double>(cost.deltas) / kTicks;
    state.counters["elaboration_ms"] = 1e3 * cost.elaboration_s;
    state.counters["resident_mib"] = static_cast<double>(cost.resident_kib) / 1024;
}

struct Access {
    Payload payload;
    std::vector<unsigned char> data;

    Access(::tlm::tlm_command command, std::uint64_t address, unsigned length) : data(length) {
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(length);
        payload.set_streaming_width(length);
    }
};

/// One access after another, as a loosely-timed processor makes them.
void transport(benchmark::State& state, ::tlm::tlm_command command, std::uint64_t address, unsigned length) {
    Prototype& p = prototype();
    Access access(command, address, length);
    sc_core::sc_time delay;
    for (auto _ : state) {
        delay = sc_core::SC_ZERO_TIME;
        access.payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
        access.payload.set_dmi_allowed(false);
        p.bus->b_transport(access.payload, delay);
    }
    if (!access.payload.is_response_ok()) state.SkipWithError(access.payload.get_response_string().c_str());
    state.counters["calls_per_second"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["simulated_ns"] = delay / sc_core::sc_time(1, sc_core::SC_NS);
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * length);
}

void debug(benchmark::State& state) {
    Prototype& p = prototype();
    Access access(::tlm::TLM_READ_COMMAND, regs::kStatus, 4);
    for (auto _ : state) benchmark::DoNotOptimize(p.bus->transport_dbg(access.payload));
    state.counters["calls_per_second"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

/// Argument: bytes of a write.
void direct(benchmark::State& state) {
    Prototype& p = prototype();
    Access access(::tlm::TLM_WRITE_COMMAND, regs::kImageWindow, 1);
    ::tlm::tlm_dmi region;
    if (!p.bus->get_direct_mem_ptr(access.payload, region)) return state.SkipWithError("no DMI");
    const std::vector<unsigned char> data(static_cast<std::size_t>(state.range(0)), 1);
    std::size_t offset = 0;
    for (auto _ : state) {
        std::memcpy(region.get_dmi_ptr() + offset, data.data(), data.size());
        offset = (offset + data.size()) % (1u << 20);
        benchmark::ClobberMemory();
    }
    state.counters["writes_per_second"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
    state.counters["simulated_ns"] =
        static_cast<double>(data.size()) * (region.get_write_latency() / sc_core::sc_time(1, sc_core::SC_NS));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

// First, because each elaborates in a process of its own that must not have elaborated before.
BENCHMARK(idle)
    ->ArgNames({"accelerators", "adyna"})
    ->Args({0, 0})
    ->Args({1, 0})
    ->Args({4, 0})
    ->Args({1, 1})
    ->UseManualTime()
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(transport, read_register, ::tlm::TLM_READ_COMMAND, regs::kStatus, 4);
BENCHMARK_CAPTURE(transport, write_register, ::tlm::TLM_WRITE_COMMAND, regs::kDmaHostLow, 4);
BENCHMARK_CAPTURE(transport, write_window_4, ::tlm::TLM_WRITE_COMMAND, regs::kImageWindow, 4);
BENCHMARK_CAPTURE(transport, write_window_64, ::tlm::TLM_WRITE_COMMAND, regs::kImageWindow, 64);
BENCHMARK_CAPTURE(transport, write_window_4096, ::tlm::TLM_WRITE_COMMAND, regs::kImageWindow, 4096);
BENCHMARK_CAPTURE(transport, read_window_64, ::tlm::TLM_READ_COMMAND, regs::kImageWindow, 64);
BENCHMARK(debug);
BENCHMARK(direct)->Arg(4)->Arg(64)->Arg(4096);

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
