// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "switchyard/platform/systems/gpu_roofline/gpu_kernels.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard::platform;

namespace {

double tflops(const Gemm& gemm, double us) {
    return 2.0 * static_cast<double>(gemm.m * gemm.n * gemm.k) / us * 1e-6;
}

}  // namespace

TEST_CASE("the A100's peaks are those of its data sheet", "[gpu]") {
    const GpuConfig gpu;
    CHECK(gpu.tensor_flops_per_us() * 1e-6 == Approx(312).epsilon(0.001));
    CHECK(gpu.vector_flops_per_us() * 1e-6 == Approx(78).epsilon(0.001));
    CHECK(gpu.l2_bytes_per_us() * 1e-3 == Approx(7219).epsilon(0.001));
}

TEST_CASE("one column more than 1792 is a second wave on 108 multiprocessors", "[gpu]") {
    const GpuConfig gpu;
    // The published example of wave quantisation on an A100: 98 tiles of 256x128, then 120.
    const GemmTiling one = tile_gemm(gpu, {1792, 1792, 1792}, 256, 128, 1);
    const GemmTiling two = tile_gemm(gpu, {1793, 1793, 1793}, 256, 128, 1);
    CHECK(one.blocks == 98);
    CHECK(one.waves == 1);
    CHECK(two.blocks == 120);
    CHECK(two.waves == 2);
    CHECK(two.us == Approx(2 * one.us).epsilon(0.001));
}

TEST_CASE("a wave takes as long as its slowest resource", "[gpu]") {
    GpuConfig gpu;
    gpu.tensor_efficiency = 1;
    // 64x64 tiles need 256 bytes for 8192 FLOP: 5120 / 108 bytes a cycle are slower than 2048 FLOP.
    const double cycles_of_bytes = 256.0 * 1024 / (5120.0 / 108);
    CHECK(tile_gemm(gpu, {64, 64, 1024}, 64, 64, 1).us == Approx(cycles_of_bytes / 1410));
    const double cycles_of_flops = 2.0 * 256 * 128 * 1024 / 2048;
    CHECK(tile_gemm(gpu, {256, 128, 1024}, 256, 128, 1).us == Approx(cycles_of_flops / 1410));
}

TEST_CASE("slices of the reduction fill idle multiprocessors and are paid for", "[gpu]") {
    const GpuConfig gpu;
    const Gemm flat{128, 128, 65536};
    const GemmTiling whole = tile_gemm(gpu, flat, 128, 128, 1), cut = tile_gemm(gpu, flat, 128, 128, 16);
    CHECK(whole.blocks == 1);
    CHECK(cut.blocks == 16);
    CHECK(cut.us == Approx(whole.us / 16 + 2 * 16 * 128 * 128 * 4 / gpu.l2_bytes_per_us() + gpu.queued_kernel_us));
    CHECK(best_tiling(gpu, flat).split_k > 1);
    CHECK(best_tiling(gpu, {16384, 4096, 4096}).split_k == 1);
}

TEST_CASE("a large dense GEMM is as fast as measured on A100s", "[gpu]") {
    const GpuConfig gpu;
    const Gemm gemm{16384, 4096, 4096};
    const GemmTiling best = best_tiling(gpu, gemm);
    CHECK(best.tile_m * best.tile_n == 256 * 128);
    // Measured by others: 230 (torch.matmul, transformers-benchmarks), 252.9 and 256.4 TFLOPS (best shapes, PCIe card).
    CHECK(tflops(gemm, best.us) > 230);
    CHECK(tflops(gemm, best.us) < 256.4);
    // Waves: 2048 tiles in 19 waves of 108.
    CHECK(tflops(gemm, best.us) == Approx(312 * 0.811 * 2048 / (19 * 108)).epsilon(0.001));
}

TEST_CASE("no GEMM beats the roofline, large ones come close", "[gpu]") {
    const GpuConfig gpu;
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        const Gemm gemm{1 + random() % 20000, 1 + random() % 2048, 1 + random() % 5000};
        const GemmTiling best = best_tiling(gpu, gemm);
        const double rate = tflops(gemm, best.us), roof = gpu.tensor_flops_per_us() * gpu.tensor_efficiency * 1e-6;
        CHECK(rate <= roof * (1 + 1e-9));
        CHECK(best.waves == (best.blocks + gpu.multiprocessors - 1) / gpu.multiprocessors);
        for (const auto& [m, n] : gemm_tiles()) CHECK(best.us <= tile_gemm(gpu, gemm, m, n, 1).us);
        // At most one wave in four and one tile in each dimension in eight are lost.
        if (gemm.m > 8192 && gemm.n > 1024) CHECK(rate > roof * 0.6);
    }
}

TEST_CASE("launches and kernels overlap until the host waits", "[gpu]") {
    GpuConfig gpu;
    gpu.launch_us = 2.25;
    gpu.queued_kernel_us = 1.5;
    gpu.synchronisation_us = 10;
    SECTION("long kernels hide the launches") {
        LaunchQueue queue(gpu);
        for (int i = 0; i < 3; ++i) queue.launch(100);
        CHECK(queue.end_us() == 2.25 + 3 * 100 + 2 * 1.5);
        CHECK(queue.busy_us() == 300);
    }
    SECTION("short ones wait for them") {
        LaunchQueue queue(gpu);
        for (int i = 0; i < 4; ++i) queue.launch(0.5);
        CHECK(queue.end_us() == 4 * 2.25 + 0.5);
    }
    SECTION("a synchronisation empties the queue") {
        LaunchQueue queue(gpu);
        queue.launch(100);
        queue.synchronise();
        queue.launch(100);
        CHECK(queue.end_us() == 2.25 + 100 + 10 + 2.25 + 100);
        queue.synchronise();
        queue.synchronise();
        queue.launch(0);
        CHECK(queue.end_us() == 2 * (2.25 + 100) + 10 + 20 + 2.25);
        CHECK(queue.launches() == 3);
        CHECK(queue.synchronisations() == 3);
    }
}

TEST_CASE("the cache keeps what was used last", "[gpu]") {
    const auto tensor = [](int id) { return TensorCache::Tensor{id, -1, 0, TensorCache::Form::plain}; };
    TensorCache cache(100);
    CHECK_FALSE(cache.read(tensor(1), 40));
    CHECK(cache.read(tensor(1), 40));
    cache.write(tensor(2), 40);
    CHECK(cache.read(tensor(1), 40));
    cache.write(tensor(3), 40);  // 2 was used longest ago
    CHECK_FALSE(cache.read(tensor(2), 40));
    CHECK(cache.read(tensor(3), 40));
    CHECK_FALSE(cache.read(tensor(1), 40));
    SECTION("a part of a tensor is there if the whole is") {
        cache.write(tensor(4), 50);
        CHECK(cache.read(tensor(4), 10));
        CHECK(cache.read(tensor(4), 50));
    }
    SECTION("the whole is not there if a part is") {
        cache.write(tensor(4), 10);
        CHECK_FALSE(cache.read(tensor(4), 50));
    }
    SECTION("what does not fit empties it") {
        cache.write(tensor(5), 101);
        CHECK_FALSE(cache.read(tensor(1), 40));
        CHECK_FALSE(cache.read(tensor(5), 101));
    }
}
