// SPDX-License-Identifier: Apache-2.0
// What kernels take on the multiprocessors: closed forms, of both fidelities.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "switchyard/hw/gpu/occupancy.h"
#include "switchyard/hw/memory/dram_target.h"
#include "switchyard/sw_scheduler/workload/gpu_schedule.h"
#include "switchyard/testbenches/unit/gpu/gpu_bench.h"
#include "switchyard/tlm/has_process.h"

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

double took(const GpuBench& bench, std::uint64_t tag) {
    return GpuBench::ns(bench.record(tag).completed - bench.record(tag).started);
}

}  // namespace

TEST_CASE("CTAs that fit at once take the compute time of a multiprocessor's share", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        in_child([impl] {
            INFO(impl);
            GpuBench bench("bench", plain_gpu(impl));
            // 8 CTAs on 4 multiprocessors of 128 FLOP a ns: 2 CTAs each.
            CHECK(time_of(bench, compute_kernel(8, 128000)) == Approx(2000).epsilon(0.01));
        });
    }
}

TEST_CASE("a kernel takes a whole wave more for one CTA more", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        for (const std::uint32_t ctas : {64u, 65u, 128u, 129u}) {
            in_child([impl, ctas] {
                CAPTURE(impl, ctas);
                GpuBench bench("bench", plain_gpu(impl));
                sched::GpuKernel kernel = compute_kernel(ctas, 128000);
                kernel.shared_bytes = 9472;  // with the system's KiB a sixteenth of a multiprocessor's
                REQUIRE(hw::resident_ctas(plain_gpu().multiprocessors, hw::kernel_packet(kernel, 0)) == 16);
                // A full wave is 16 CTAs on each of 4 multiprocessors; one CTA alone has all of its multiprocessor.
                const std::uint32_t full = ctas / 64, left = ctas % 64;
                CHECK(time_of(bench, kernel) == Approx(full * 16000 + (left > 0 ? 1000 : 0)).epsilon(0.01));
            });
        }
    }
}

TEST_CASE("memory bandwidth bounds a kernel that computes nothing", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        in_child([impl] {
            INFO(impl);
            hw::Gpu::Config config = plain_gpu(impl);
            config.memory.memory_gb_per_s = 100;
            config.memory.l2_bytes_per_cycle = 1000;
            GpuBench bench("bench", config);
            sched::GpuKernel kernel = compute_kernel(64, 0);
            kernel.work.read_bytes = 900000;
            kernel.work.written_bytes = 100000;
            CHECK(time_of(bench, kernel) == Approx(10000).epsilon(0.02));
            CHECK(bench.gpu.multiprocessors().stats().memory_bytes == Approx(1e6));
        });
    }
}

TEST_CASE("what an earlier kernel wrote comes from the L2", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        in_child([impl] {
            INFO(impl);
            hw::Gpu::Config config = plain_gpu(impl);
            config.memory.memory_gb_per_s = 100;
            config.memory.l2_bytes_per_cycle = 1000;
            config.multiprocessors.l2_port_bytes_per_cycle = 1000;
            config.multiprocessors.memory_instruction_cycles = 0.01;
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
            // Warps issue when their loads are there, so the last of them come on top.
            CHECK(took(bench, 2) == Approx((1 << 20) / 1000.0).epsilon(impl == std::string("cta") ? 0.01 : 0.3));
            CHECK(took(bench, 3) == Approx((1 << 20) / 100.0).epsilon(0.01));
        });
    }
}

TEST_CASE("dependent loads of few warps take their latencies, and more CTAs hide them", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        for (const std::uint32_t each : {1u, 4u, 16u}) {
            in_child([impl, each] {
                CAPTURE(impl, each);
                hw::Gpu::Config config = plain_gpu(impl);
                config.memory.l2_latency_ns = 200;
                config.memory.memory_latency_ns = 200;
                GpuBench bench("bench", config);
                // 20 loads of 200 ns, and 1 us of a multiprocessor's arithmetic: 5 us alone.
                sched::GpuKernel kernel = compute_kernel(4 * each, 128000);
                kernel.work.read_bytes = 128;
                kernel.schedule.dependent_loads = 20;
                CHECK(time_of(bench, kernel) == Approx(each < 5 ? 5000 : each * 1000.0).epsilon(0.25));
                CHECK(GpuBench::now() > 4990);
            });
        }
    }
}

TEST_CASE("small kernels of several queues run side by side, up to the limit", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        for (const unsigned limit : {2u, 128u}) {
            in_child([impl, limit] {
                hw::Gpu::Config config = plain_gpu(impl);
                config.cta_scheduler.max_kernels = limit;
                GpuBench bench("bench", config);
                for (unsigned queue = 0; queue < 4; ++queue) bench.push(queue, compute_kernel(1, 128000), queue);
                bench.run();
                CHECK(bench.gpu.cta_scheduler().stats().max_resident_kernels == std::min(4u, limit));
                CHECK(GpuBench::now() == Approx(limit == 2 ? 2000 : 1000).epsilon(0.01));
            });
        }
    }
}

SIM_TEST("a kernel keeps its turn until its CTAs have been handed out", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    // The first fills the GPU for more than a wave; the second would fit beside its last one only.
    sched::GpuKernel large = compute_kernel(9, 128000, 1024);
    large.registers_per_thread = 64;  // one CTA on a multiprocessor
    bench.push(0, large, 1);
    bench.push(1, compute_kernel(1, 128000), 2);
    bench.run();
    CHECK(GpuBench::ns(bench.record(2).started) == Approx(2000).epsilon(0.01));
    CHECK(GpuBench::ns(bench.record(1).completed) == Approx(3000).epsilon(0.01));
}

SIM_TEST("a memory-bound kernel leaves the multiprocessors to one that computes", "[gpu]") {
    hw::Gpu::Config config = plain_gpu();
    config.memory.memory_gb_per_s = 10;
    GpuBench bench("bench", config);
    sched::GpuKernel copy = compute_kernel(4, 0);
    copy.work.read_bytes = 100000;
    bench.push(0, copy, 1);
    bench.push(1, compute_kernel(4, 1024000), 2);
    bench.run();
    CHECK(took(bench, 1) == Approx(10000).epsilon(0.02));
    CHECK(took(bench, 2) == Approx(8000).epsilon(0.05));
}

namespace {

/// Kernels that a scheduling window would hand over: all at once, by itself.
class KernelSource : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<KernelSource> kernels{"kernels"};
    tlm_utils::simple_target_socket<KernelSource> completions{"completions"};
    std::vector<std::uint64_t> completed;  ///< handles

    explicit KernelSource(const sc_core::sc_module_name& module_name) : sc_module(module_name) {
        completions.register_b_transport(this, &KernelSource::take);
        SWITCHYARD_HAS_PROCESS(KernelSource);
        SC_THREAD(run);
    }

private:
    void run() {
        for (std::uint64_t handle = 100; handle < 103; ++handle) {
            hw::GpuPacketBytes bytes =
                hw::encode(hw::kernel_packet(compute_kernel(1, 128000 * (103 - handle)), handle));
            ::tlm::tlm_generic_payload payload;
            hw::set_access(payload, true, handle, bytes.data(), hw::kGpuPacketBytes);
            sc_core::sc_time delay;
            kernels->b_transport(payload, delay);
            CHECK(payload.is_response_ok());
        }
        // A kernel that no multiprocessor holds is refused, and the simulation goes on.
        hw::GpuPacketBytes bytes = hw::encode(hw::kernel_packet(compute_kernel(1, 1000, 1024), 7));
        bytes[56] = 255;  // registers
        ::tlm::tlm_generic_payload payload;
        hw::set_access(payload, true, 7, bytes.data(), hw::kGpuPacketBytes);
        sc_core::sc_time delay;
        kernels->b_transport(payload, delay);
        CHECK(payload.get_response_status() == ::tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    void take(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        std::uint64_t tag = 0;
        std::memcpy(&tag, payload.get_data_ptr(), sizeof tag);
        CHECK(tag == payload.get_address());
        completed.push_back(payload.get_address());
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }
};

}  // namespace

SIM_TEST("a source of its own hands kernels over and hears of their completion", "[gpu]") {
    hw::Gpu::Config config = plain_gpu();
    config.kernel_sources = 1;
    GpuBench bench("bench", config);
    KernelSource source("source");
    source.kernels.bind(bench.gpu.kernels[0]);
    bench.gpu.completions[0].bind(source.completions);
    std::vector<std::uint64_t> started, completed;
    bench.gpu.set_hooks([&](const hw::KernelLaunch& kernel) { started.push_back(kernel.packet.tag); },
                        [&](const hw::KernelLaunch& kernel) { completed.push_back(kernel.packet.tag); });
    bench.run();
    CHECK(source.completed == std::vector<std::uint64_t>{102, 101, 100});
    CHECK(started == std::vector<std::uint64_t>{100, 101, 102});
    CHECK(completed == source.completed);
    CHECK(bench.registry.errors().front().find(
              "kernel 7: registers: expected at most 65536 in a CTA, as an SM has, found 262144") != std::string::npos);
}

TEST_CASE("the fidelities agree on tuned kernels", "[gpu]") {
    struct Shape {
        std::uint64_t m, k, n;
    };
    // An A100 of eight multiprocessors, with all its latencies and calibrated shares.
    for (const Shape& shape : {Shape{64, 256, 256}, Shape{8, 512, 512}, Shape{1, 384, 96}, Shape{256, 64, 1024}}) {
        double ns[2] = {0, 0};
        for (const unsigned which : {0u, 1u}) {
            const std::string file = "/tmp/switchyard_gpu_" + std::to_string(getpid());
            in_child([&] {
                hw::Gpu::Config config = plain_gpu(which == 0 ? "cta" : "warp");
                config.multiprocessors.count = 8;
                config.multiprocessors.clock_ghz = 1.41;
                config.multiprocessors.arithmetic_efficiency = 0.784;
                config.multiprocessors.memory_instruction_cycles = 1.545;
                config.multiprocessors.warp_latency_cycles = 4.113;
                config.memory.l2_latency_ns = 142;
                config.memory.memory_latency_ns = 206;
                sched::GpuDescription gpu;
                gpu.multiprocessors = 8;
                gpu.arithmetic_efficiency = 0.784;
                gpu.memory_instruction_cycles = 1.545;
                gpu.warp_latency_cycles = 4.113;
                GpuBench bench("bench", config);
                const sched::GpuKernel kernel =
                    sched::tuned_kernel(sched::linear_operator(shape.m, shape.k, shape.n), gpu);
                bench.push(0, kernel, 1);
                bench.push(0, kernel, 2);  // with a warm L2
                bench.run();
                std::ofstream(file) << took(bench, 2);
            });
            std::ifstream(file) >> ns[which];
            std::remove(file.c_str());
        }
        CAPTURE(shape.m, shape.k, shape.n, ns[0], ns[1]);
        REQUIRE(ns[0] > 0);
        // CTAs that start together load together: what `cta` overlaps comes one after another in part.
        CHECK(ns[1] / ns[0] > 0.9);
        CHECK(ns[1] / ns[0] < 1.9);
    }
}

TEST_CASE("kernels that last longer than times can be counted are refused", "[gpu]") {
    for (const char* impl : {"cta", "warp"})
        in_child([impl] {
            CAPTURE(impl);
            GpuBench bench("bench", plain_gpu(impl));
            bench.push(0, compute_kernel(1, ~std::uint64_t{0} / 2), 7);
            ExpectReport report("uncaught exception");
            try {
                bench.run();
                FAIL("it ran");
            } catch (const sc_core::sc_report& error) {
                CHECK_THAT(error.get_msg(), Catch::Matchers::ContainsSubstring(
                                                std::string(impl) == "cta" ? "a kernel's CTAs: expected a time of 0 to"
                                                                           : "kernel 7: expected at most 2147483648 "
                                                                             "arithmetic instructions of a warp"));
            }
        });
}
