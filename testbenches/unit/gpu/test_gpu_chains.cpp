// SPDX-License-Identifier: Apache-2.0
// Launches, chains, graphs and resident grids of the platform files against what others measured.
#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/testbenches/unit/gpu/gpu_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

hw::Gpu::Config gpu_of(const std::string& name, std::map<std::string, std::string> overrides = {}) {
    overrides["cta_scheduler.keep_records"] = "yes";
    return platform::read_gpu_platform("configs/gpus/" + name + ".yaml", overrides).gpu;
}

/// us from the start of the first to the end of the last of empty kernels of a stream, or of a graph.
double chain_us(const hw::Gpu::Config& config, unsigned kernels, bool graph) {
    GpuBench bench("bench", config);
    for (unsigned i = 0; i < kernels; ++i) {
        hw::GpuPacket packet = hw::kernel_packet(compute_kernel(config.multiprocessors.count, 0, 256), i);
        packet.graph = graph;
        bench.push(0, packet);
    }
    bench.run();
    return GpuBench::ns(bench.record(kernels - 1).completed - bench.record(0).started) / 1000;
}

}  // namespace

TEST_CASE("chains of empty kernels take what was measured", "[gpu]") {
    struct Chain {
        const char* gpu;
        std::map<std::string, std::string> overrides;
        unsigned kernels;
        bool graph;
        double us;
    };
    // RTX 3090 (82 SMs at 1695 MHz): 225 kernels in 347.5 us on a stream and in 186.9 us as a graph. RTX 3080: 1.71 us
    // a kernel. RTX 3060 Laptop: 2.1 to 2.2 us. Sources: the platform files and docs/models/gpu.md.
    const std::map<std::string, std::string> rtx3090{{"multiprocessors.count", "82"},
                                                     {"multiprocessors.clock_ghz", "1.695"},
                                                     {"command_processor.dependent_launch_ns", "1140"}};
    for (const Chain& chain :
         {Chain{"rtx3070", rtx3090, 225, false, 347.5}, Chain{"rtx3070", rtx3090, 225, true, 186.9},
          Chain{"rtx3070", {}, 100, false, 171}, Chain{"rtx3060", {}, 100, false, 215}}) {
        in_child([&chain] {
            INFO(chain.gpu << ", " << chain.us);
            CHECK(chain_us(gpu_of(chain.gpu, chain.overrides), chain.kernels, chain.graph) ==
                  Approx(chain.us).epsilon(0.03));
        });
    }
}

SIM_TEST("a launch is complete after what is left of the measured 6.4 us without the host's call", "[gpu]") {
    // Launch and synchronisation of a tiny kernel: 6.4 us; the host's call alone takes 2.65 us of them.
    GpuBench bench("bench", gpu_of("rtx3070"));
    hw::GpuPacket packet = hw::kernel_packet(compute_kernel(1, 0), 1);
    packet.interrupt = true;
    bench.push(0, packet);
    double us = 0;
    bench.run([&] {
        const double rung = GpuBench::now();
        if (!bench.irq.read()) sc_core::wait(bench.irq.posedge_event());
        us = (GpuBench::now() - rung) / 1000;
    });
    CHECK(us > 1.5);
    CHECK(us < 6.4 - 2.65);
}

SIM_TEST("no more than 128 grids are resident", "[gpu]") {
    hw::Gpu::Config config = gpu_of("a100_40gb");
    config.command_processor.queues = 140;
    GpuBench bench("bench", config);
    for (unsigned queue = 0; queue < 140; ++queue) bench.push(queue, compute_kernel(1, 12800000), queue);
    bench.run();
    CHECK(bench.gpu.cta_scheduler().stats().max_resident_kernels == 128);
    CHECK(bench.gpu.cta_scheduler().stats().waits == 12);
}
