// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {

/// Bursts of one direction (reads or writes) that wait in a channel. Each bank has a list of its own, in order of
/// admission. Entries are numbered and never move; nothing is allocated after construction.
class BurstQueue {
public:
    using Index = std::int32_t;
    static constexpr Index kNone = -1;

    struct Entry {
        Cycle admitted = 0;  ///< when the controller got to see it: what waits in front of the queues has no age
        std::uint32_t column = 0;
        std::uint32_t tag = 0;
        std::uint8_t pseudo_channel = 0, bank = 0;
        bool activated = false;  ///< a row was opened for it
    };

    /// Room for `capacity` entries, of which each bank may have `of_a_bank`.
    BurstQueue(unsigned capacity, unsigned of_a_bank) : entries_(capacity), links_(capacity), of_a_bank_(of_a_bank) {
        for (unsigned i = 0; i + 1 < capacity; ++i) links_[i].next = static_cast<Index>(i + 1);
    }

    /// No room for an entry of this bank.
    bool full(unsigned pseudo_channel, unsigned bank) const {
        return free_ == kNone || lists_[pseudo_channel].bank[bank].size == of_a_bank_;
    }
    unsigned size() const { return size_; }
    unsigned size(unsigned pseudo_channel) const { return lists_[pseudo_channel].size; }
    /// Banks that have entries, one bit each.
    std::uint64_t banks(unsigned pseudo_channel) const { return lists_[pseudo_channel].banks; }
    Index first(unsigned pseudo_channel, unsigned bank) const { return lists_[pseudo_channel].bank[bank].first; }
    /// The one behind it in its bank, or kNone.
    Index next(Index index) const { return link(index).next; }
    std::uint32_t row(Index index) const { return link(index).row; }
    std::uint64_t order(Index index) const { return link(index).order; }
    Entry& operator[](Index index) { return entries_[static_cast<std::size_t>(index)]; }
    const Entry& operator[](Index index) const { return entries_[static_cast<std::size_t>(index)]; }
    /// The oldest entry of a pseudo-channel, or kNone.
    Index oldest(unsigned pseudo_channel) const {
        Index oldest = kNone;
        for (std::uint64_t banks = lists_[pseudo_channel].banks; banks != 0;) {
            const Index of_bank = first(pseudo_channel, take_first(banks));
            if (oldest == kNone || order(of_bank) < order(oldest)) oldest = of_bank;
        }
        return oldest;
    }
    /// The oldest entry for a row from `index` on in its bank, or kNone.
    Index find_row(Index index, std::uint32_t row) const {
        while (index != kNone && link(index).row != row) index = link(index).next;
        return index;
    }

    /// Not full. A new entry for a row, the last one of its bank; `order`: above all others'. The owner fills it in.
    Index add(unsigned pseudo_channel, unsigned bank, std::uint32_t row, std::uint64_t order) {
        const Index index = free_;
        PseudoChannel& p = lists_[pseudo_channel];
        List& list = p.bank[bank];
        Link& l = link(index);
        free_ = l.next;
        l.order = order;
        l.row = row;
        l.next = kNone;
        l.previous = list.last;
        (list.last == kNone ? list.first : link(list.last).next) = index;
        list.last = index;
        p.banks |= bit(bank);
        ++list.size;
        ++p.size;
        ++size_;
        Entry& entry = (*this)[index];
        entry.pseudo_channel = static_cast<std::uint8_t>(pseudo_channel);
        entry.bank = static_cast<std::uint8_t>(bank);
        return index;
    }
    void remove(Index index) {
        const Entry& entry = (*this)[index];
        PseudoChannel& p = lists_[entry.pseudo_channel];
        List& bank = p.bank[entry.bank];
        Link& l = link(index);
        (l.previous == kNone ? bank.first : link(l.previous).next) = l.next;
        (l.next == kNone ? bank.last : link(l.next).previous) = l.previous;
        if (bank.first == kNone) p.banks &= ~bit(entry.bank);
        --bank.size;
        --p.size;
        --size_;
        l.next = free_;
        free_ = index;
    }

private:
    /// What a search looks at, apart from the rest, for the cache.
    struct Link {
        std::uint64_t order = 0;  ///< of admission to the channel
        std::uint32_t row = 0;
        Index next = kNone, previous = kNone;  ///< of the bank; `next` also of the free ones
    };
    struct List {
        Index first = kNone, last = kNone;
        unsigned size = 0;
    };
    struct PseudoChannel {
        std::array<List, kMaxBanks> bank{};
        std::uint64_t banks = 0;
        unsigned size = 0;
    };

    Link& link(Index index) { return links_[static_cast<std::size_t>(index)]; }
    const Link& link(Index index) const { return links_[static_cast<std::size_t>(index)]; }

    std::vector<Entry> entries_;
    std::vector<Link> links_;
    std::array<PseudoChannel, kMaxPseudoChannels> lists_{};
    Index free_ = 0;
    unsigned of_a_bank_;
    unsigned size_ = 0;
};

}  // namespace switchyard::hw::dram
