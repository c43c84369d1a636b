// SPDX-License-Identifier: Apache-2.0
// Lists of transfers: descriptors in host memory, little-endian: u64 host address, u64 chip address, u32 bytes, u32
// control (as DMA_CONTROL), u64 reserved.

#include <algorithm>
#include <cmath>
#include <random>

#include "switchyard/sw_scheduler/base/bytes.h"
#include "switchyard/testbenches/unit/host/host_rig.h"

using namespace switchyard;
using namespace switchyard::testing;
using Catch::Matchers::ContainsSubstring;
using regs::ErrorCode;

namespace {

struct Descriptor {
    std::uint64_t host, chip;
    std::uint32_t bytes, control;
    std::uint64_t reserved = 0;
};

constexpr std::uint64_t kList = 0xC0008;
constexpr std::uint32_t kDescriptorBytes = 32;

void put_list(HostRig& rig, const std::vector<Descriptor>& list, std::uint64_t address = kList) {
    ByteWriter writer;
    for (const Descriptor& d : list) writer(d.host, d.chip, d.bytes, d.control, d.reserved);
    const std::vector<std::uint8_t> bytes = writer.take();
    REQUIRE(bytes.size() == list.size() * kDescriptorBytes);
    REQUIRE(address + bytes.size() <= rig.memory.size());
    std::copy(bytes.begin(), bytes.end(), rig.memory.begin() + static_cast<std::ptrdiff_t>(address));
}

/// Runs the list; the time from DMA_CONTROL to the interrupt, which it leaves in `interrupts`.
sc_core::sc_time run_list(HostRig& r, const std::vector<Descriptor>& list, std::uint32_t& interrupts) {
    put_list(r, list);
    r.write(regs::kIrqEnable, regs::kIrqAll);
    r.start_dma(kList, 0, static_cast<std::uint32_t>(list.size()) * kDescriptorBytes, regs::kDmaList);
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    CHECK((r.read(regs::kStatus) & regs::kDmaBusy) != 0);
    while (!r.irq.read()) sc_core::wait(r.irq.value_changed_event());
    const sc_core::sc_time end = sc_core::sc_time_stamp();
    interrupts = r.wait_for_interrupt();
    CHECK((r.read(regs::kStatus) & regs::kDmaBusy) == 0);
    return end - begin;
}

void fill(std::vector<std::uint8_t>& bytes, unsigned seed) {
    std::mt19937 random(seed);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
}

}  // namespace

SIM_TEST("a list moves what its transfers would, in order, with one interrupt", "[host][dma]") {
    HostRig rig;
    fill(rig.memory, 1);
    fill(rig.chip.hbm, 2);
    const std::vector<Descriptor> list{
        {0x100, 0x200, 5000, regs::kDmaToChip},
        {0x9000, FakeChip::kRegion - 20'000, 40'000, regs::kDmaToChip},       // over the border of two regions
        {0x20000, 0x200, 3, regs::kDmaFromChip},                              // what the first one has brought
        {0x30000, FakeChip::kRegion - 20'000, 40'000, regs::kDmaFromChip},    // and the second one
        {0x30000, 0x40000, 1000, regs::kDmaToChip},                           // and back again
        {0x50000, 0x50000, 30'000, regs::kDmaFromChip | regs::kDmaSizeOnly},  // nothing
        {0x60000, 0x41000, 777, regs::kDmaFromChip},
    };
    std::vector<std::uint8_t> memory = rig.memory, hbm = rig.chip.hbm;
    put_list(rig, list);
    for (const Descriptor& d : list) {
        if ((d.control & regs::kDmaSizeOnly) != 0) continue;
        const bool to_chip = d.control == regs::kDmaToChip;
        std::copy_n((to_chip ? memory : hbm).begin() + static_cast<std::ptrdiff_t>(to_chip ? d.host : d.chip), d.bytes,
                    (to_chip ? hbm : memory).begin() + static_cast<std::ptrdiff_t>(to_chip ? d.chip : d.host));
    }
    std::copy_n(rig.memory.begin() + kList, list.size() * kDescriptorBytes, memory.begin() + kList);
    rig.run([&](HostRig& r) {
        std::uint32_t interrupts = 0;
        run_list(r, list, interrupts);
        CHECK(interrupts == regs::kIrqDmaDone);
    });
    CHECK((rig.memory == memory));
    CHECK((rig.chip.hbm == hbm));
    CHECK(rig.registry.sum("rig.host", "dma_to_chip_bytes") == 46'000);
    CHECK(rig.registry.sum("rig.host", "dma_from_chip_bytes") == 3 + 40'000 + 30'000 + 777);
}

TEST_CASE("many small transfers of a list follow one another at the link's rate", "[host][dma]") {
    constexpr unsigned kCount = 600;
    constexpr std::uint32_t kSmall = 512;
    const std::uint32_t direction = GENERATE(regs::kDmaToChip, regs::kDmaFromChip);
    in_child([&] {
        HostRig rig;
        rig.run([&](HostRig& r) {
            std::vector<Descriptor> list;
            for (unsigned i = 0; i < kCount; ++i) list.push_back({i * kSmall, i * kSmall, kSmall, direction});
            std::uint32_t interrupts = 0;
            const sc_core::sc_time time = run_list(r, list, interrupts);
            CHECK(interrupts == regs::kIrqDmaDone);
            // 19,200 bytes of descriptors in two chunks, each with its latency, then the transfers and one latency.
            const double fetch = 2 * HostRig::kMemoryLatencyNs + kCount * kDescriptorBytes / 32.0;
            const double link = kCount * kSmall / 32.0;
            const double latency = HostRig::kMemoryLatencyNs + 2 * FakeChip::kNetworkNs + FakeChip::kMemoryNs;
            CHECK(time >= ns(fetch + link));
            CHECK(time <= ns(fetch + link + latency + kSmall / 32.0));
        });
    });
}

TEST_CASE("nothing of a list moves if one of its descriptors is wrong", "[host][dma]") {
    constexpr std::uint64_t kEnd = FakeChip::kInterfaces * FakeChip::kRegion;
    struct Bad {
        Descriptor descriptor;
        const char* text;
    };
    const auto bad =
        GENERATE(Bad{{0, 0, 0, regs::kDmaToChip}, "found control 0x1, 0 bytes at 0x0"},
                 Bad{{0, 0, 8, 0}, "descriptor 2: expected a DMA"},
                 Bad{{0, 0, 8, regs::kDmaToChip | regs::kDmaFromChip}, "descriptor 2: expected a DMA"},
                 Bad{{0, 0, 8, regs::kDmaToChip | 0x10}, "descriptor 2: expected a DMA"},
                 Bad{{0, kEnd - 4, 8, regs::kDmaFromChip}, "descriptor 2: expected a DMA"},
                 Bad{{0, ~0ull, 8, regs::kDmaToChip}, "descriptor 2: expected a DMA"},
                 Bad{{kList, 0, 32, regs::kDmaList}, "descriptor 2: expected a transfer, found a list in a list"},
                 Bad{{0, 0, 8, regs::kDmaToChip, 1}, "descriptor 2: expected 0 in reserved bytes, found 0x1"});
    CAPTURE(bad.text);
    in_child([&] {
        HostRig rig;
        rig.run([&](HostRig& r) {
            const Descriptor good{0, 0, 64, regs::kDmaToChip};
            std::uint32_t interrupts = 0;
            run_list(r, {good, good, bad.descriptor, good}, interrupts);
            CHECK(interrupts == regs::kIrqError);
            CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::dma_request));
            CHECK(r.read(regs::kErrorInfo) == 2);
            CHECK_THAT(r.error_text(), ContainsSubstring(bad.text));
            CHECK(r.chip.write_sizes.empty());
            run_list(r, {good}, interrupts);  // the engine is free again
            CHECK((interrupts & regs::kIrqDmaDone) != 0);
        });
    });
}

SIM_TEST("what cannot be a list is refused at once", "[host][dma]") {
    HostRig rig;
    rig.run([](HostRig& r) {
        struct Bad {
            std::uint32_t bytes, control;
        };
        for (const Bad& bad :
             {Bad{0, regs::kDmaList}, Bad{31, regs::kDmaList}, Bad{(1 << 20) + 32, regs::kDmaList},
              Bad{32, regs::kDmaList | regs::kDmaToChip}, Bad{32, regs::kDmaList | regs::kDmaSizeOnly}}) {
            r.start_dma(kList, 0, bad.bytes, bad.control);
            CHECK(r.wait_for_interrupt() == regs::kIrqError);
            CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::dma_request));
            CHECK((r.read(regs::kStatus) & regs::kDmaBusy) == 0);
        }
    });
    CHECK(rig.memory_accesses_had_values.empty());
}

TEST_CASE("an error of host memory ends a list and tells how far it came", "[host][dma]") {
    const bool list_itself = GENERATE(true, false);
    const std::uint32_t direction = GENERATE(regs::kDmaToChip, regs::kDmaFromChip);
    in_child([&] {
        HostRig rig;
        rig.run([&](HostRig& r) {
            const std::uint64_t end = r.memory.size();
            put_list(r, {{0, 0, 100, direction}, {end - 8, 0, 16, direction}, {0, 0, 100, direction}});
            r.start_dma(list_itself ? end : kList, 0, 3 * kDescriptorBytes, regs::kDmaList);
            CHECK((r.wait_for_interrupt() & regs::kIrqError) != 0);
            CHECK(r.read(regs::kError) == static_cast<std::uint32_t>(ErrorCode::dma_host_memory));
            if (direction == regs::kDmaToChip || list_itself)
                CHECK(r.read(regs::kErrorInfo) == (list_itself ? 0 : 100));
            CHECK((r.read(regs::kStatus) & regs::kDmaBusy) == 0);
        });
        CHECK(rig.registry.waits().empty());
    });
}
