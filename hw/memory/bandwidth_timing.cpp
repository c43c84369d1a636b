#include "switchyard/hw/memory/bandwidth_timing.h"

#include <algorithm>
#include <cmath>

namespace switchyard::hw {
namespace {

/// Of the bytes [0, end), those on each pseudo-channel.
class BytesBefore {
public:
    BytesBefore(std::uint64_t piece_bytes, unsigned pseudo_channels, std::uint64_t end)
        : piece_(piece_bytes),
          whole_(end / (piece_ * pseudo_channels) * piece_),
          rest_(end % (piece_ * pseudo_channels)) {}

    std::uint64_t on(unsigned channel) const {
        const std::uint64_t skipped = channel * piece_;
        return whole_ + (rest_ > skipped ? std::min(piece_, rest_ - skipped) : 0);
    }

private:
    std::uint64_t piece_, whole_, rest_;
};

std::uint64_t whole_ticks(double ticks) {
    return static_cast<std::uint64_t>(std::llround(ticks));
}

}  // namespace

BandwidthTiming::BandwidthTiming(const HbmConfig& config, double ticks_per_ns)
    : burst_bytes_(config.burst_bytes),
      piece_bytes_(config.interleave_bytes),
      pseudo_channels_(config.pseudo_channels_per_interface),
      ticks_per_byte_(ticks_per_ns / (config.pseudo_channel_gb_per_s * (1 - config.refresh_share))),
      cycles_per_tick_(config.clock_ghz / ticks_per_ns / config.pseudo_channels_per_interface),
      read_latency_(whole_ticks(config.read_latency_ns * ticks_per_ns)),
      write_latency_(whole_ticks(config.write_latency_ns * ticks_per_ns)) {}

BandwidthTiming::Tick BandwidthTiming::service_ticks(std::uint64_t bytes) const {
    return static_cast<Tick>(std::ceil(static_cast<double>(bytes) * ticks_per_byte_));
}

void BandwidthTiming::place(Progress& progress, std::uint64_t begin, std::uint64_t end, bool write, Tick now) {
    const Tick latency = write ? write_latency_ : read_latency_;
    const BytesBefore before(piece_bytes_, pseudo_channels_, begin / burst_bytes_ * burst_bytes_);
    const BytesBefore until(piece_bytes_, pseudo_channels_, (end + burst_bytes_ - 1) / burst_bytes_ * burst_bytes_);
    progress.ready = std::max(progress.ready, now);
    for (unsigned channel = 0; channel < pseudo_channels_; ++channel) {
        const Tick moved = service_ticks(until.on(channel) - before.on(channel));
        const Tick service = moved - progress.moved[channel];
        if (service == 0) continue;
        progress.moved[channel] = moved;
        free_[channel] = std::max(free_[channel], now) + service;
        progress.ready = std::max(progress.ready, free_[channel] + latency);
        busy_cycles_ += static_cast<double>(service) * cycles_per_tick_;
    }
}

}  // namespace switchyard::hw
