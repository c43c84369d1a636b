// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/hw/memory/bank_costs.h"
#include "switchyard/hw/memory/hbm_config.h"
#include "switchyard/tlm/activity_log.h"

namespace switchyard::hw {

/// The fast model of an interface's pseudo-channels (impl bandwidth), without SystemC: what is given a place on them
/// takes it behind all that has been given one, at the pin bandwidth less the refresh share. BankCosts add what the
/// banks take beyond that, in closed form for each row that a request crosses:
/// - a row that isn't open can be had when its bank is ready (tRC, precharge) and another activate may go;
/// - meanwhile others use the bus, the less the more of queue_bytes it takes: so far the controller sees;
/// - a refresh may be going on when a request finds the bus idle: the mean of that;
/// - the bus turns round when reads follow drain_bytes of writes. Fewer wait for each other's company.
class BandwidthTiming {
public:
    using Tick = std::uint64_t;  ///< of any length; its owner says how many make a nanosecond

    /// Where a request stands.
    struct Progress {
        Tick ready = 0;                                         ///< when what has got a place is done
        std::array<std::uint64_t, kMaxPseudoChannels> bytes{};  ///< that have a place on each pseudo-channel
    };

    BandwidthTiming(const HbmConfig& config, const BankCosts& costs, double ticks_per_ns);
    /// A track of the timeline for each pseudo-channel, `name` in front. A slice is as long as data are on the bus, and
    /// ends when the bus is free for what comes behind them.
    void open_log(ActivityLog& log, const std::string& name);

    /// Gives a request that began at address `begin` its next bytes, up to address `end`: a place on the
    /// pseudo-channels. progress.ready moves on to when they are done.
    void place(Progress& progress, std::uint64_t begin, std::uint64_t end, bool write, Tick now);

    Tick read_latency() const { return read_latency_; }
    Tick write_latency() const { return write_latency_; }
    /// Mean of the pseudo-channels, in cycles of the chip: data and refresh.
    double busy_cycles() const { return busy_cycles_; }

private:
    struct Bank {
        std::uint64_t row = ~std::uint64_t{0};  ///< a number of its own for each of the bank's rows
        Tick end = 0;                           ///< of the data of that row
        Tick ready = 0;                         ///< when the data of another one can come
    };
    struct PseudoChannel {
        Tick free = 0;      ///< when the bus has moved what it has been given
        Tick activate = 0;  ///< when the next row can be opened
        std::uint64_t written = 0;
    };
    /// Bytes [begin, end) of a pseudo-channel's own addresses.
    struct Piece {
        unsigned channel = 0;
        std::uint64_t begin = 0, end = 0;
        Tick service = 0;
    };

    Tick service_ticks(std::uint64_t bytes) const;
    /// When the piece, which lies in one row of each bank, has been moved.
    Tick move(const Piece& piece, bool write, Tick now);
    void turn_round(PseudoChannel& channel, std::uint64_t bytes, bool write) const;

    BankCosts costs_;
    std::uint64_t burst_bytes_, interleave_bytes_;
    unsigned pseudo_channels_;
    std::uint64_t block_bytes_;  ///< of a pseudo-channel: a row in each interleaved bank
    double ticks_per_byte_;      ///< of one pseudo-channel
    double cycles_per_tick_;     ///< chip cycles of the interface for a tick of one pseudo-channel
    Tick read_latency_, write_latency_;
    Tick row_cycle_, read_to_row_, write_to_row_, activate_, turn_, turnaround_, refresh_wait_;
    std::array<PseudoChannel, kMaxPseudoChannels> channels_{};
    std::vector<Bank> banks_;  ///< of all pseudo-channels
    double busy_cycles_ = 0;
    ActivityLog* log_ = nullptr;
    std::array<ActivityLog::Track, kMaxPseudoChannels> tracks_{};
};

}  // namespace switchyard::hw
