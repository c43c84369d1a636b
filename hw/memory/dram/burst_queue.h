// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

/// Bursts of one direction (reads or writes) that wait in a channel. Each bank has a list of its own, in order of
/// arrival, and each pseudo-channel one over its banks. Entries are numbered and never move; nothing is allocated after
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
        std::uint8_t pseudo_channel = 0, bank = 0;
        bool activated = false;                              ///< a row was opened for it
        Index next = kNone, previous = kNone;                ///< of the bank
        Index next_in_age = kNone, previous_in_age = kNone;  ///< of the pseudo-channel
    };

    /// Room for `capacity` entries, of which each bank may have `of_a_bank`.
    BurstQueue(unsigned capacity, unsigned of_a_bank) : entries_(capacity), of_a_bank_(of_a_bank) {
        for (unsigned i = 0; i < capacity; ++i) entries_[i].next = i + 1 < capacity ? static_cast<Index>(i + 1) : kNone;
    }

    /// No room for an entry of this bank.
    bool full(unsigned pseudo_channel, unsigned bank) const {
        return free_ == kNone || lists_[pseudo_channel].bank[bank].size == of_a_bank_;
    }
    unsigned size() const { return size_; }
    unsigned size(unsigned pseudo_channel) const { return lists_[pseudo_channel].size; }
    /// Banks that have entries, one bit each.
    std::uint64_t banks(unsigned pseudo_channel) const { return lists_[pseudo_channel].banks; }
    Index oldest(unsigned pseudo_channel) const { return lists_[pseudo_channel].age.first; }
    Index first(unsigned pseudo_channel, unsigned bank) const { return lists_[pseudo_channel].bank[bank].first; }
    Entry& operator[](Index index) { return entries_[static_cast<std::size_t>(index)]; }
    const Entry& operator[](Index index) const { return entries_[static_cast<std::size_t>(index)]; }

    /// Not full. Returns the entry, the last of its bank, whose links the queue keeps.
    Index add(const Entry& entry) {
        const Index index = free_;
        Entry& e = (*this)[index];
        free_ = e.next;
        e = entry;
        PseudoChannel& p = lists_[e.pseudo_channel];
        List& bank = p.bank[e.bank];
        e.next = e.next_in_age = kNone;
        e.previous = bank.last;
        (bank.last == kNone ? bank.first : (*this)[bank.last].next) = index;
        bank.last = index;
        e.previous_in_age = p.age.last;
        (p.age.last == kNone ? p.age.first : (*this)[p.age.last].next_in_age) = index;
        p.age.last = index;
        p.banks |= std::uint64_t{1} << e.bank;
        ++bank.size;
        ++p.size;
        ++size_;
        return index;
    }
    void remove(Index index) {
        Entry& e = (*this)[index];
        PseudoChannel& p = lists_[e.pseudo_channel];
        List& bank = p.bank[e.bank];
        (e.previous == kNone ? bank.first : (*this)[e.previous].next) = e.next;
        (e.next == kNone ? bank.last : (*this)[e.next].previous) = e.previous;
        (e.previous_in_age == kNone ? p.age.first : (*this)[e.previous_in_age].next_in_age) = e.next_in_age;
        (e.next_in_age == kNone ? p.age.last : (*this)[e.next_in_age].previous_in_age) = e.previous_in_age;
        if (bank.first == kNone) p.banks &= ~(std::uint64_t{1} << e.bank);
        --bank.size;
        --p.size;
        --size_;
        e.next = free_;
        free_ = index;
    }
    /// The oldest entry for a row from `index` on in its bank, or kNone.
    Index find_row(Index index, std::uint32_t row) const {
        while (index != kNone && (*this)[index].row != row) index = (*this)[index].next;
        return index;
    }

private:
    struct List {
        Index first = kNone, last = kNone;
        unsigned size = 0;
    };
    struct PseudoChannel {
        std::array<List, kMaxBanks> bank{};
        List age;
        std::uint64_t banks = 0;
        unsigned size = 0;
    };

    std::vector<Entry> entries_;
    std::array<PseudoChannel, kMaxPseudoChannels> lists_{};
    Index free_ = 0;
    unsigned of_a_bank_;
    unsigned size_ = 0;
};

}  // namespace switchyard::hw::dram
