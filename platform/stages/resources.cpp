#include "switchyard/platform/stages/resources.h"

#include <algorithm>
#include <cmath>

namespace switchyard::platform {

Resources::Resources(const PlatformConfig& platform, unsigned links)
    : link_free_(links, 0),
      memories_(platform.hbm.interfaces()),
      bytes_per_cycle_(platform.hbm.peak_bytes_per_cycle() * (1 - platform.hbm.refresh_share)),
      channel_bytes_per_cycle_(bytes_per_cycle_ / platform.hbm.pseudo_channels_per_interface),
      link_bytes_per_cycle_(platform.noc.link_bytes_per_cycle),
      turn_bytes_(platform.hbm.max_packet_bytes),
      read_latency_(platform.cycles(platform.hbm.read_latency_ns)),
      write_latency_(platform.cycles(platform.hbm.write_latency_ns)) {}

double Resources::carry(const Traffic& traffic, double start) {
    double end = start;
    for (const Traffic::LinkUse& use : traffic.links) {
        double& free = link_free_[use.link];
        free = std::max(free, start) + use.cycles;
        end = std::max(end, free);
    }
    return end;
}

double Resources::serve(const Traffic& traffic, double start) {
    double end = start;
    for (const Traffic::MemoryUse& use : traffic.memory) {
        Memory& memory = memories_[use.interface];
        const auto bytes = static_cast<double>(use.moved_bytes);
        const double begin = std::max(memory.free, start), service = bytes / bytes_per_cycle_;
        memory.free = begin + service;
        // A short request keeps one channel busy for longer than the interface's mean.
        const double channel = static_cast<double>(use.busiest_channel_bytes) / channel_bytes_per_cycle_;
        double turns = 0;
        if (memory.streams > 0) {
            // A request is given its next turn while it still has the one before.
            const double own = std::max(1.0, std::ceil(static_cast<double>(use.longest_bytes) / turn_bytes_) - 1);
            turns = std::min(own * memory.streams * turn_bytes_ / bytes_per_cycle_,
                             std::max(0.0, memory.stream_free - begin));
            memory.stream_free += service;
        }
        memory.served += service;
        end = std::max(end, begin + turns + std::max(service, channel));
    }
    return end;
}

double Resources::last_packet(const Traffic& traffic) const {
    double bytes = 0;
    for (const Traffic::MemoryUse& use : traffic.memory)
        bytes = std::max(bytes, std::min(static_cast<double>(use.longest_bytes), turn_bytes_));
    return bytes / link_bytes_per_cycle_;
}

double Resources::read(const Traffic& traffic, double start) {
    const double served = serve(traffic, start) + read_latency_;
    return std::max(carry(traffic, start + read_latency_), served + last_packet(traffic));
}

Resources::Stream Resources::stream(const Traffic& traffic, double start) {
    const Traffic::MemoryUse& use = traffic.memory.front();
    Memory& memory = memories_[use.interface];
    const double begin = std::max({memory.stream_free, memory.free, start});
    memory.stream_free = begin + static_cast<double>(use.moved_bytes) / bytes_per_cycle_;
    ++memory.streams;
    // The links are wider than the interface, and the packets come with gaps that tensors fill.
    return {memory.stream_free + read_latency_ + last_packet(traffic), use.interface, memory.served};
}

double Resources::delay_of(Stream& stream) {
    Memory& memory = memories_[stream.interface];
    const double delay = memory.served - stream.others;
    stream.others = memory.served;
    if (delay == 0) --memory.streams;
    return delay;
}

double Resources::write(const Traffic& traffic, double start, double head) {
    const double carried = carry(traffic, start) + head;
    return std::max(carried, serve(traffic, start + head)) + write_latency_;
}

}  // namespace switchyard::platform
