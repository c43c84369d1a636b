// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/resources.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/hw/memory/memory_interface.h"
#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/tlm/clock_period.h"

namespace switchyard::platform {

namespace {

constexpr std::uint64_t kMinTurnBytes = 4096;  ///< shorter turns only cost host time

}  // namespace

Resources::Resources(const PlatformConfig& platform, unsigned router_links, unsigned links)
    : link_free_(links, 0),
      channel_free_(platform.hbm.interfaces() * platform.hbm.pseudo_channels_per_interface, 0),
      channels_(platform.hbm.pseudo_channels_per_interface),
      interleave_bytes_(platform.hbm.interleave_bytes),
      first_injection_(router_links),
      first_ejection_(router_links + (links - router_links) / 2),
      cycles_per_byte_(channels_ / (platform.hbm.peak_bytes_per_cycle() * (1 - platform.hbm.refresh_share))),
      read_latency_(platform.cycles(platform.hbm.read_latency_ns)),
      write_latency_(platform.cycles(platform.hbm.write_latency_ns)),
      turn_bytes_(round_up(kMinTurnBytes, platform.hbm.max_packet_bytes)),
      lookahead_bytes_(hw::MemoryInterface::lookahead_bytes(platform.hbm, nullptr)),
      buffer_cycles_(platform.noc.buffer_flits),
      class_channels_(std::max(1U, platform.noc.topology == "torus" ? platform.noc.vcs / 2 : platform.noc.vcs)) {
    if (log_ == nullptr) return;
    ticks_per_cycle_ = static_cast<double>(ClockPeriod(platform.chip.clock_ghz).cycles(1).value());
    for (std::size_t channel = 0; channel < channel_free_.size(); ++channel)
        tracks_.push_back(log_->track(
            "memory channels", fmt::format("interface_{} channel {}", channel / channels_, channel % channels_)));
}

void Resources::log(std::size_t channel, bool write, double begin, double end) {
    log_->slice(tracks_[channel], write ? "write" : "read", static_cast<std::uint64_t>(begin * ticks_per_cycle_),
                static_cast<std::uint64_t>(end * ticks_per_cycle_));
}

double Resources::carry(const Traffic& traffic, double start, double stretch, double share) {
    double end = start;
    if (stretch == 1 && traffic.stretch == 1) {  // as nearly always
        for (const Traffic::LinkUse& use : traffic.links) {
            double& free = link_free_[use.link];
            free = std::max(free, start) + use.cycles * share;
            end = std::max(end, free);
        }
        return end;
    }
    const double held = std::max(1 + (stretch - 1) / class_channels_, traffic.stretch / class_channels_);
    for (const Traffic::LinkUse& use : traffic.links) {
        double& free = link_free_[use.link];
        const double begin = std::max(free, start);
        const double cycles = use.cycles * share;
        free = begin + cycles * (is_source(use.link) ? std::max(held, traffic.stretch) : held);
        end = std::max({end, free, begin + cycles * stretch});
    }
    return end;
}

double Resources::carry_packet(const Traffic& traffic, double start, double share) {
    std::uint32_t longest = 0;  // of the data, not of the request for them
    for (const Traffic::LinkUse& use : traffic.links) longest = std::max(longest, use.cycles);
    const double cycles = longest * share;
    if (cycles <= buffer_cycles_) return carry(traffic, start, 1, share);
    const double held = std::max(1.0, traffic.stretch / class_channels_);
    double all_free = start;
    for (const Traffic::LinkUse& use : traffic.links)
        if (use.cycles == longest) all_free = std::max(all_free, link_free_[use.link]);
    for (const Traffic::LinkUse& use : traffic.links) {
        double& free = link_free_[use.link];
        const double begin = std::max(free, start);
        const double wait = use.cycles == longest ? std::max(0.0, all_free - begin - buffer_cycles_) : 0;
        free = begin + (is_source(use.link) ? use.cycles * share * traffic.stretch + wait
                                            : use.cycles * share * held + wait / class_channels_);
    }
    return all_free + cycles * traffic.stretch;
}

double Resources::backlog(const std::vector<std::uint16_t>& links, double time) const {
    double free = time;
    for (const std::uint16_t link : links) free = std::max(free, link_free_[link]);
    return free - time;
}

Resources::Served Resources::serve(const Traffic& traffic, double time, std::uint64_t displacement) {
    Served served{std::numeric_limits<double>::infinity(), time};
    const auto moved = static_cast<unsigned>(displacement / interleave_bytes_ % channels_);
    for (const Traffic::MemoryUse& use : traffic.memory) {
        const double latency = use.write ? write_latency_ : read_latency_;
        double* const channels = &channel_free_[std::size_t{use.interface} * channels_];
        for (unsigned channel = 0; channel < channels_; ++channel) {
            if (use.channel_bytes[channel] == 0) continue;
            double& free = channels[(channel + moved) % channels_];
            const double begin = std::max(free, time);
            free = begin + static_cast<double>(use.channel_bytes[channel]) * cycles_per_byte_;
            if (log_ != nullptr) log(static_cast<std::size_t>(&free - channel_free_.data()), use.write, begin, free);
            served.first = std::min(served.first, begin + latency);
            served.last = std::max(served.last, free + latency);
        }
    }
    return served;
}

Resources::Served Resources::alone(const Traffic::MemoryUse& use) const {
    const double latency = use.write ? write_latency_ : read_latency_;
    const std::uint64_t longest = *std::max_element(use.channel_bytes.begin(), use.channel_bytes.end());
    return {latency, latency + static_cast<double>(longest) * cycles_per_byte_};
}

double Resources::serve_turn(unsigned interface, std::uint64_t bytes, double time) {
    double ready = time;
    for (unsigned channel = 0; channel < channels_; ++channel) {
        double& free = channel_free_[std::size_t{interface} * channels_ + channel];
        const double begin = std::max(free, time);
        free = begin + static_cast<double>(bytes) / channels_ * cycles_per_byte_;
        if (log_ != nullptr) log(std::size_t{interface} * channels_ + channel, false, begin, free);
        ready = std::max(ready, free);
    }
    return ready + read_latency_;
}

}  // namespace switchyard::platform
