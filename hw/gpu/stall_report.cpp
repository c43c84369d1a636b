// SPDX-License-Identifier: Apache-2.0
// What CommandProcessor says of queues that make no progress.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "switchyard/hw/gpu/command_processor.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::hw {

bool CommandProcessor::signaller(std::uint64_t address, std::uint64_t value, unsigned& queue,
                                 std::uint32_t& index) const {
    for (unsigned q = 0; q < queues_.size(); ++q) {
        for (std::uint32_t i = queues_[q]->read; i != queues_[q]->written; ++i) {
            const GpuPacket packet = debug_packet(q, i);
            if (packet.kind == GpuPacket::Kind::event_wait || packet.event_address != address ||
                packet.event_value < value)
                continue;
            queue = q;
            index = i;
            return true;
        }
    }
    return false;
}

/// `next`: the queue that it depends on, or -1.
std::string CommandProcessor::reason(unsigned q, int& next) const {
    const Queue& queue = *queues_[q];
    next = -1;
    if (!queue.waits_for_event) {
        return fmt::format("queue {} (packet {} of {}) waits for {} packets that are under way", q, queue.read,
                           queue.written, queue.unfinished());
    }
    const GpuPacket& packet = queue.packet;
    std::string text =
        fmt::format("queue {} (packet {}, tag {}) waits for event {:#x} to be {} (it is {})", q, queue.read, packet.tag,
                    packet.event_address, packet.event_value, debug_word(packet.event_address));
    unsigned other = 0;
    std::uint32_t index = 0;
    if (!signaller(packet.event_address, packet.event_value, other, index)) return text + ", which no packet signals";
    next = static_cast<int>(other);
    return text + fmt::format(", which packet {} of queue {} signals", index, other);
}

std::string CommandProcessor::stall() const {
    std::string text;
    std::vector<int> next(queues_.size(), -1);
    for (unsigned q = 0; q < queues_.size(); ++q) {
        if (queues_[q]->completed == queues_[q]->written) continue;
        text += (text.empty() ? "" : "; ") + reason(q, next[q]);
    }
    // Who follows the waits as often as there are queues and still waits is in a cycle, or behind one.
    const bool cycle = std::any_of(next.begin(), next.end(), [&next](int queue) {
        for (std::size_t step = 0; step < next.size() && queue >= 0; ++step)
            queue = next[static_cast<std::size_t>(queue)];
        return queue >= 0;
    });
    return cycle ? text + ": a cycle" : text;
}

}  // namespace switchyard::hw
