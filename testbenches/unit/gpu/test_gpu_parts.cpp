// SPDX-License-Identifier: Apache-2.0
// Occupancy, fair shares, the L2: without simulation.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "switchyard/hw/gpu/fair_share.h"
#include "switchyard/hw/gpu/kernel_cost.h"
#include "switchyard/hw/gpu/l2_cache.h"
#include "switchyard/hw/gpu/occupancy.h"
#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/unit/gpu/gpu_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::uint32_t resident(const std::string& gpu, std::uint32_t threads, std::uint32_t registers, std::uint32_t shared) {
    sched::GpuKernel kernel = compute_kernel(1, 0, threads);
    kernel.registers_per_thread = registers;
    kernel.shared_bytes = shared;
    return hw::resident_ctas(platform::read_gpu_platform("configs/gpus/" + gpu + ".yaml").gpu.multiprocessors,
                             hw::kernel_packet(kernel, 0));
}

}  // namespace

TEST_CASE("resident CTAs are those of the CUDA Occupancy Calculator", "[gpu]") {
    // Compute capability 8.0: 64 warps, 32 CTAs, 64 K registers, 164 KiB.
    CHECK(resident("a100_40gb", 256, 32, 0) == 8);
    CHECK(resident("a100_40gb", 32, 32, 0) == 32);
    CHECK(resident("a100_40gb", 256, 64, 0) == 4);
    CHECK(resident("a100_40gb", 256, 255, 0) == 1);
    CHECK(resident("a100_40gb", 1024, 32, 0) == 2);
    CHECK(resident("a100_40gb", 1024, 65, 0) == 0);
    CHECK(resident("a100_40gb", 128, 32, 48 * 1024) == 3);
    CHECK(resident("a100_40gb", 128, 32, 163 * 1024) == 1);
    // 8.6: 48 warps, 16 CTAs, 100 KiB. 8.9: 24 CTAs. 7.0: 96 KiB, none of it taken by the system.
    CHECK(resident("rtx3070", 256, 32, 0) == 6);
    CHECK(resident("rtx3070", 64, 32, 0) == 16);
    CHECK(resident("rtx3070", 128, 32, 49 * 1024) == 2);
    CHECK(resident("rtx4090", 64, 32, 0) == 24);
    CHECK(resident("v100", 64, 32, 0) == 32);
    CHECK(resident("v100", 128, 32, 48 * 1024) == 2);
}

TEST_CASE("peak rates of the platform files are those of the data sheets", "[gpu]") {
    struct Peak {
        const char* name;
        double fp32_tflops, fp16_tensor_tflops, gb_per_s;
    };
    // Dense, with FP16 accumulation for the GeForce cards.
    for (const Peak& peak :
         {Peak{"a100_40gb", 19.5, 312, 1555}, Peak{"a100_80gb", 19.5, 312, 1935}, Peak{"v100", 15.7, 125, 900},
          Peak{"rtx3060", 12.7, 51, 360}, Peak{"rtx3070", 20.3, 81.3, 448}, Peak{"rtx4090", 82.6, 330.3, 1008}}) {
        INFO(peak.name);
        const platform::GpuPlatform p = platform::read_gpu_platform(std::string("configs/gpus/") + peak.name + ".yaml");
        const hw::MultiprocessorConfig& m = p.gpu.multiprocessors;
        CHECK(m.count * m.clock_ghz * m.fp32_flops_per_cycle / 1000 == Approx(peak.fp32_tflops).epsilon(0.01));
        CHECK(m.count * m.clock_ghz * m.tensor_flops_per_cycle / 1000 == Approx(peak.fp16_tensor_tflops).epsilon(0.01));
        CHECK(p.device_memory.peak_gb_per_s == peak.gb_per_s);
        CHECK(p.gpu.memory.memory_gb_per_s < peak.gb_per_s);
        CHECK(p.gpu.memory.memory_gb_per_s > 0.85 * peak.gb_per_s);
    }
}

TEST_CASE("a GPU's file is refused with file, line and key", "[gpu]") {
    CHECK_THROWS_WITH(platform::read_gpu_platform("configs/gpus/v100.yaml", {{"multiprocessors.sms", "3"}}),
                      ContainsSubstring("multiprocessors.sms: expected a known key, found multiprocessors.sms"));
    CHECK_THROWS_WITH(platform::read_gpu_platform("configs/gpus/v100.yaml", {{"gpu.impl", "sass"}}),
                      ContainsSubstring("gpu.impl"));
    CHECK_THROWS_WITH(platform::read_gpu_platform("configs/platforms/adyna.yaml"),
                      ContainsSubstring("configs/platforms/adyna.yaml:"));
    CHECK_THROWS_WITH(platform::read_gpu_platform("configs/gpus/v100.yaml", {{"memory.l2_block_bytes", "5000"}}),
                      ContainsSubstring("l2_block_bytes: expected a power of two, found "));
}

TEST_CASE("docs/gpu_keys.md is what the program prints", "[gpu]") {
    std::ifstream file("docs/gpu_keys.md");
    const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    CHECK(page == platform::gpu_keys_markdown());
}

TEST_CASE("shares are max-min fair and add up", "[gpu]") {
    std::vector<hw::ShareDemand> users{{1, 10, 0}, {1, 1, 0}, {2, 100, 0}, {1, 0, 0}};
    hw::share_fairly(31, users);
    CHECK(users[1].granted == Approx(1));
    CHECK(users[0].granted == Approx(10));
    CHECK(users[2].granted == Approx(20));
    CHECK(users[3].granted == 0);
    hw::share_fairly(1000, users);
    CHECK(users[2].granted == Approx(100));
}

TEST_CASE("the L2 keeps what was used last, and writes back what it evicts", "[gpu]") {
    hw::L2Cache l2(4 * 4096, 4096);
    CHECK(l2.read({0, 8192}).missed_bytes == 8192);
    CHECK(l2.read({0, 8192}).missed_bytes == 0);
    CHECK(l2.write({8192, 8192}).missed_bytes == 0);
    CHECK(l2.resident_bytes() == 16384);
    // The least recently used are the two blocks that were read.
    CHECK(l2.read({1 << 20, 8192}).written_back_bytes == 0);
    CHECK(l2.read({2 << 20, 8192}).written_back_bytes == 8192);
    // A part of a block counts as a part; beyond 2^48 comes 0.
    hw::L2Cache another(1 << 20, 4096);
    CHECK(another.read({100, 10}).missed_bytes == 10);
    CHECK(another.read({(1ull << 48) - 4096, 8192}).missed_bytes == 4096);
    CHECK(hw::L2Cache(0, 4096).write({0, 100}).written_back_bytes == 100);
}

TEST_CASE("a CTA alone takes the latencies of its loads and the time of its warps", "[gpu]") {
    hw::Gpu::Config config = plain_gpu();
    config.memory.l2_latency_ns = 100;
    config.memory.memory_latency_ns = 300;
    config.multiprocessors.warp_latency_cycles = 4;
    sched::GpuKernel kernel = compute_kernel(2, 6400, 64);
    kernel.work.read_bytes = 1000;
    kernel.schedule.dependent_loads = 10;
    kernel.schedule.memory_instructions = 2 * 50;
    const hw::GpuPacket packet = hw::kernel_packet(kernel, 0);
    // Two warps on two of four partitions: 100 arithmetic and 50 memory instructions.
    const auto cost = hw::cta_cost(config.multiprocessors, config.memory, packet, {500, 0});
    CHECK(cost.compute_ns == Approx(50));
    CHECK(cost.alone_ns == Approx(1 + 10 * 200 + 150 / 2 * 4));
    CHECK(cost.memory_bytes == Approx(250));
}

namespace {

/// The L2 block by block, as L2Cache does it for segments that fit.
class PlainL2 {
public:
    PlainL2(std::uint64_t blocks, std::uint64_t block_bytes) : capacity_(blocks), bytes_(block_bytes) {}
    hw::L2Cache::Traffic touch(const sched::MemorySegment& segment, bool write) {
        hw::L2Cache::Traffic traffic;
        const std::uint64_t end = segment.start + segment.size;
        for (std::uint64_t at = segment.start; at < end;) {
            const std::uint64_t number = at / bytes_, next = std::min(end, (number + 1) * bytes_);
            const auto found =
                std::find_if(held_.begin(), held_.end(), [&](const auto& b) { return b.first == number; });
            bool dirty = write;
            if (found != held_.end()) {
                dirty |= found->second;
                held_.erase(found);
            } else if (!write) {
                traffic.missed_bytes += next - at;
            }
            held_.insert(held_.begin(), {number, dirty});
            if (held_.size() > capacity_) {
                if (held_.back().second) traffic.written_back_bytes += capacity_ == 0 ? next - at : bytes_;
                held_.pop_back();
            }
            at = next;
        }
        return traffic;
    }

private:
    std::uint64_t capacity_, bytes_;
    std::vector<std::pair<std::uint64_t, bool>> held_;
};

}  // namespace

TEST_CASE("the L2 counts segments larger than itself as block by block", "[gpu]") {
    std::mt19937_64 random(7);
    for (const std::uint64_t blocks : {0, 1, 2, 5, 16})
        for (unsigned round = 0; round < 200; ++round) {
            hw::L2Cache cache(blocks * 64, 64);
            PlainL2 plain(blocks, 64);
            for (unsigned i = 0; i < 12; ++i) {
                const sched::MemorySegment segment{random() % 4000, 1 + random() % (random() % 3 == 0 ? 4000 : 300)};
                const bool write = random() % 2 == 0;
                const hw::L2Cache::Traffic got = write ? cache.write(segment) : cache.read(segment);
                const hw::L2Cache::Traffic expected = plain.touch(segment, write);
                CAPTURE(blocks, round, i, segment.start, segment.size, write);
                REQUIRE(got.missed_bytes == expected.missed_bytes);
                REQUIRE(got.written_back_bytes == expected.written_back_bytes);
            }
        }
}

TEST_CASE("a segment as large as the address space takes no longer than the L2's blocks", "[gpu]") {
    for (const std::uint64_t capacity : {std::uint64_t{0}, std::uint64_t{40} << 20}) {
        hw::L2Cache cache(capacity, 4096);
        for (const std::uint64_t bytes : {std::uint64_t{1} << 40, sched::kAddressSpace}) {
            CHECK(cache.read({100, bytes}).missed_bytes == bytes);
            CHECK(cache.write({100, bytes}).written_back_bytes >= bytes - 2 * capacity - 8192);
        }
        CHECK(cache.resident_bytes() == capacity);
    }
}
