#include "switchyard/platform/stages/resources.h"

#include <algorithm>

namespace switchyard::platform {

Resources::Resources(const PlatformConfig& platform, unsigned links)
    : link_free_(links, 0),
      memory_free_(platform.hbm.interfaces(), 0),
      bytes_per_cycle_(platform.hbm.peak_bytes_per_cycle() * (1 - platform.hbm.refresh_share)),
      channel_bytes_per_cycle_(bytes_per_cycle_ / platform.hbm.pseudo_channels_per_interface),
      link_bytes_per_cycle_(platform.noc.link_bytes_per_cycle),
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
        double& free = memory_free_[use.interface];
        const double begin = std::max(free, start);
        free = begin + static_cast<double>(use.moved_bytes) / bytes_per_cycle_;
        // A short request keeps one channel busy for longer than the interface's mean.
        end = std::max({end, free, begin + static_cast<double>(use.busiest_channel_bytes) / channel_bytes_per_cycle_});
    }
    return end;
}

double Resources::read(const Traffic& traffic, double start) {
    const double served = serve(traffic, start) + read_latency_;
    double last_packet = 0;
    for (const Traffic::MemoryUse& use : traffic.memory)
        last_packet = std::max(last_packet, static_cast<double>(use.last_packet_bytes) / link_bytes_per_cycle_);
    return std::max(carry(traffic, start + read_latency_), served + last_packet);
}

double Resources::write(const Traffic& traffic, double start, double head) {
    const double carried = carry(traffic, start) + head;
    return std::max(carried, serve(traffic, start + head)) + write_latency_;
}

}  // namespace switchyard::platform
