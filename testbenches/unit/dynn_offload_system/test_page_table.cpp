// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "switchyard/hw/link/pcie_link.h"
#include "switchyard/hw/paged_memory/page_table.h"
#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using hw::PageTable;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

PageTable::Config pages(std::uint64_t device_bytes) {
    PageTable::Config config;
    config.device_bytes = device_bytes;
    return config;
}

/// As platforms of DyNN-Offload have it: PCI Express 3.0, 16 lanes.
memory_managers::TransferTimes pcie3() {
    hw::PcieLink::Config link;
    link.generation = 3;
    memory_managers::TransferTimes times;
    times.setup_ns = 1000 + 2 * link.latency_ns;
    times.to_device_gb_per_s = hw::pcie_link_gb_per_s(link) * hw::pcie_payload_share(link);
    return times;
}

}  // namespace

TEST_CASE("bandwidth of transfers of 4 KB, 64 KB and 2 MB is near the cited one", "[paged_memory]") {
    // gpgpu-sim_UVMSmart, on PCI Express 3.0 x16: 2.2, 10.4 and 11.95 GB/s. Nothing is fitted to them.
    const auto rate = [](std::uint64_t bytes) { return static_cast<double>(bytes) / pcie3().to_device_ns(bytes); };
    CHECK(rate(4096) == Approx(2.2).epsilon(0.25));
    CHECK(rate(65536) == Approx(10.4).epsilon(0.15));
    CHECK(rate(2 * kMiB) == Approx(11.95).epsilon(0.17));
}

TEST_CASE("a stream over managed memory faults in batches, and takes what was measured", "[paged_memory]") {
    constexpr std::uint64_t kBytes = 3200 * kMiB;
    PageTable table(pages(8192 * kMiB), kBytes);
    table.host_writes(0, kBytes);
    const PageTable::Migration moved = table.access(0, kBytes, false);
    CHECK(moved.to_device_bytes == kBytes);
    CHECK(moved.evicted_trees == 0);
    // 256 pages of 4 KB are 1 MB: half a tree, which is not more than 51 % of it.
    CHECK(moved.batches == 3200);
    CHECK(table.access(0, kBytes, false).faults == 0);
    // GTX 1080, 3.2 GB in 386.6 ms (pascal-um-benchmark): 8.2 GB/s.
    const memory_managers::TransferTimes times = pcie3();
    const double ns = static_cast<double>(moved.batches) * 45e3 + times.to_device_ns(moved.to_device_bytes) +
                      times.setup_ns * static_cast<double>(moved.to_device_transfers - 1);
    CHECK(static_cast<double>(kBytes) / ns == Approx(8.2).epsilon(0.15));
}

TEST_CASE("a dense tree comes whole", "[paged_memory]") {
    PageTable table(pages(64 * kMiB), 64 * kMiB);
    table.host_writes(0, 64 * kMiB);
    // Every other block: pairs are half full only.
    for (std::uint64_t block = 0; block < 16; ++block) CHECK(table.access(block * 131072, 4096, false).faults == 1);
    CHECK(table.resident_bytes() == kMiB);
    // The seventeenth fills a pair, and with it more than 51 % of all that is above it.
    const PageTable::Migration moved = table.access(65536, 4096, false);
    CHECK(moved.to_device_bytes == kMiB);
    CHECK(table.resident_bytes() == 2 * kMiB);
}

TEST_CASE("over-subscribed, a cyclic stream moves everything again and again", "[paged_memory]") {
    PageTable fits(pages(64 * kMiB), 64 * kMiB), over(pages(64 * kMiB), 80 * kMiB);
    fits.host_writes(0, 64 * kMiB);
    over.host_writes(0, 80 * kMiB);
    for (unsigned pass = 0; pass < 4; ++pass) {
        CHECK(fits.access(0, 64 * kMiB, true).to_device_bytes == (pass == 0 ? 64 * kMiB : 0));
        const PageTable::Migration moved = over.access(0, 80 * kMiB, true);
        CHECK(moved.to_device_bytes == 80 * kMiB);
        CHECK(moved.to_host_bytes == (pass == 0 ? 16 * kMiB : 80 * kMiB));
    }
    CHECK(over.max_resident_bytes() <= 64 * kMiB);
}

TEST_CASE("random accesses: nothing written is given up without going back, capacity holds", "[paged_memory]") {
    constexpr std::uint64_t kBlock = 65536, kBlocks = 2048;
    PageTable table(pages(32 * kMiB), kBlocks * kBlock);
    std::uint64_t back = 0, moved_in = 0, evicted = 0;
    RandomSource random(4, 2);
    for (unsigned i = 0; i < 20000; ++i) {
        const std::uint64_t first = random.integer(0, kBlocks - 9), count = random.integer(1, 8);
        const PageTable::Migration moved = table.access(first * kBlock, count * kBlock, random.chance(0.5));
        back += moved.to_host_bytes;
        moved_in += moved.to_device_bytes;
        evicted += moved.evicted_trees;
        // Of several blocks, those at the end may take the place of the first.
        if (count == 1 && !table.resident(first * kBlock)) FAIL("block " << first << " is not there behind its access");
        if (table.resident_bytes() > 32 * kMiB) FAIL("more than the capacity");
    }
    CHECK(evicted > 1000);
    // What never was written never comes; what was comes back after it went, all but the last time.
    CHECK(moved_in > back / 2);
    CHECK(back > 0);
    CHECK_THROWS_AS(PageTable(pages(kMiB), kMiB), std::invalid_argument);
}
