#pragma once

#include <array>
#include <cstdint>

#include "switchyard/hw/memory/hbm_config.h"

namespace switchyard::hw {

/// The fast model of an interface's pseudo-channels (impl bandwidth), without SystemC: what is given a place on them
/// takes it behind all that has been given one, at the pin bandwidth less the refresh share.
class BandwidthTiming {
public:
    using Tick = std::uint64_t;  ///< of any length; its owner says how many make a nanosecond

    /// Where a request stands.
    struct Progress {
        Tick ready = 0;                                ///< when what has got a place is done
        std::array<Tick, kMaxPseudoChannels> moved{};  ///< time that each pseudo-channel spends on it
    };

    BandwidthTiming(const HbmConfig& config, double ticks_per_ns);

    /// Gives a request that began at address `begin` its next bytes, up to address `end`: a place on the
    /// pseudo-channels. progress.ready moves on to when they are done.
    void place(Progress& progress, std::uint64_t begin, std::uint64_t end, bool write, Tick now);

    Tick read_latency() const { return read_latency_; }
    Tick write_latency() const { return write_latency_; }
    /// Mean of the pseudo-channels, in cycles of the chip.
    double busy_cycles() const { return busy_cycles_; }

private:
    Tick service_ticks(std::uint64_t bytes) const;

    std::uint64_t burst_bytes_, piece_bytes_;
    unsigned pseudo_channels_;
    double ticks_per_byte_;   ///< of one pseudo-channel
    double cycles_per_tick_;  ///< chip cycles of the interface for a tick of one pseudo-channel
    Tick read_latency_, write_latency_;
    std::array<Tick, kMaxPseudoChannels> free_{};  ///< when each pseudo-channel has moved what it has been given
    double busy_cycles_ = 0;
};

}  // namespace switchyard::hw
