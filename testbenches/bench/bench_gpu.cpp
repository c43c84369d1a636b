// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <unistd.h>
#include <systemc>

#include "switchyard/platform/gpu/gpu_device.h"
#include "switchyard/tlm/has_process.h"

// Kernels and CTAs a second of processor time that hw/gpu simulates: 2000 kernels on four queues of an RTX 3070.
// Beside it, for a detailed simulator: Accel-Sim's users tell of days for kernels of seconds (docs/models/gpu.md).
namespace {

using namespace switchyard;

constexpr unsigned kQueues = 4, kKernels = 500;  // on each queue
constexpr std::uint32_t kRing = 512;
constexpr std::uint64_t kRings = 1 << 20;

class Host : public sc_core::sc_module {
public:
    Host(const sc_core::sc_module_name& module_name, const std::string& impl, std::uint32_t ctas)
        : sc_module(module_name),
          device_("device", platform::read_gpu_platform("configs/gpus/rtx3070.yaml", {{"gpu.impl", impl}}), registry_),
          bus_("bus"),
          memory_("memory"),
          ctas_(ctas) {
        bus_.bind(device_.from_host);
        device_.to_host.bind(memory_);
        memory_.register_b_transport(this, &Host::no_memory);
        device_.irq.bind(irq_);
        SWITCHYARD_HAS_PROCESS(Host);
        SC_THREAD(run);
    }

private:
    static void no_answer(::tlm::tlm_generic_payload& payload) {
        payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    void no_memory(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) { no_answer(payload); }
    void write(std::uint64_t offset, std::uint32_t value) {
        ::tlm::tlm_generic_payload payload;
        hw::set_access(payload, true, offset, &value, sizeof value);
        sc_core::sc_time delay;
        bus_->b_transport(payload, delay);
    }
    void run() {
        namespace reg = hw::gpu_registers;
        sched::GpuKernel kernel;
        kernel.grid = {ctas_, 1, 1};
        kernel.block = {128, 1, 1};
        kernel.work.flops = std::uint64_t{ctas_} * 200000;
        kernel.work.read_bytes = kernel.work.written_bytes = std::uint64_t{ctas_} * 2048;
        const hw::GpuPacketBytes packet = hw::encode(hw::kernel_packet(kernel, 0));
        for (unsigned queue = 0; queue < kQueues; ++queue) {
            const std::uint64_t ring = kRings + queue * std::uint64_t{kRing} * hw::kGpuPacketBytes;
            for (unsigned i = 0; i < kKernels; ++i)
                device_.write_memory(ring + i * hw::kGpuPacketBytes, packet.data(), hw::kGpuPacketBytes);
            write(reg::queue(queue, reg::kBaseLow), static_cast<std::uint32_t>(ring));
            write(reg::queue(queue, reg::kPackets), kRing);
            write(reg::queue(queue, reg::kWriteIndex), kKernels);
        }
    }

    SimulationRegistry registry_;
    platform::GpuDevice device_;
    tlm_utils::simple_initiator_socket<Host> bus_;
    tlm_utils::simple_target_socket<Host> memory_;
    sc_core::sc_signal<bool> irq_;
    std::uint32_t ctas_;
};

/// Processor time of one simulation, in a process of its own; 0 if it fails.
double seconds_of(const std::string& impl, std::uint32_t ctas) {
    std::array<int, 2> channel{};
    if (pipe(channel.data()) != 0) return 0;
    const pid_t child = fork();
    if (child == 0) {
        Host host("host", impl, ctas);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        const std::clock_t begin = std::clock();
        sc_core::sc_start();
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        const bool written = write(channel[1], &seconds, sizeof seconds) == sizeof seconds;
        _exit(written ? 0 : 1);
    }
    double seconds = 0;
    close(channel[1]);
    const bool whole = child > 0 && read(channel[0], &seconds, sizeof seconds) == sizeof seconds;
    close(channel[0]);
    waitpid(child, nullptr, 0);
    return whole ? seconds : 0;
}

void kernel_streams(benchmark::State& state, const char* impl) {
    const auto ctas = static_cast<std::uint32_t>(state.range(0));
    double seconds = 0;
    for (auto _ : state) {
        const double took = seconds_of(impl, ctas);
        if (took <= 0) state.SkipWithError("the simulation failed");
        state.SetIterationTime(took);
        seconds += took;
    }
    const double kernels = static_cast<double>(state.iterations()) * kQueues * kKernels;
    state.counters["kernels/s"] = kernels / seconds;
    state.counters["CTAs/s"] = kernels * ctas / seconds;
}

BENCHMARK_CAPTURE(kernel_streams, cta, "cta")->Arg(4)->Arg(64)->Arg(1024)->UseManualTime();
BENCHMARK_CAPTURE(kernel_streams, warp, "warp")->Arg(4)->UseManualTime()->Iterations(1);

}  // namespace

int sc_main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
