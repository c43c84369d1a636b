// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/hw/memory/dram/bank_timing.h"
#include "switchyard/hw/memory/dram/burst_queue.h"
#include "switchyard/hw/memory/dram/command.h"
#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

struct ChannelStats {
    std::uint64_t reads = 0, writes = 0;  ///< bursts on the data bus
    std::uint64_t row_hits = 0;           ///< of these, bursts for which no row had to be opened
    std::uint64_t forwarded = 0;          ///< reads answered from a waiting write
    std::uint64_t activates = 0, precharges = 0, refreshes = 0;
    std::uint64_t turnarounds = 0;     ///< of a pseudo-channel, from reads to writes or back
    std::uint64_t data_cycles = 0;     ///< summed over the pseudo-channels
    std::uint64_t refresh_cycles = 0;  ///< tRFC of each refresh; of one bank, divided by the number of banks
    Cycle last_data = 0;               ///< when the data bus has moved what was issued

    void add(const ChannelStats& other);
};

/// The controller of one channel, and the channel's banks.
///
/// It goes from command to command, never from cycle to cycle: of the commands that the waiting bursts need next it
/// issues the one that can be issued first; of several, what was refused longest (starvation limit), then column
/// commands, then the oldest. This is FR-FCFS: the banks' next commands compete, a row hit does not wait for older
/// bursts to other rows of its bank until one of them has waited starvation_limit_cycles in its queue.
/// Writes wait in a queue of their own. Once write_high_bursts have come together, those pseudo-channels that have
/// writes serve them until write_low_bursts are left; one without reads serves them anyway. If the oldest burst of the
/// other side has waited for the starvation limit, (high - low) bursts of that side go first. A read of a burst that a
/// waiting write will store is answered from the write queue. Refresh: when tREFI has passed, all banks (or the next
/// one) are closed as soon as they may and refreshed; nothing is postponed. With staggered_refresh
/// pseudo-channels and channels refresh at different times.
///
/// Not modelled: ranks, power-down and self-refresh, temperature-dependent refresh, ECC, postponed refreshes, the
/// latency of controller and PHY.
class ChannelController {
public:
    /// What became of a burst: its data have been moved at `cycle`.
    struct Done {
        Cycle cycle;
        std::uint32_t tag;
    };

    /// `index` of all channels. The sink, if any, sees every command.
    ChannelController(const Device& device, unsigned index, CommandSink* sink = nullptr);

    /// A burst for this channel that comes at `arrival`, not before the last one's. It waits outside the queues until
    /// they have room. `tag` comes back when it is done.
    void push(const Location& location, bool write, Cycle arrival, std::uint32_t tag);

    /// Issues every command before cycle `until`. Bursts that are pushed later arrive at `until` or after it. Appends
    /// to done(), whose cycles may lie beyond.
    void advance(Cycle until);

    /// What has been done since the owner cleared it.
    std::vector<Done>& done() { return done_; }
    /// Bursts that have been pushed and not yet issued.
    std::uint64_t waiting() const { return waiting_; }
    /// Bursts that wait outside the queues.
    std::size_t staged() const { return staged_.size() - staged_begin_; }
    const ChannelStats& stats() const { return stats_; }

private:
    struct Staged {
        Cycle arrival;
        std::uint32_t row, column, tag;
        std::uint8_t pseudo_channel, bank;
        bool write;
    };
    /// What a bank's waiting bursts need next. It stays so until one comes, a command is issued to the bank, the
    /// pseudo-channel turns or its oldest burst starves.
    struct Next {
        Cycle cycle = 0;          ///< not earlier, as far as the bank itself is concerned
        Cycle starved_after = 0;  ///< the oldest burst's admission and the starvation limit
        std::uint64_t order = 0;  ///< of the burst that needs it
        BurstQueue::Index entry = BurstQueue::kNone;
        CommandKind kind = CommandKind::activate;
        std::uint8_t floor = 0;  ///< index of what its group and pseudo-channel demand, see consider_banks()
        bool starved = false;
    };
    struct PseudoChannel {
        explicit PseudoChannel(const Device& device) : timing(device.geometry, device.timing) {}

        BankTiming timing;
        std::uint64_t open = 0;  ///< banks with an open row, one bit each
        std::array<std::uint32_t, kMaxBanks> row{};
        /// The oldest waiting burst for the bank's open row: [0] reads, [1] writes.
        std::array<std::array<BurstQueue::Index, kMaxBanks>, 2> hit{};
        std::array<Next, kMaxBanks> next{};
        std::uint64_t changed = 0;  ///< banks whose next command must be worked out again, one bit each
        bool writing = false;       ///< it serves writes, otherwise reads
        bool rescue = false;        ///< it turned because that side starved
        unsigned served = 0;        ///< bursts since it turned
        bool refreshing = false;    ///< a refresh is due
        unsigned refresh_bank = 0;
        Cycle refresh_due = kNever;
    };
    /// A command that could be issued. Of several the one with the least key goes first: cycle (from now_ on), rank,
    /// order of the burst that needs it, in one number.
    struct Candidate {
        Cycle cycle = kNever;
        std::uint64_t key = ~std::uint64_t{0};
        CommandKind kind = CommandKind::activate;
        std::uint8_t pseudo_channel = 0, bank = 0;
        BurstQueue::Index entry = BurstQueue::kNone;
    };

    BurstQueue& queue(bool write) { return write ? writes_ : reads_; }
    const BurstQueue& queue(bool write) const { return write ? writes_ : reads_; }

    /// Takes the staged bursts that have arrived and find room.
    void admit();
    bool forward(const Staged& burst);
    void choose_direction(unsigned pseudo_channel);

    Candidate select();
    void work_out(unsigned pseudo_channel, unsigned bank);
    void consider_banks(unsigned pseudo_channel, std::uint64_t banks, Candidate& best);
    void consider_refresh(unsigned pseudo_channel, Candidate& best) const;
    std::uint64_t key(Cycle cycle, unsigned rank, std::uint64_t order) const;
    void begin_refreshes();

    void issue(const Candidate& candidate);
    void issue_column(const Candidate& candidate, PseudoChannel& p);
    void issue_row(const Candidate& candidate, PseudoChannel& p);
    void refreshed(PseudoChannel& p, Cycle period);
    void close(PseudoChannel& p, unsigned bank);

    Geometry geometry_;
    Timing timing_;
    Policy policy_;
    bool closed_page_, per_bank_refresh_;
    unsigned index_;
    CommandSink* sink_;
    BurstQueue reads_, writes_;
    std::vector<PseudoChannel> pseudo_channels_;
    std::vector<Staged> staged_;  ///< from staged_begin_ on
    std::size_t staged_begin_ = 0;
    std::vector<Done> done_;
    Candidate selected_;         ///< what select() found,
    bool selected_now_ = false;  ///< and nothing has changed since
    bool draining_ = false;      ///< writes have come together and are being served
    Cycle now_ = 0;
    Cycle row_bus_ = 0, column_bus_ = 0;  ///< free from then on
    Cycle next_refresh_ = kNever;         ///< the earliest refresh_due of those not refreshing
    std::uint64_t admitted_ = 0, waiting_ = 0;
    ChannelStats stats_;
};

}  // namespace switchyard::hw::dram
