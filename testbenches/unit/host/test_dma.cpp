// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>
#include <random>

#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using regs::ErrorCode;

namespace {

constexpr std::uint32_t kBytes = 100'000;
constexpr std::uint64_t kNearBoundary = FakeChip::kRegion - 30'000;  ///< a transfer from here spans both interfaces
constexpr std::uint64_t kHostAddress = 0x1234;

void fill(std::vector<std::uint8_t>& bytes) {
    std::mt19937 random(3);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
}

std::uint64_t total(const std::vector<std::uint32_t>& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

/// Simulated time from the doorbell of the DMA to its interrupt's edge.
sc_core::sc_time dma_time(HostRig& r, std::uint64_t host, std::uint64_t chip, std::uint32_t bytes,
                          std::uint32_t control) {
    r.write(regs::kIrqEnable, regs::kIrqAll);
    r.start_dma(host, chip, bytes, control);
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    CHECK((r.read(regs::kStatus) & regs::kDmaBusy) != 0);
    while (!r.irq.read()) sc_core::wait(r.irq.value_changed_event());
    const sc_core::sc_time end = sc_core::sc_time_stamp();
    CHECK(r.wait_for_interrupt() == regs::kIrqDmaDone);
    CHECK((r.read(regs::kStatus) & regs::kDmaBusy) == 0);
    return end - begin;
}

}  // namespace

SIM_TEST("values go to the chip, cut into chunks and at the border of a region", "[host][dma]") {
    HostRig rig;
    fill(rig.memory);
    rig.run([](HostRig& r) { dma_time(r, kHostAddress, kNearBoundary, kBytes, regs::kDmaToChip); });
    CHECK(std::equal(&rig.memory[kHostAddress], &rig.memory[kHostAddress + kBytes], &rig.chip.hbm[kNearBoundary]));
    CHECK(rig.chip.hbm[kNearBoundary - 1] == 0);
    CHECK(rig.chip.hbm[kNearBoundary + kBytes] == 0);
    CHECK(rig.chip.write_sizes ==
          std::vector<std::uint32_t>{16384, 30'000 - 16384, 16384, 16384, 16384, 16384, 70'000 - 4 * 16384});
    CHECK(rig.registry.sum("rig.host", "dma_to_chip_bytes") == kBytes);
}

SIM_TEST("values come back from the chip", "[host][dma]") {
    HostRig rig;
    fill(rig.chip.hbm);
    rig.run([](HostRig& r) { dma_time(r, kHostAddress, kNearBoundary, kBytes, regs::kDmaFromChip); });
    CHECK(std::equal(&rig.memory[kHostAddress], &rig.memory[kHostAddress + kBytes], &rig.chip.hbm[kNearBoundary]));
    CHECK(rig.memory[kHostAddress - 1] == 0);
    CHECK(rig.memory[kHostAddress + kBytes] == 0);
    CHECK(total(rig.chip.read_sizes) == kBytes);
    CHECK(rig.registry.sum("rig.host", "dma_from_chip_bytes") == kBytes);
}

TEST_CASE("sizes alone take the same time, and no value moves", "[host][dma]") {
    for (const std::uint32_t direction : {regs::kDmaToChip, regs::kDmaFromChip}) {
        in_child([&] {
            HostRig rig;
            fill(rig.memory);
            fill(rig.chip.hbm);
            const std::vector<std::uint8_t> memory = rig.memory, hbm = rig.chip.hbm;
            rig.run([&](HostRig& r) {
                const auto sizes = dma_time(r, kHostAddress, kNearBoundary, kBytes, direction | regs::kDmaSizeOnly);
                CHECK((r.memory == memory && r.chip.hbm == hbm));
                CHECK(dma_time(r, kHostAddress, kNearBoundary, kBytes, direction) == sizes);
            });
            const std::size_t half = rig.memory_accesses_had_values.size() / 2;
            for (std::size_t i = 0; i < 2 * half; ++i) CHECK(rig.memory_accesses_had_values[i] == (i >= half));
            const auto& flags =
                direction == regs::kDmaToChip ? rig.chip.writes_had_values : rig.chip.reads_wanted_values;
            for (std::size_t i = 0; i < flags.size(); ++i) CHECK(flags[i] == (i >= flags.size() / 2));
        });
    }
}

TEST_CASE("a long transfer takes bytes / link rate and one latency, exactly", "[host][dma]") {
    constexpr std::uint32_t kMany = 512 * 1024;
    for (const double rate : {32.0, 64.0, 7.5}) {
        in_child([&] {
            hw::HostInterface::Config config;
            config.link_bytes_per_cycle = rate;
            HostRig rig(config);
            rig.run([&](HostRig& r) {
                // Each chunk occupies the link for whole cycles.
                const double link = 32 * std::ceil(16384 / rate);
                const auto to_chip = dma_time(r, 0, 0, kMany, regs::kDmaToChip);
                CHECK(to_chip == ns(link + HostRig::kMemoryLatencyNs + 2 * FakeChip::kNetworkNs + FakeChip::kMemoryNs));
                const auto from_chip = dma_time(r, 0, 0, kMany, regs::kDmaFromChip);
                const double last_packet = std::ceil(FakeChip::kReplyBytes / rate);
                CHECK(from_chip >= ns(link + HostRig::kMemoryLatencyNs + FakeChip::kMemoryNs));
                CHECK(from_chip <= ns(link + HostRig::kMemoryLatencyNs + 2 * FakeChip::kNetworkNs +
                                      FakeChip::kMemoryNs + 32 * 4 + last_packet));
            });
        });
    }
}

SIM_TEST("the link is never faster than its rate", "[host][dma]") {
    HostRig rig;
    rig.run([](HostRig& r) { dma_time(r, 0, 0, 10 * 16384, regs::kDmaToChip); });
    for (std::size_t i = 1; i < rig.chip.write_times.size(); ++i)
        CHECK(rig.chip.write_times[i] - rig.chip.write_times[i - 1] >= ns(512));  // 16384 bytes at 32 a nanosecond
}

SIM_TEST("a DMA runs beside a batch", "[host][dma]") {
    HostRig rig;
    rig.chip.tile_delay = {{0, ns(2000)}, {1, ns(2000)}};
    rig.run([](HostRig& r) {
        r.load(host_image());
        r.write(regs::kDoorbell, 0);
        r.start_dma(0, 0, 32768, regs::kDmaToChip);
        CHECK(r.read(regs::kStatus) == (regs::kLoaded | regs::kBusy | regs::kDmaBusy));
        CHECK(r.wait_for_interrupt() == regs::kIrqDmaDone);
        CHECK(r.read(regs::kStatus) == (regs::kLoaded | regs::kBusy));
        CHECK(r.wait_for_interrupt() == regs::kIrqBatchDone);
        CHECK(r.read(regs::kLastCyclesLow) == 4000 + 4 * FakeChip::kNetworkNs);
    });
}

SIM_TEST("bad DMA requests are refused", "[host][dma]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        const std::uint64_t end = FakeChip::kInterfaces * FakeChip::kRegion;
        struct Bad {
            std::uint64_t chip;
            std::uint32_t bytes, control;
        };
        for (const Bad& bad : {Bad{0, 0, regs::kDmaToChip}, Bad{0, 16, regs::kDmaToChip | regs::kDmaFromChip},
                               Bad{0, 16, regs::kDmaSizeOnly}, Bad{end, 1, regs::kDmaToChip},
                               Bad{end - 8, 9, regs::kDmaFromChip}, Bad{~0ull, 2, regs::kDmaToChip}}) {
            r.start_dma(0, bad.chip, bad.bytes, bad.control);
            CHECK(r.wait_for_interrupt() == regs::kIrqError);
            CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::dma_request));
            CHECK((r.read(regs::kStatus) & regs::kDmaBusy) == 0);
        }
        r.start_dma(0, end - 8, 8, regs::kDmaToChip);
        r.write(regs::kDmaControl, regs::kDmaToChip);
        CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::dma_busy));
    });
    CHECK(rig.chip.write_sizes == std::vector<std::uint32_t>{8});
}

TEST_CASE("an error of host memory ends a DMA and tells how far it came", "[host][dma]") {
    for (const std::uint32_t direction : {regs::kDmaToChip, regs::kDmaFromChip}) {
        in_child([&] {
            HostRig rig;
            rig.run([&](HostRig& r) {
                r.start_dma(r.memory.size() - 2 * 16384, 0, 4 * 16384, direction);
                CHECK((r.wait_for_interrupt() & regs::kIrqError) != 0);
                CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::dma_host_memory));
                CHECK(r.read(regs::kErrorInfo) == 2 * 16384);
                CHECK(r.error_text() ==
                      std::string("expected host memory to answer a DMA, found after 32768 bytes a ") +
                          (direction == regs::kDmaToChip ? "read of 16384" : "write of 4096") +
                          " bytes at 0x100000 with TLM_ADDRESS_ERROR_RESPONSE");
                CHECK((r.read(regs::kStatus) & regs::kDmaBusy) == 0);
            });
            CHECK(rig.registry.waits().empty());
        });
    }
}

SIM_TEST("host memory that sets no response status is told from one that refuses", "[host][dma]") {
    HostRig rig;
    rig.memory_sets_status = false;
    rig.memory_checker.monitor().set_handler([](const auto&...) {});
    rig.run([](HostRig& r) {
        r.start_dma(0x2000, 0, 64, regs::kDmaToChip);
        CHECK((r.wait_for_interrupt() & regs::kIrqError) != 0);
        CHECK(r.error_text() ==
              "expected host memory to answer a DMA, found after 0 bytes a read of 64 bytes at 0x2000 with "
              "TLM_INCOMPLETE_RESPONSE: the target sets no response status; a switchyard::ProtocolRepairAdapter in "
              "front of "
              "it does (docs/tlm.md)");
    });
}
