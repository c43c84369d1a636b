// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"

#include <algorithm>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/kernel_store.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::sched {

namespace {

class Fnv1a {
public:
    void add(std::uint64_t value) {
        for (unsigned byte = 0; byte < 8; ++byte) {
            hash_ = (hash_ ^ (value >> (8 * byte) & 0xFF)) * 0x100000001B3ull;
        }
    }
    std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xCBF29CE484222325ull;
};

unsigned ring_distance(unsigned a, unsigned b, unsigned size) {
    const unsigned direct = a > b ? a - b : b - a;
    return std::min(direct, size - direct);
}

}  // namespace

double HardwareDescription::memory_bytes_per_cycle() const {
    double sum = 0;
    for (const MemoryInterface& interface : memory) sum += interface.bytes_per_cycle;
    return sum;
}

std::uint32_t HardwareDescription::kernel_region_bytes() const {
    return static_cast<std::uint32_t>(kernel_store_bytes(kernel_share, scratchpad_bytes));
}

unsigned HardwareDescription::kernel_store_size() const {
    return kernel_region_bytes() / static_cast<unsigned>(kKernelBytes);
}

unsigned HardwareDescription::hops(unsigned tile_a, unsigned tile_b) const {
    return ring_distance(tile_a % columns, tile_b % columns, columns) +
           ring_distance(tile_a / columns, tile_b / columns, rows);
}

unsigned HardwareDescription::closest_memory(unsigned tile) const {
    unsigned best = 0;
    for (unsigned m = 1; m < memory.size(); ++m) {
        if (hops(tile, memory[m].router) < hops(tile, memory[best].router)) best = m;
    }
    return best;
}

void HardwareDescription::check() const {
    const auto require = [this](bool good, const char* key, const char* expected, const auto& found) {
        if (!good)
            throw InputError(name.empty() ? "platform" : name, 0, key,
                             fmt::format("expected {}, found {}", expected, found));
    };
    const auto sizes = [](unsigned first, unsigned second) { return fmt::format("{} and {}", first, second); };
    require(columns > 0 && rows > 0, "columns, rows", "at least 1", sizes(columns, rows));
    require(tiles() + memory.size() < 0xFFFF, "columns, rows", "at most 65534 tiles and memory interfaces",
            tiles() + memory.size());
    require(pe_rows > 0 && pe_columns > 0, "pe_rows, pe_columns", "at least 1", sizes(pe_rows, pe_columns));
    require(pe_register_bytes >= 12, "pe_register_bytes",
            "at least 12 bytes in a PE (two accumulators of 4 bytes and two operands of 2)", pe_register_bytes);
    for (const unsigned width : {scratchpad_bytes_per_cycle, scratchpad_write_bytes_per_cycle})
        require(width > 0 && width <= kWidestPort, "scratchpad_bytes_per_cycle, scratchpad_write_bytes_per_cycle",
                "1 to 4096", width);
    require(link_bytes_per_cycle > 0, "link_bytes_per_cycle", "more than 0", link_bytes_per_cycle);
    require(kernel_share > 0 && kernel_share < 1, "kernel_share", "more than 0 and less than 1", kernel_share);
    require(kernel_store_size() > 0, "kernel_share", "room for at least 1 kernel in the scratchpad, a larger share",
            kernel_share);
    require(region_bytes > 0, "region_bytes", "at least 1", region_bytes);
    require(!memory.empty(), "memory", "at least one memory interface", "none");
    for (const MemoryInterface& interface : memory) {
        require(interface.router < tiles(), "memory", "an interface at a router of the chip", interface.router);
        require(interface.bytes_per_cycle > 0, "memory", "a bandwidth of more than 0", interface.bytes_per_cycle);
    }
}

std::uint64_t HardwareDescription::fingerprint() const {
    Fnv1a hash;
    for (const unsigned value : {columns, rows, pe_rows, pe_columns, pe_register_bytes}) {
        hash.add(std::uint64_t{value});
    }
    hash.add(std::uint64_t{scratchpad_bytes});
    hash.add(std::uint64_t{kernel_region_bytes()});
    hash.add(region_bytes);
    for (const MemoryInterface& interface : memory) hash.add(std::uint64_t{interface.router});
    if (wide_partial_sums) hash.add(std::uint64_t{1});  // without them, what it was before there were any
    return hash.value();
}

}  // namespace switchyard::sched
