// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/flit/flit_network.h"
#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

void FlitNetwork::SourceQueue::pop() {
    ++first;
    sent = 0;
    vc = kNone;
    if (2 * first < packets.size()) return;
    packets.erase(packets.begin(), packets.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
}

void FlitNetwork::inject() {
    for (std::size_t w = 0; w < sending_.size(); ++w) {
        for (std::uint64_t mask = sending_[w]; mask != 0;) {
            const unsigned i = take_first(mask);
            // One that sends nothing waits for a packet or a credit.
            if (!inject_from(static_cast<unsigned>(64 * w) + i)) sending_[w] &= ~bit(i);
        }
    }
}

/// A flit a cycle; the traffic classes take turns.
bool FlitNetwork::inject_from(unsigned endpoint) {
    const unsigned first = kGroups - 1u - last_group_[endpoint];
    for (unsigned k = 0; k < kGroups; ++k) {
        const unsigned group = first ^ k;
        if (queues_[endpoint * kGroups + group].empty() || !inject_flit(endpoint, group)) continue;
        last_group_[endpoint] = static_cast<std::uint8_t>(group);
        return true;
    }
    return false;
}

bool FlitNetwork::inject_flit(unsigned endpoint, unsigned group) {
    SourceQueue& queue = queues_[endpoint * kGroups + group];
    const std::uint32_t id = queue.packets[queue.first];
    const Packet& packet = pool_[id];
    std::uint16_t* const credits = &source_room_[endpoint * kMaxVcs];
    if (queue.vc == kNone) {
        // The next VC in turn that has room; BookSim's endpoints do the same.
        const std::uint64_t range = vc_range_[group][kAnyClass];
        const unsigned room = packet.whole() ? packet.flits : 1;
        std::uint64_t candidates = 0;
        for (std::uint64_t mask = range; mask != 0;) {
            const unsigned vc = take_first(mask);
            if (credits[vc] >= room) candidates |= bit(vc);
        }
        if (candidates == 0) return false;
        queue.vc = static_cast<std::uint8_t>(first_from(candidates, (queue.last_vc + 1u) % vcs_));
        queue.last_vc = queue.vc;
    }
    if (credits[queue.vc] == 0) return false;
    --credits[queue.vc];
    const bool tail = queue.sent + 1 == packet.flits;
    const std::uint32_t input_vc = home_[endpoint] * kMaxVcs + local_[endpoint] * vcs_ + queue.vc;
    flits_.at(cycle_ + 1 + config_.endpoint_link_cycles).push({input_vc, make_flit(id, queue.sent == 0, tail)});
    ++stats_.injected_flits;
    ++flits_in_flight_;
    last_movement_ = cycle_;
    ++queue.sent;
    if (tail) {
        queue.pop();
        --queued_packets_;
    }
    return true;
}

}  // namespace switchyard::hw::flit
