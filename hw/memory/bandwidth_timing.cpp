// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/bandwidth_timing.h"

#include <algorithm>
#include <cmath>

#include "switchyard/sw_scheduler/base/rounding.h"
#include "switchyard/sw_scheduler/base/whole_time.h"

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
    return whole_time(ticks, "ticks", "a latency of memory");
}

}  // namespace

BandwidthTiming::BandwidthTiming(const HbmConfig& config, const BankCosts& costs, double ticks_per_ns)
    : costs_(costs),
      burst_bytes_(config.burst_bytes),
      interleave_bytes_(config.interleave_bytes),
      pseudo_channels_(config.pseudo_channels_per_interface),
      block_bytes_(costs.banks > 0 ? costs.row_bytes * costs.interleaved_banks : ~std::uint64_t{0}),
      ticks_per_byte_(ticks_per_ns / (config.pseudo_channel_gb_per_s * (1 - config.refresh_share))),
      cycles_per_tick_(config.clock_ghz / ticks_per_ns / config.pseudo_channels_per_interface),
      read_latency_(whole_ticks(config.read_latency_ns * ticks_per_ns)),
      write_latency_(whole_ticks(config.write_latency_ns * ticks_per_ns)),
      banks_(std::size_t{costs.banks} * pseudo_channels_) {
    // Refresh is spread over all times alike.
    const double stretched = ticks_per_ns / (1 - config.refresh_share);
    row_cycle_ = whole_ticks(costs.row_cycle_ns * stretched);
    read_to_row_ = whole_ticks(costs.read_to_row_ns * stretched);
    write_to_row_ = whole_ticks(costs.write_to_row_ns * stretched);
    activate_ = whole_ticks(costs.activate_ns * stretched);
    refresh_wait_ = whole_ticks(costs.refresh_wait_ns * ticks_per_ns);
    turn_ = service_ticks(costs.piece_bytes);
    turnaround_ = whole_ticks(costs.turnaround_ns * stretched);
}

void BandwidthTiming::open_log(ActivityLog& log, const std::string& name) {
    log_ = &log;
    for (unsigned channel = 0; channel < pseudo_channels_; ++channel)
        tracks_[channel] = log.track("memory channels", name + " channel " + std::to_string(channel));
}

BandwidthTiming::Tick BandwidthTiming::service_ticks(std::uint64_t bytes) const {
    const double ticks = static_cast<double>(bytes) * ticks_per_byte_;
    if (!(ticks <= kLongestTime)) refuse_time(ticks, "ticks", "bytes of a pseudo-channel");
    return static_cast<Tick>(std::ceil(ticks));
}

void BandwidthTiming::place(Progress& progress, std::uint64_t begin, std::uint64_t end, bool write, Tick now) {
    const Tick latency = write ? write_latency_ : read_latency_;
    const BytesBefore before(interleave_bytes_, pseudo_channels_, begin / burst_bytes_ * burst_bytes_);
    const BytesBefore until(interleave_bytes_, pseudo_channels_, round_up(end, burst_bytes_));
    progress.ready = std::max(progress.ready, now);
    for (unsigned channel = 0; channel < pseudo_channels_; ++channel) {
        const std::uint64_t first = before.on(channel), last = until.on(channel);
        std::uint64_t& placed = progress.bytes[channel];
        if (first + placed == last) continue;
        turn_round(channels_[channel], last - first - placed, write);
        Tick service = 0;
        while (first + placed < last) {
            Piece piece{channel, first + placed, 0, 0};
            piece.end = std::min(last - piece.begin, block_bytes_ - piece.begin % block_bytes_) + piece.begin;
            piece.service = service_ticks(piece.end - first) - service_ticks(placed);
            placed = piece.end - first;
            busy_cycles_ += static_cast<double>(piece.service) * cycles_per_tick_;
            service += piece.service;
            progress.ready = std::max(progress.ready, move(piece, write, now) + latency);
        }
        // Up to when the bus is free, not to when banks let these data come: others may use it before them.
        const Tick free = channels_[channel].free;
        if (log_ != nullptr) log_->slice(tracks_[channel], write ? "write" : "read", free - service, free);
    }
}

void BandwidthTiming::turn_round(PseudoChannel& channel, std::uint64_t bytes, bool write) const {
    if (write) {
        channel.written += bytes;
    } else if (channel.written >= costs_.drain_bytes && channel.written > 0) {
        channel.free += turnaround_;
        channel.written = 0;
    }
}

BandwidthTiming::Tick BandwidthTiming::move(const Piece& piece, bool write, Tick now) {
    PseudoChannel& channel = channels_[piece.channel];
    channel.free = later_time(std::max(channel.free, channel.free < now ? now + refresh_wait_ : now), piece.service,
                              "ticks", "bytes of a pseudo-channel");
    if (banks_.empty()) return channel.free;

    const unsigned interleaved = costs_.interleaved_banks;
    const std::uint64_t row = piece.begin / block_bytes_;
    const std::uint64_t set = (row >> costs_.rows_shift) % (costs_.banks / interleaved);
    Bank* const banks = &banks_[piece.channel * costs_.banks + set * interleaved];
    const std::uint64_t first = piece.begin / costs_.piece_bytes, last = (piece.end - 1) / costs_.piece_bytes;
    const std::uint64_t touched = std::min<std::uint64_t>(last - first + 1, interleaved);
    // All of them carry the piece together, in turns, so that each is needed a turn later than the one before.
    Tick ready = now, turn = 0;
    for (std::uint64_t i = 0; i < touched; ++i) {
        const Bank& bank = banks[(first + i) % interleaved];
        const Tick needed = turn;
        turn += turn_;
        if (bank.row == row && (costs_.open_rows || bank.end > now)) continue;
        const Tick open = std::max(bank.ready, channel.activate);
        ready = std::max(ready, open > needed ? open - needed : 0);
        channel.activate = std::max(channel.activate, now) + activate_;
    }
    const Tick end = std::max(channel.free, ready + piece.service);
    const Tick begin = end - piece.service;
    for (std::uint64_t i = 0; i < touched; ++i)
        banks[(first + i) % interleaved] = {row, end,
                                            std::max(end + (write ? write_to_row_ : read_to_row_), begin + row_cycle_)};
    // While it waits, others use the bus, unless it fills the queues in which the controller looks for them.
    const std::uint64_t share = std::min(piece.end - piece.begin, costs_.queue_bytes);
    channel.free += (end - channel.free) * share / costs_.queue_bytes;
    return end;
}

}  // namespace switchyard::hw
