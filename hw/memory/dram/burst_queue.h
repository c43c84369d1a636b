// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {

/// Bursts of one direction (reads or writes) that wait in a channel. Each bank has a list of its own, in order of
/// admission; banks are those of all pseudo-channels. Entries are numbered and never move; nothing is allocated after
/// construction.
class BurstQueue {
public:
    using Index = std::int32_t;
    static constexpr Index kNone = -1;

    struct Entry {
        Cycle admitted = 0;       ///< when the controller got to see it: what waits in front of the queues has no age
        std::uint64_t order = 0;  ///< of admission to the channel
        std::uint32_t row = 0, column = 0;
        std::uint32_t tag = 0;
        Index next = kNone, previous = kNone;  ///< of the bank; `next` also of the free ones
        bool activated = false;                ///< a row was opened for it
    };

    /// Room for `capacity` entries, of which each bank may have `of_a_bank`.
    BurstQueue(unsigned capacity, unsigned of_a_bank) : entries_(capacity), of_a_bank_(of_a_bank) {
        for (unsigned i = 0; i + 1 < capacity; ++i) entries_[i].next = static_cast<Index>(i + 1);
    }

    /// No room for an entry of this bank.
    bool full(unsigned pseudo_channel, unsigned bank) const {
        return free_ == kNone || list(pseudo_channel, bank).size == of_a_bank_;
    }
    unsigned size() const { return size_; }
    Index first(unsigned pseudo_channel, unsigned bank) const { return list(pseudo_channel, bank).first; }
    Entry& operator[](Index index) { return entries_[static_cast<std::size_t>(index)]; }
    const Entry& operator[](Index index) const { return entries_[static_cast<std::size_t>(index)]; }
    /// The oldest entry of some banks of a pseudo-channel, one bit each, or kNone.
    Index oldest(unsigned pseudo_channel, std::uint64_t banks) const {
        Index oldest = kNone;
        while (banks != 0) {
            const Index of_bank = first(pseudo_channel, take_first(banks));
            if (of_bank == kNone) continue;
            if (oldest == kNone || (*this)[of_bank].order < (*this)[oldest].order) oldest = of_bank;
        }
        return oldest;
    }
    /// The oldest entry for a row from `index` on in its bank, or kNone.
    Index find_row(Index index, std::uint32_t row) const {
        while (index != kNone && (*this)[index].row != row) index = (*this)[index].next;
        return index;
    }

    /// Not full. A new entry for a row, the last one of its bank; `order`: above all others'. The owner fills in the
    /// rest.
    Index add(unsigned pseudo_channel, unsigned bank, std::uint32_t row, std::uint64_t order) {
        const Index index = free_;
        List& of_bank = list(pseudo_channel, bank);
        Entry& entry = (*this)[index];
        free_ = entry.next;
        entry.order = order;
        entry.row = row;
        entry.next = kNone;
        entry.previous = of_bank.last;
        (of_bank.last == kNone ? of_bank.first : (*this)[of_bank.last].next) = index;
        of_bank.last = index;
        ++of_bank.size;
        ++size_;
        return index;
    }
    /// `index`: an entry of this bank.
    void remove(unsigned pseudo_channel, unsigned bank, Index index) {
        Entry& entry = (*this)[index];
        List& of_bank = list(pseudo_channel, bank);
        (entry.previous == kNone ? of_bank.first : (*this)[entry.previous].next) = entry.next;
        (entry.next == kNone ? of_bank.last : (*this)[entry.next].previous) = entry.previous;
        --of_bank.size;
        --size_;
        entry.next = free_;
        free_ = index;
    }

private:
    struct List {
        Index first = kNone, last = kNone;
        unsigned size = 0;
    };
    List& list(unsigned pseudo_channel, unsigned bank) { return lists_[pseudo_channel][bank]; }
    const List& list(unsigned pseudo_channel, unsigned bank) const { return lists_[pseudo_channel][bank]; }

    std::vector<Entry> entries_;
    std::array<std::array<List, kMaxBanks>, kMaxPseudoChannels> lists_{};
    Index free_ = 0;
    unsigned of_a_bank_;
    unsigned size_ = 0;
};

}  // namespace switchyard::hw::dram
