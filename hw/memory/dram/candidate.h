// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/hw/memory/dram/burst_queue.h"
#include "switchyard/hw/memory/dram/command.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {

/// Of commands of one cycle the first rank goes first.
enum class Rank : std::uint8_t { refresh, starved, column, row };

// The bits of a priority. The 22 bits above them hold how many cycles from now a command can be issued, so that one
// comparison of two numbers finds the command that goes first: a device's times are below 2^21 cycles. Orders are equal
// modulo 2^34, more bursts than wait at a time.
inline constexpr unsigned kBankBits = 6, kOrderBits = 34, kRankBits = 2,
                          kPriorityBits = kBankBits + kOrderBits + kRankBits;
static_assert(kMaxBanks <= 1u << kBankBits);

/// From the highest bits on: the rank, the order of admission of the burst that needs the command, the bank of the
/// pseudo-channel.
constexpr std::uint64_t priority_of(Rank rank, std::uint64_t order, unsigned bank) {
    return std::uint64_t{static_cast<std::uint8_t>(rank)} << (kBankBits + kOrderBits) |
           (order & low_bits(kOrderBits)) << kBankBits | bank;
}
/// The bank of a priority.
constexpr std::uint8_t bank_of(std::uint64_t priority) {
    return priority & low_bits(kBankBits);
}

/// A command that could be issued. Of several the earliest goes first, of those of one cycle the one with the least
/// priority.
struct Candidate {
    Cycle cycle = kNever;
    std::uint64_t priority = ~std::uint64_t{0};
    CommandKind kind = CommandKind::activate;
    std::uint8_t pseudo_channel = 0, bank = 0;
    BurstQueue::Index entry = BurstQueue::kNone;  ///< of the burst that needs it

    bool goes_before(const Candidate& other) const {
        return cycle != other.cycle ? cycle < other.cycle : priority < other.priority;
    }
};

}  // namespace switchyard::hw::dram
