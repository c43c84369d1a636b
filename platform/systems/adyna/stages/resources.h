// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/systems/adyna/stages/traffic.h"
#include "switchyard/tlm/activity_log.h"

namespace switchyard::platform {

/// Links and memory interfaces, which all traffic of the chip shares: tensors, weights, masks and DMA. Each serves what
/// it is given one after another. Times in cycles; requests have to be made in the order of their times.
///
/// The pseudo-channels of a memory interface serve a transfer's requests together, weights by turns of `turn_bytes()`,
/// of which each request has enough in flight to keep the interface busy by itself (hw::MemoryInterface).
class Resources {
public:
    /// `router_links`: of the network's `links`, those between routers; then as many into it as out of it.
    Resources(const PlatformConfig& platform, unsigned router_links, unsigned links);

    /// The packets' heads are on their way from `start` on; when the last link has carried them, which takes `stretch`
    /// times what the packets need. While they wait they keep one of the virtual channels of each link. `share`: of the
    /// traffic that is carried.
    double carry(const Traffic& traffic, double start, double stretch = 1, double share = 1);
    /// The same of one packet, a share of `traffic`, which is on all of its links at once: while it waits for one of
    /// them it keeps a virtual channel of the others, and its source, unless a buffer holds all of it.
    double carry_packet(const Traffic& traffic, double start, double share);
    /// How long a packet of a few flits waits for the last of these links.
    double backlog(const std::vector<std::uint16_t>& links, double time) const;

    /// When the first data of the requests leave the memory interfaces, or are written, and the last.
    struct Served {
        double first = 0, last = 0;
    };
    /// All requests of a transfer, which arrive at `time`. `displacement`: bytes by which their addresses are moved.
    Served serve(const Traffic& traffic, double time, std::uint64_t displacement = 0);
    /// When they would, counted from their arrival, if nothing else were served.
    Served alone(const Traffic::MemoryUse& use) const;
    /// One turn of a read; when its data leave the memory interface.
    double serve_turn(unsigned interface, std::uint64_t bytes, double time);
    double read_latency() const { return read_latency_; }
    std::uint64_t turn_bytes() const { return turn_bytes_; }
    std::uint64_t lookahead_bytes() const { return lookahead_bytes_; }

private:
    /// An endpoint sends one packet after another.
    bool is_source(unsigned link) const { return link >= first_injection_ && link < first_ejection_; }

    std::vector<double> link_free_;
    void log(std::size_t channel, bool write, double begin, double end);

    std::vector<double> channel_free_;  ///< pseudo-channels, interface by interface
    unsigned channels_, interleave_bytes_;
    unsigned first_injection_, first_ejection_;  ///< links
    double cycles_per_byte_;                     ///< of a pseudo-channel
    double read_latency_, write_latency_;
    std::uint64_t turn_bytes_, lookahead_bytes_;
    double buffer_cycles_;  ///< for which a link at full rate fills a buffer
    ActivityLog* const log_ = ActivityLog::current();
    std::vector<ActivityLog::Track> tracks_;  ///< by pseudo-channel
    double ticks_per_cycle_ = 1;
    double class_channels_;  ///< virtual channels of a link among which a packet may choose
};

}  // namespace switchyard::platform
