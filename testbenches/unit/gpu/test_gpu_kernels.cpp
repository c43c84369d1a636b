// SPDX-License-Identifier: Apache-2.0
// What kernels take on the multiprocessors: closed forms.
#include "switchyard/hw/gpu/occupancy.h"
#include "switchyard/testbenches/unit/gpu/gpu_bench.h"

using namespace switchyard;
using namespace switchyard::testing;

namespace {

/// ns that one kernel takes from its first CTA to its completion.
double time_of(GpuBench& bench, const sched::GpuKernel& kernel) {
    bench.push(0, kernel, 1);
    bench.run();
    const hw::KernelRecord& record = bench.record(1);
    return GpuBench::ns(record.completed - record.started);
}

}  // namespace

SIM_TEST("CTAs that fit at once take the compute time of a multiprocessor's share", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    // 8 CTAs on 4 multiprocessors of 128 FLOP a ns: 2 CTAs each.
    CHECK(time_of(bench, compute_kernel(8, 128000)) == Approx(2000).epsilon(0.01));
}

TEST_CASE("a kernel takes a whole wave more for one CTA more", "[gpu]") {
    for (const std::uint32_t ctas : {64u, 65u, 128u, 129u}) {
        in_child([ctas] {
            GpuBench bench("bench", plain_gpu());
            sched::GpuKernel kernel = compute_kernel(ctas, 128000);
            kernel.shared_bytes = 9472;  // with the system's KiB a sixteenth of a multiprocessor's
            REQUIRE(hw::resident_ctas(plain_gpu().multiprocessors, hw::kernel_packet(kernel, 0)) == 16);
            // A full wave is 16 CTAs on each of 4 multiprocessors; one CTA alone has all of its multiprocessor.
            const std::uint32_t full = ctas / 64, left = ctas % 64;
            CHECK(time_of(bench, kernel) == Approx(full * 16000 + (left > 0 ? 1000 : 0)).epsilon(0.01));
        });
    }
}

SIM_TEST("memory bandwidth bounds a kernel that computes nothing", "[gpu]") {
    hw::Gpu::Config config = plain_gpu();
    config.memory.memory_gb_per_s = 100;
    config.memory.l2_bytes_per_cycle = 1000;
    GpuBench bench("bench", config);
    sched::GpuKernel kernel = compute_kernel(64, 0);
    kernel.work.read_bytes = 900000;
    kernel.work.written_bytes = 100000;
    CHECK(time_of(bench, kernel) == Approx(10000).epsilon(0.01));
    CHECK(bench.gpu.multiprocessors().stats().memory_bytes == Approx(1e6));
}

SIM_TEST("what an earlier kernel wrote comes from the L2", "[gpu]") {
    hw::Gpu::Config config = plain_gpu();
    config.memory.memory_gb_per_s = 100;
    config.memory.l2_bytes_per_cycle = 1000;
    config.multiprocessors.l2_port_bytes_per_cycle = 1000;
    GpuBench bench("bench", config);
    sched::GpuKernel writer = compute_kernel(64, 0);
    writer.work.written_bytes = 1 << 20;
    writer.writes = {{1ull << 30, 1 << 20}};
    sched::GpuKernel reader = compute_kernel(64, 0);
    reader.work.read_bytes = 1 << 20;
    reader.reads = writer.writes;
    sched::GpuKernel stranger = reader;
    stranger.reads = {{1ull << 31, 1 << 20}};
    bench.push(0, writer, 1);
    bench.push(0, reader, 2);
    bench.push(0, stranger, 3);
    bench.run();
    const auto took = [&bench](std::uint64_t tag) {
        return GpuBench::ns(bench.record(tag).completed - bench.record(tag).started);
    };
    CHECK(took(2) == Approx((1 << 20) / 1000.0).epsilon(0.01));
    CHECK(took(3) == Approx((1 << 20) / 100.0).epsilon(0.01));
}

SIM_TEST("small kernels of several queues run side by side", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    for (unsigned queue = 0; queue < 4; ++queue) bench.push(queue, compute_kernel(1, 128000), queue);
    bench.run();
    for (unsigned queue = 0; queue < 4; ++queue) CHECK(GpuBench::ns(bench.record(queue).completed) < 1010);
    CHECK(bench.gpu.cta_scheduler().stats().max_resident_kernels == 4);
}
