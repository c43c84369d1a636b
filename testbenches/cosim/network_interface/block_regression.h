// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the tests that include Verilated classes: the regression of each block of rtl/network_interface.
#include <set>

#include <fmt/format.h>

#include "switchyard/hw/network_interface/routing_blocks.h"
#include "switchyard/hw/noc/traffic.h"
#include "switchyard/rtl/network_interface/verilated_blocks.h"
#include "switchyard/testbenches/cosim/network_interface/packetiser_pins.h"

namespace switchyard::testing {

inline constexpr unsigned kUnits = 400;
inline constexpr unsigned kBranches = 4;
inline constexpr std::uint64_t kMaxCycles = 4000;

/// Random samples of a unit: none, few or many, with masks of none to all branches.
struct Unit {
    static constexpr unsigned kExtremeUnits = 24;
    static constexpr std::uint32_t kLargestId = (1U << rtl::kSampleIdBits) - 1;

    std::vector<std::uint32_t> ids;
    std::vector<std::uint64_t> masks;

    /// The samples of unit `number`. Among the first ones are ids of which one bit or all but one are set, their
    /// neighbours, and the largest, in ascending order; the masks spread them over the branches in any way.
    Unit(hw::SplitMix64& random, unsigned number) {
        if (number < kExtremeUnits) {
            std::set<std::uint32_t> extremes{0, kLargestId};
            for (unsigned bit = 0; bit < rtl::kSampleIdBits; ++bit)
                for (const std::uint32_t id : {1U << bit, (1U << bit) - 1, (1U << bit) + 1, kLargestId ^ 1U << bit})
                    if (number == 0 || random.below(3) != 0) extremes.insert(id & kLargestId);
            for (unsigned i = 0; i < 20; ++i) extremes.insert(random.below(kLargestId + 1));
            ids.assign(extremes.begin(), extremes.end());
            for (std::size_t i = 0; i < ids.size(); ++i)
                masks.push_back(number % 2 == 0 ? 1U << random.below(kBranches) : 1 + random.below(15));
            return;
        }
        const unsigned count = random.below(5) == 0 ? 0 : random.below(60);
        const unsigned taken = 1 + random.below(16);
        std::uint32_t id = random.below(2) == 0 ? 0 : random.below(60000);
        for (unsigned i = 0; i < count; ++i, id += 1 + random.below(80)) {
            ids.push_back(id);
            masks.push_back(random.below(16) < taken ? random.below(16) : 0);
        }
    }
};

/// Units that the block splits as the model does.
template <class Top>
unsigned units_split_alike(rtl::SwitchSplitter<Top, kBranches>& splitter, std::uint64_t seed) {
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const Unit unit(random, u);
        const unsigned waits = random.below(12);
        const auto lists = splitter.split(
            unit.ids, unit.masks, [&] { return random.below(16) < waits; }, kMaxCycles);
        hw::RoutingBlocks::Lists wanted = hw::RoutingModel().split(unit.ids, unit.masks);
        wanted.resize(kBranches);
        if (!splitter.finished() || lists != wanted) return alike;
        ++alike;
    }
    return alike;
}

/// Units whose branches the block merges as the model does.
template <class Top>
unsigned units_merged_alike(rtl::MergeReorder<Top, kBranches>& merge, std::uint64_t seed) {
    hw::SplitMix64 random(seed);
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        const Unit unit(random, u);
        hw::RoutingBlocks::Lists lists = hw::RoutingModel().split(unit.ids, unit.masks);
        lists.resize(kBranches);
        const unsigned waits = random.below(12);
        const auto merged = merge.merge(
            lists, [&] { return random.below(16) < waits; }, kMaxCycles);
        const MergedSamples wanted = hw::RoutingModel().merge(lists);
        bool same = merge.finished() && merged.size() == wanted.ids.size();
        for (std::size_t i = 0; same && i < merged.size(); ++i) {
            same = merged[i].id == wanted.ids[i];
            for (unsigned branch = 0; branch < kBranches; ++branch)
                same = same && (merged[i].from >> branch & 1U) == wanted.from[branch][i];
        }
        if (!same) return alike;
        ++alike;
    }
    return alike;
}

/// Packets that the block cuts as the model does, into as many flits as PacketFormat says.
template <class Block>
unsigned packets_cut_alike(Block& packetiser, std::uint64_t seed) {
    const PacketFormat format{Block::kFlitBytes, Block::kHeaderBytes};
    hw::RoutingModel model(format);
    hw::SplitMix64 random(seed);
    const auto random_bytes = [&random](std::size_t count) {
        std::vector<std::uint8_t> bytes(count);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(256));
        return bytes;
    };
    unsigned alike = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
        // The longest packets, and those about each power of two; then short ones.
        const std::uint64_t extreme = u < 3    ? Block::kMaxBytes - u
                                      : u < 45 ? (std::uint64_t{1} << (u / 3 + 1)) + u % 3 - 1 - Block::kHeaderBytes
                                               : 0;
        const std::size_t bytes = extreme > 0 && extreme <= Block::kMaxBytes ? static_cast<std::size_t>(extreme)
                                  : random.below(8) == 0                     ? random.below(3000)
                                                                             : random.below(40);
        const std::vector<std::uint8_t> payload = random_bytes(bytes), header = random_bytes(Block::kHeaderBytes);
        const unsigned vc = random.below(Block::kVcs), waits = random.below(12);
        const auto cut = packetiser.packetise(
            header.data(), payload.data(), payload.size(), vc, [&] { return random.below(16) < waits; },
            kMaxCycles + 40 * format.flits(payload.size()));
        const hw::PacketFlits wanted = model.packetise({header, payload.size(), payload.data(), vc == 1});
        bool same = packetiser.finished() && cut.flits.size() == format.flits(payload.size()) &&
                    cut.flits.size() == wanted.marks.size() && cut.bytes == wanted.bytes;
        for (std::size_t f = 0; same && f < cut.flits.size(); ++f)
            same = hw::PacketFlits::Mark{cut.flits[f].head, cut.flits[f].tail, cut.flits[f].vc == 1} == wanted.marks[f];
        if (!same) return alike;
        ++alike;
    }
    return alike;
}

/// "" if a splitter of which no branch makes it wait takes a sample, or the unit's end, in each cycle, and offers it in
/// the next one.
template <class Top>
std::string splitter_throughput(rtl::SwitchSplitter<Top, kBranches>& splitter) {
    const std::vector<std::uint32_t> ids{1, 2, 3, 5, 8, 13, 21, 34};
    for (const std::uint64_t mask : {0, 1, 2, 5, 15}) {
        const std::uint64_t begin = splitter.cycles();
        splitter.split(ids, std::vector<std::uint64_t>(ids.size(), mask), &rtl::never_stall, kMaxCycles);
        const std::uint64_t cycles = splitter.cycles() - begin;
        if (cycles != ids.size() + 2)
            return fmt::format("mask {}: {} samples take {} cycles", mask, ids.size(), cycles);
    }
    return "";
}

/// merge_reorder.sv with what stands beside an end: an id that another branch has as a sample. "" if nobody is taken
/// for having it, and if all ends are taken together.
template <class Top>
class MergeEnds : private rtl::ClockedModel<Top> {
    using rtl::ClockedModel<Top>::top_;

public:
    MergeEnds() { this->reset(); }

    std::string difference() {
        for (unsigned ends = 0; ends < 1U << kBranches; ++ends) {
            for (unsigned b = 0; b < kBranches; ++b) rtl::set_bits(top_.branch_id_i, 16 * b, 16, 7);
            top_.branch_end_i = static_cast<std::uint8_t>(ends);
            top_.branch_valid_i = (1U << kBranches) - 1;
            top_.sample_ready_i = 1;
            this->settle();
            const unsigned all = (1U << kBranches) - 1, samples = all & ~ends;
            if (!top_.sample_valid_o || top_.sample_end_o != (samples == 0))
                return fmt::format("ends {:#x}: no end", ends);
            if (samples != 0 && top_.sample_from_o != samples) return fmt::format("ends {:#x}: wrong branches", ends);
            if (top_.branch_ready_o != (samples == 0 ? all : samples))
                return fmt::format("ends {:#x}: takes wrong", ends);
            this->clock();
        }
        return "";
    }
};

/// "" if a merge that nothing makes wait gives a sample, or the unit's end, in each cycle.
template <class Top>
std::string merge_throughput(rtl::MergeReorder<Top, kBranches>& merge) {
    for (const auto& lists : {std::vector<std::vector<std::uint32_t>>{{1, 2, 3}, {}, {}, {}},
                              std::vector<std::vector<std::uint32_t>>{{1, 5}, {2, 6}, {3, 7}, {4, 8}}}) {
        const std::uint64_t begin = merge.cycles();
        const std::size_t samples = merge.merge(lists, &rtl::never_stall, kMaxCycles).size();
        const std::uint64_t cycles = merge.cycles() - begin;
        if (cycles != samples + 1) return fmt::format("{} samples take {} cycles", samples, cycles);
    }
    return "";
}

}  // namespace switchyard::testing
