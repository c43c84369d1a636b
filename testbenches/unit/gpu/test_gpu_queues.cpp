// SPDX-License-Identifier: Apache-2.0
// Queues, events, copies, errors.
#include "switchyard/testbenches/unit/gpu/gpu_bench.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using hw::GpuPacket;

namespace {

GpuPacket event(GpuPacket::Kind kind, std::uint64_t address, std::uint64_t value) {
    GpuPacket packet;
    packet.kind = kind;
    packet.event_address = address;
    packet.event_value = value;
    return packet;
}

constexpr std::uint64_t kEvent = 64;

}  // namespace

TEST_CASE("a packet is what was encoded", "[gpu]") {
    sched::GpuKernel kernel = compute_kernel(7, 1000);
    kernel.reads = {{4096, 10}};
    kernel.schedule = {11, 12, 13};
    GpuPacket packet = hw::kernel_packet(kernel, 99, 1 << 20);
    packet.event_address = kEvent;
    packet.event_value = 5;
    packet.in_order = false;
    const GpuPacket decoded = hw::decode_gpu_packet(hw::encode(packet));
    CHECK(decoded.ctas() == 7);
    CHECK(decoded.tag == 99);
    CHECK(decoded.event_value == 5);
    CHECK_FALSE(decoded.in_order);
    CHECK(decoded.schedule.dependent_loads == 13);
    CHECK(decoded.segments_address == 1 << 20);
    CHECK(decoded.read_segments == 1);
    CHECK(decoded.write_segments == 0);
    hw::GpuPacketBytes bytes = hw::encode(packet);
    bytes[0] = 77;
    CHECK_THROWS_WITH(hw::decode_gpu_packet(bytes), ContainsSubstring("expected a known code, found 77"));
}

SIM_TEST("kernels of a queue run one after another, unless they need not", "[gpu]") {
    hw::Gpu::Config config = plain_gpu();
    config.command_processor.dependent_launch_ns = 100;
    config.command_processor.launch_ns = 400;
    GpuBench bench("bench", config);
    bench.push(0, compute_kernel(1, 128000), 1);
    bench.push(0, compute_kernel(1, 128000), 2);
    bench.push(0, compute_kernel(1, 128000), 3, false);
    bench.run();
    CHECK(GpuBench::ns(bench.record(1).started) == Approx(400).epsilon(0.01));
    CHECK(GpuBench::ns(bench.record(2).started) == Approx(1500).epsilon(0.01));
    CHECK(GpuBench::ns(bench.record(3).started) == Approx(1900).epsilon(0.01));
}

SIM_TEST("a queue waits for the event that another signals", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    bench.push(0, event(GpuPacket::Kind::event_wait, kEvent, 3));
    bench.push(0, compute_kernel(1, 128000), 1);
    bench.push(1, compute_kernel(1, 256000), 2);
    bench.push(1, event(GpuPacket::Kind::event_signal, kEvent, 3));
    bench.run();
    CHECK(bench.record(1).started >= bench.record(2).completed);
    CHECK(bench.word(kEvent) == 3);
    CHECK(bench.gpu.idle());
    CHECK(bench.gpu.stall().empty());
}

SIM_TEST("the host hears of a completion by interrupt, register and event", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    GpuPacket packet = hw::kernel_packet(compute_kernel(1, 128000), 1);
    packet.interrupt = true;
    packet.event_address = kEvent;
    packet.event_value = 17;
    bench.push(3, packet);
    bool heard = false;
    bench.run([&] {
        sc_core::wait(bench.irq.posedge_event());
        heard = true;
        namespace reg = hw::gpu_registers;
        CHECK(bench.read_register(reg::queue(3, reg::kCompleted)) == 1);
        CHECK(bench.word(kEvent) == 17);
        bench.write_register(reg::queue(3, reg::kInterrupt), 1);
        sc_core::wait(sc_core::sc_time(1, sc_core::SC_NS));
        CHECK_FALSE(bench.irq.read());
    });
    CHECK(heard);
}

SIM_TEST("a driver fills the ring, waits for room and goes on", "[gpu]") {
    constexpr std::uint32_t kPackets = 4, kKernels = 23;
    GpuBench bench("bench", plain_gpu());
    namespace reg = hw::gpu_registers;
    std::uint32_t most = 0;
    bench.run([&] {
        const std::uint64_t base = 1 << 20;
        bench.write_register(reg::queue(0, reg::kBaseLow), base);
        bench.write_register(reg::queue(0, reg::kPackets), kPackets);
        for (std::uint32_t written = 0; written < kKernels;) {
            while (written - bench.read_register(reg::queue(0, reg::kReadIndex)) == kPackets)
                sc_core::wait(sc_core::sc_time(50, sc_core::SC_NS));
            const hw::GpuPacketBytes bytes = hw::encode(hw::kernel_packet(compute_kernel(1, 128000), written + 1));
            bench.store(base + written % kPackets * hw::kGpuPacketBytes, {bytes.begin(), bytes.end()});
            bench.write_register(reg::queue(0, reg::kWriteIndex), ++written);
            most = std::max(most, written - bench.read_register(reg::queue(0, reg::kReadIndex)));
        }
    });
    CHECK(most == kPackets);
    CHECK(bench.gpu.idle());
    for (std::uint64_t tag = 1; tag <= kKernels; ++tag) CHECK(bench.record(tag).completed > sc_core::SC_ZERO_TIME);
}

TEST_CASE("a doorbell beyond the ring, and another ring for packets that were not taken, are refused", "[gpu]") {
    for (const bool beyond : {true, false})
        switchyard::testing::in_child([beyond] {
            GpuBench bench("bench", plain_gpu());
            namespace reg = hw::gpu_registers;
            switchyard::testing::ExpectReport report("uncaught exception");
            try {
                bench.run([&] {
                    bench.write_register(reg::queue(0, reg::kPackets), 4);
                    bench.write_register(reg::queue(0, reg::kWriteIndex), beyond ? 5 : 4);
                    bench.write_register(reg::queue(0, reg::kPackets), 0);
                });
                FAIL("it ran");
            } catch (const sc_core::sc_report& error) {
                CHECK_THAT(
                    error.get_msg(),
                    ContainsSubstring(beyond ? "queue 0: WRITE_INDEX 5: expected at most the 4 packets of the ring "
                                               "beyond READ_INDEX, found 5; wait until READ_INDEX is 1"
                                             : "queue 0: PACKETS: expected an empty ring, found 4 packets; wait "
                                               "until READ_INDEX is 4"));
            }
        });
}

SIM_TEST("queues that wait for each other are named, with the cycle", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    bench.push(0, event(GpuPacket::Kind::event_wait, kEvent, 1));
    bench.push(0, event(GpuPacket::Kind::event_signal, kEvent + 8, 1));
    bench.push(1, event(GpuPacket::Kind::event_wait, kEvent + 8, 1));
    bench.push(1, event(GpuPacket::Kind::event_signal, kEvent, 1));
    bench.run();
    CHECK(
        bench.gpu.stall() ==
        "queue 0 (packet 0, tag 0) waits for event 0x40 to be 1 (it is 0), which packet 1 of queue 1 signals; "
        "queue 1 (packet 0, tag 0) waits for event 0x48 to be 1 (it is 0), which packet 1 of queue 0 signals: a cycle");
    REQUIRE(bench.registry.waits().size() == 1);
}

SIM_TEST("a queue that nobody signals says so", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    bench.push(2, event(GpuPacket::Kind::event_wait, kEvent, 9));
    bench.run();
    CHECK(bench.gpu.stall() ==
          "queue 2 (packet 0, tag 0) waits for event 0x40 to be 9 (it is 0), which no packet signals");
}

SIM_TEST("a kernel that fits no multiprocessor is refused with one line", "[gpu]") {
    GpuBench bench("bench", plain_gpu());
    sched::GpuKernel kernel = compute_kernel(1, 1000);
    kernel.shared_bytes = 200000;
    bench.push(1, kernel, 42);
    ExpectReport report("uncaught exception");
    try {
        bench.run();
        FAIL("it ran");
    } catch (const sc_core::sc_report& error) {
        CHECK_THAT(error.get_msg(), ContainsSubstring("queue 1: packet 0: "));
        CHECK_THAT(
            error.get_msg(),
            ContainsSubstring("kernel 42: shared_bytes: expected at most 167936 in a CTA, as an SM has, found 201088"));
    }
}

SIM_TEST("copies move bytes both ways at the rate of the link", "[gpu]") {
    hw::PcieLink::Config link;
    GpuBench bench("bench", plain_gpu(), link);
    constexpr std::uint64_t kBytes = 1 << 20;
    for (std::uint64_t i = 0; i < kBytes; ++i) bench.host_bytes()[i] = static_cast<std::uint8_t>(i * 7);
    GpuPacket packet;
    packet.kind = GpuPacket::Kind::copy;
    packet.bytes = kBytes;
    packet.source = 0;
    packet.destination = 1ull << 30;
    bench.push(0, packet);
    packet.direction = GpuPacket::Direction::device_to_host;
    packet.source = 1ull << 30;
    packet.destination = 2 << 20;
    bench.push(0, packet);
    double first = 0, second = 0;
    bench.run([&] {
        namespace reg = hw::gpu_registers;
        while (bench.read_register(reg::queue(0, reg::kCompleted)) < 1)
            sc_core::wait(sc_core::sc_time(10, sc_core::SC_NS));
        first = GpuBench::now();
        while (bench.read_register(reg::queue(0, reg::kCompleted)) < 2)
            sc_core::wait(sc_core::sc_time(10, sc_core::SC_NS));
        second = GpuBench::now() - first;
    });
    CHECK(std::equal(bench.host_bytes().begin(), bench.host_bytes().begin() + kBytes,
                     bench.host_bytes().begin() + (2 << 20)));
    const double ns = kBytes / (hw::pcie_link_gb_per_s(link) * hw::pcie_payload_share(link));
    // Both ways once more for the first and the last chunk, and what a chunk takes that is alone on the link.
    CHECK(first == Approx(ns).margin(2 * link.latency_ns + ns / 16));
    CHECK(second == Approx(ns).margin(2 * link.latency_ns + ns / 16));
}

TEST_CASE("device memory may be a DRAM, command by command", "[gpu]") {
    for (const char* device : {"hbm2_2000", "gddr6_14"}) {
        in_child([device] {
            INFO(device);
            GpuBench bench("bench", plain_gpu(), {}, device);
            sched::GpuKernel kernel = compute_kernel(1, 128000);
            kernel.reads = {{1 << 24, 4096}};
            for (std::uint64_t tag = 1; tag <= 3; ++tag) bench.push(0, kernel, tag);
            bench.push(0, event(GpuPacket::Kind::event_signal, kEvent, 7));
            bench.run();
            CHECK(bench.word(kEvent) == 7);
            CHECK(bench.gpu.idle());
            // Packets are read from it: more than the kernels' own time, and not much more.
            const double us = GpuBench::ns(bench.record(3).completed) / 1000;
            CHECK(us > 3.01);
            CHECK(us < 4);
            CHECK(bench.dram->stats().read_bytes == 4 * hw::kGpuPacketBytes);
        });
    }
}

TEST_CASE("a kernel that is held keeps its places, and one beside it has the other multiprocessors", "[gpu]") {
    for (const char* impl : {"cta", "warp"}) {
        for (const std::uint32_t held : {0u, 1u, 2u}) {
            in_child([impl, held] {
                CAPTURE(impl, held);
                GpuBench bench("bench", plain_gpu(impl));
                // 640 threads of 96 registers leave a multiprocessor no place for 512 threads of 32.
                sched::GpuKernel mover = compute_kernel(held, 0, 640);
                mover.registers_per_thread = 96;
                unsigned resident = 0;
                bench.gpu.set_holds([](const hw::KernelLaunch& launch) { return launch.packet.tag == 9; },
                                    [&](const hw::KernelLaunch&) { ++resident; });
                if (held > 0) bench.push(0, mover, 9);
                // Four CTAs a multiprocessor: 3, 4 or 6 waves.
                bench.push(1, compute_kernel(48, 128000, 512), 1);
                bench.run([&] {
                    sc_core::wait(sc_core::sc_time(100, sc_core::SC_US));
                    CHECK(resident == (held > 0 ? 1 : 0));
                    if (held > 0) bench.gpu.release(9);
                });
                const auto took = [&](std::uint64_t tag) {
                    return GpuBench::ns(bench.record(tag).completed - bench.record(tag).started);
                };
                CHECK(took(1) == Approx(12000.0 * 4 / (4 - held)).epsilon(0.01));
                if (held == 0) return;
                CHECK(took(9) > 99000);
                CHECK_THROWS_AS(bench.gpu.release(9), ModelError);
            });
        }
    }
}
