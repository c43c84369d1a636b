// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the tests that include Verilated classes: blocks of the router by themselves, for what its network never
// shows them. Each function returns "" or the first difference.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "switchyard/hw/noc/traffic.h"
#include "switchyard/rtl/common/clocked_model.h"
#include "switchyard/rtl/common/pins.h"

namespace switchyard::testing {

/// stage_timer.sv of 4 cycles: done in the fourth cycle behind a start, until the next one.
template <class Top>
class TimerBench : private rtl::ClockedModel<Top> {
    using rtl::ClockedModel<Top>::top_;

public:
    std::string difference(std::uint64_t seed) {
        hw::SplitMix64 random(seed);
        top_.start_i = 0;
        this->reset();
        unsigned since = 100;
        for (unsigned cycle = 0; cycle < 400; ++cycle) {
            top_.start_i = random.below(8) == 0;
            this->settle();
            if (top_.done_o != (since >= 4))
                return fmt::format("done is {} {} cycles behind a start", top_.done_o, since);
            since = top_.start_i ? 1 : since + 1;
            this->clock();
        }
        return "";
    }
};

/// route_computation.sv with 6 ports, 3 columns, 2 rows and buffers of 4 flits, and headers of any bits: directions and
/// dateline classes also of columns and rows without a destination, which routers on the way have served.
template <class Top>
std::string route_difference(std::uint64_t seed) {
    constexpr unsigned kColumns = 3, kRows = 2, kLocals = 2, kGrid = kColumns * kRows * kLocals;
    rtl::ContextModel<Top> model;
    Top& top = model.top();
    hw::SplitMix64 random(seed);
    for (unsigned trial = 0; trial < 20000; ++trial) {
        const std::uint64_t sparse = trial % 2 == 0 ? random() & random() : ~std::uint64_t{0};
        const std::uint64_t header = random() & (~std::uint64_t{0xFFF} | sparse) & 0x7FFFFFF;
        const unsigned x = random.below(kColumns), y = random.below(kRows);
        top.x_i = static_cast<std::uint8_t>(x);
        top.y_i = static_cast<std::uint8_t>(y);
        top.header_i = static_cast<std::uint32_t>(header);
        model.eval();
        const auto bit = [header](unsigned at) { return static_cast<unsigned>(header >> at & 1); };
        unsigned ports = 0, crosses = 0;
        for (unsigned r = 0; r < kRows; ++r)
            for (unsigned c = 0; c < kColumns; ++c)
                for (unsigned l = 0; l < kLocals; ++l) {
                    if (bit((r * kColumns + c) * kLocals + l) == 0) continue;
                    // Along the row first, then along the column.
                    const bool along_row = c != x, west = bit(kGrid + c) != 0,
                               north = bit(kGrid + 2 * kColumns + r) != 0;
                    const unsigned port = along_row ? (west ? 3 : 1) : r != y ? (north ? 0 : 2) : 4 + l;
                    ports |= 1U << port;
                    if (port < 4)
                        crosses |= bit(along_row ? kGrid + kColumns + c : kGrid + 2 * kColumns + kRows + r) << port;
                }
        if (top.ports_o != ports || top.crosses_o != crosses)
            return fmt::format("at ({},{}) header {:#x}: ports {:#x}, crosses {:#x}, not {:#x}, {:#x}", x, y, header,
                               top.ports_o, top.crosses_o, ports, crosses);
        const unsigned above = kGrid + 2 * (kColumns + kRows);
        if (top.length_o != (header >> above & 7) || top.multicast_o != bit(above + 3) ||
            top.control_o != bit(above + 4))
            return fmt::format("header {:#x}: wrong length or kind", header);
    }
    return "";
}

/// multicast_copy.sv at port 3 (west) with 4 x 4 routers of one endpoint and flits of 64 bits, of any data: a head
/// keeps the destinations to its west, another flit is as it was.
template <class Top>
std::string copy_difference(std::uint64_t seed) {
    rtl::ContextModel<Top> model;
    Top& top = model.top();
    hw::SplitMix64 random(seed);
    for (unsigned trial = 0; trial < 5000; ++trial) {
        const std::uint64_t flit = random();
        const unsigned x = random.below(4);
        top.x_i = static_cast<std::uint8_t>(x);
        top.y_i = static_cast<std::uint8_t>(random.below(4));
        top.flit_i = flit;
        model.eval();
        std::uint64_t expected = flit;
        for (unsigned place = 0; (flit & 1) != 0 && place < 16; ++place) {
            const unsigned column = place % 4;
            if (column == x || (flit >> (18 + column) & 1) == 0) expected &= ~(std::uint64_t{1} << (2 + place));
        }
        if (top.flit_o != expected) return fmt::format("column {}: {:#x} becomes {:#x}", x, flit, top.flit_o);
    }
    return "";
}

}  // namespace switchyard::testing
