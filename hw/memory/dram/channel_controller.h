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
        Cycle cycle = 0;
        std::uint32_t tag = 0;
    };

    /// `index` of all channels. The sink, if any, sees every command.
    ChannelController(const Device& device, unsigned index, CommandSink* sink = nullptr);
    ChannelController(ChannelController&&) = default;

    /// A burst for this channel that comes at `arrival`, not before the last one's. It waits outside the queues until
    /// they have room. `tag` comes back when it is done.
    void push(const Location& location, bool write, Cycle arrival, std::uint32_t tag) {
        Staged& burst = staged_.emplace_back();
        burst.arrival = arrival;
        burst.row = location.row;
        burst.column = location.column;
        burst.tag = tag;
        burst.pseudo_channel = static_cast<std::uint8_t>(location.pseudo_channel);
        burst.bank = static_cast<std::uint8_t>(location.bank_group * geometry_.banks_per_group + location.bank);
        burst.write = write;
        ++waiting_;
    }

    /// Issues every command before cycle `until`. Bursts that are pushed later arrive at `until` or after it. Appends
    /// to done(), whose cycles may lie beyond.
    void advance(Cycle until);

    /// What has been done since the owner cleared it.
    std::vector<Done>& done() { return done_; }
    /// Bursts that have been pushed and not yet issued.
    std::uint64_t waiting() const { return waiting_; }
    /// Bursts that wait outside the queues.
    std::size_t staged() const { return staged_.size() - staged_begin_; }
    ChannelStats stats() const;

private:
    struct Staged {
        Cycle arrival = 0;
        std::uint32_t row = 0, column = 0, tag = 0;
        std::uint8_t pseudo_channel = 0, bank = 0;
        bool write = false;
    };
    /// What a bank's waiting bursts need next. It stays so until the first one comes, or the first one for its open
    /// row, a command is issued to the bank, the pseudo-channel turns or its oldest burst starves.
    struct Next {
        Cycle cycle = 0;             ///< not earlier, as far as the bank itself is concerned
        std::uint64_t priority = 0;  ///< see Candidate
        BurstQueue::Index entry = BurstQueue::kNone;
        CommandKind kind = CommandKind::activate;
        std::uint8_t group = 0;  ///< what it waits for in its bank group: BankTiming::group()
    };
    struct Bank {
        /// The oldest waiting burst for the open row: [0] reads, [1] writes.
        std::array<BurstQueue::Index, 2> hit{BurstQueue::kNone, BurstQueue::kNone};
        std::uint32_t row = 0;  ///< open, if any
        Next next;
    };
    /// A command that could be issued. Of several the earliest goes first, of those of one cycle the one with the least
    /// priority: rank, then order of the burst that needs it, in one number.
    struct Candidate {
        Cycle cycle = kNever;
        std::uint64_t priority = ~std::uint64_t{0};
        CommandKind kind = CommandKind::activate;
        std::uint8_t pseudo_channel = 0, bank = 0;
        BurstQueue::Index entry = BurstQueue::kNone;

        void take(Cycle at, const Next& next, unsigned of_bank) {
            cycle = at;
            priority = next.priority;
            entry = next.entry;
            kind = next.kind;
            bank = static_cast<std::uint8_t>(of_bank);
        }
        bool goes_before(const Candidate& other) const {
            return cycle != other.cycle ? cycle < other.cycle : priority < other.priority;
        }
    };
    struct PseudoChannel {
        explicit PseudoChannel(const Device& device) : timing(device.geometry, device.timing) {}

        BankTiming timing;
        std::uint8_t index = 0;  ///< in the channel
        std::array<Bank, kMaxBanks> bank{};
        std::uint64_t open = 0;     ///< banks with an open row, one bit each
        std::uint64_t changed = 0;  ///< banks whose next command must be worked out again, one bit each
        Candidate best;             ///< of its commands,
        bool best_known = false;    ///< and nothing has changed since but time and the command buses
        /// Until then no read ([0]) or write ([1]) has waited for the starvation limit. Bursts come in order of time,
        /// so it stays true when the burst that it was worked out for has gone.
        std::array<Cycle, 2> starved_after{};
        bool writing = false;     ///< it serves writes, otherwise reads
        bool rescue = false;      ///< it turned because that side starved
        unsigned served = 0;      ///< bursts since it turned
        bool refreshing = false;  ///< a refresh is due
        unsigned refresh_bank = 0;
        Cycle refresh_due = kNever;
    };

    BurstQueue& queue(bool write) { return write ? writes_ : reads_; }
    const BurstQueue& queue(bool write) const { return write ? writes_ : reads_; }

    /// Takes the staged bursts that have arrived and find room. Returns when the next one comes for which there is
    /// room, or kNever.
    Cycle admit();
    void forget_admitted();  ///< their memory is used again
    bool forward(const Staged& burst);
    /// What the pseudo-channel serves from now on.
    void choose_direction(PseudoChannel& p) {
        if (writes_.size() == 0 && !p.writing)
            draining_ = false;
        else
            weigh_directions(p);
    }
    void weigh_directions(PseudoChannel& p);

    /// Whether the oldest burst of a direction has waited for the starvation limit.
    bool starves(PseudoChannel& p, bool write) { return now_ > p.starved_after[write] && oldest_starves(p, write); }
    /// Looks the oldest one up, which starved_after need not be that of.
    bool oldest_starves(PseudoChannel& p, bool write);
    /// The same of a bank that has bursts of the direction which is served.
    bool bank_starves(const PseudoChannel& p, unsigned bank) const;

    /// The pseudo-channel whose best command goes first.
    PseudoChannel* select();
    /// Whether `best` of a pseudo-channel is still that.
    bool best_holds(PseudoChannel& p);
    void find_best(PseudoChannel& p);
    /// What the banks need next, of those where it has changed.
    void work_out_changed(PseudoChannel& p, std::uint64_t waiting);
    /// `starved`: bank_starves().
    void work_out(PseudoChannel& p, unsigned bank, bool starved);
    /// After a column command: the bank's next one is the same for another burst of the row.
    void take_next_hit(PseudoChannel& p, unsigned bank, BurstQueue::Index hit);
    /// Make `best` the next command of one of these banks if one goes before it.
    void consider(PseudoChannel& p, std::uint64_t banks);
    Candidate next_refresh(const PseudoChannel& p) const;
    void begin_refreshes();

    void issue(const Candidate& candidate);
    void issue_column(const Candidate& candidate, PseudoChannel& p);
    void issue_row(const Candidate& candidate, PseudoChannel& p);
    /// A command takes its bus, or the one that all share.
    void occupy(Cycle& bus, Cycle until);
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
    PseudoChannel* selected_ = nullptr;  ///< what select() found, if nothing has changed since
    bool draining_ = false;              ///< writes have come together and are being served
    Cycle now_ = 0;
    Cycle row_bus_ = 0, column_bus_ = 0;  ///< free from then on
    Cycle next_refresh_ = kNever;         ///< the earliest refresh_due of those not refreshing
    std::uint64_t admitted_ = 0, waiting_ = 0;
    ChannelStats stats_;
};

}  // namespace switchyard::hw::dram
