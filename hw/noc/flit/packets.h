// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/tlm/packet_format.h"

namespace switchyard::hw::flit {

/// A packet in the network; while it is unicast, all that a router must know to pass it on.
struct Packet {
    std::uint64_t tag = 0;   ///< the sender's; comes back with the delivery
    std::uint64_t sent = 0;  ///< cycle in which its sender has offered it
    std::uint32_t flits = 0;
    std::uint32_t padding = 0;   ///< bytes of the last flit that nothing fills; counted for each link, else unused
    std::uint32_t set = kNoSet;  ///< multicast: its destinations, in PacketPool
    std::uint16_t source_router = 0, router = 0;  ///< router: of the destination
    std::uint16_t endpoint = 0;                   ///< the destination
    std::uint8_t local_port = 0;                  ///< of the destination at its router
    std::uint8_t choice = 0;                      ///< of its source, among Topology::choices()
    std::uint8_t group = 0;                       ///< TrafficClass if it has VCs of its own, else 0

    static constexpr std::uint32_t kNoSet = 0xFFFFFFFF;
    /// Moves only where the next buffer has room for all of it; may be copied on the way.
    bool whole() const { return set != kNoSet; }
};

/// Packets and destination sets by number, used again: nothing is allocated once the pool has grown to the traffic.
class PacketPool {
public:
    explicit PacketPool(std::size_t endpoints) : words_((endpoints + 63) / 64) {}

    /// A packet without a set of destinations. Its other fields may have values of an older packet: the caller sets
    /// all that are read later.
    std::uint32_t make() {
        ++in_use_;
        if (free_.empty()) {
            packets_.emplace_back();
            return static_cast<std::uint32_t>(packets_.size() - 1);
        }
        const std::uint32_t id = free_.back();
        free_.pop_back();
        packets_[id].set = Packet::kNoSet;
        return id;
    }
    /// A copy of a packet for multicast, with an empty set of its own.
    std::uint32_t make_copy(std::uint32_t of) {
        const std::uint32_t id = make();
        packets_[id] = packets_[of];
        packets_[id].set = make_set();
        return id;
    }
    void free(std::uint32_t id) {
        --in_use_;
        if (packets_[id].set != Packet::kNoSet) free_sets_.push_back(packets_[id].set);
        free_.push_back(id);
    }
    Packet& operator[](std::uint32_t id) { return packets_[id]; }
    const Packet& operator[](std::uint32_t id) const { return packets_[id]; }

    /// An empty set; pointers into other sets may move.
    std::uint32_t make_set() {
        if (free_sets_.empty()) {
            sets_.resize(sets_.size() + words_);
            return static_cast<std::uint32_t>(sets_.size() / words_ - 1);
        }
        const std::uint32_t id = free_sets_.back();
        free_sets_.pop_back();
        for (std::size_t w = 0; w < words_; ++w) sets_[id * words_ + w] = 0;
        return id;
    }
    void insert(std::uint32_t set, unsigned endpoint) {
        sets_[set * words_ + endpoint / 64] |= std::uint64_t{1} << endpoint % 64;
    }
    /// The members of a set, with a bit an endpoint, in (endpoints + 63) / 64 words.
    std::uint64_t* words_of(std::uint32_t set) { return &sets_[set * words_]; }
    /// Calls visit(endpoint) in rising order.
    template <class Visit>
    void for_each(std::uint32_t set, Visit&& visit) const {
        for (std::size_t w = 0; w < words_; ++w) {
            for (std::uint64_t mask = sets_[set * words_ + w]; mask != 0; mask &= mask - 1)
                visit(static_cast<unsigned>(64 * w) + static_cast<unsigned>(__builtin_ctzll(mask)));
        }
    }
    std::size_t in_use() const { return in_use_; }

private:
    std::size_t words_, in_use_ = 0;
    std::vector<Packet> packets_;
    std::vector<std::uint32_t> free_, free_sets_;
    std::vector<std::uint64_t> sets_;
};

}  // namespace switchyard::hw::flit
