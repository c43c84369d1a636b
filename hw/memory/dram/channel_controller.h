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
    /// A command that could be issued. Of several the earliest goes first, of those of one cycle the one with the least
    /// priority: rank, then order of the burst that needs it, in one number.
    struct Candidate {
        Cycle cycle = kNever;
        std::uint64_t priority = ~std::uint64_t{0};
        CommandKind kind = CommandKind::activate;
        std::uint8_t pseudo_channel = 0, bank = 0;
        BurstQueue::Index entry = BurstQueue::kNone;

        bool goes_before(const Candidate& other) const {
            return cycle != other.cycle ? cycle < other.cycle : priority < other.priority;
        }
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

    /// Takes the staged bursts that have arrived and find room.
    void admit();
    void forget_admitted();  ///< their memory is used again
    bool forward(const Staged& burst);
    void choose_direction(unsigned pseudo_channel);

    /// Whether the oldest burst of a direction has waited for the starvation limit.
    bool starves(unsigned pseudo_channel, bool write) {
        return now_ > pseudo_channels_[pseudo_channel].starved_after[write] && oldest_starves(pseudo_channel, write);
    }
    /// Looks the oldest one up, which starved_after need not be that of.
    bool oldest_starves(unsigned pseudo_channel, bool write);
    /// The same of a bank that has bursts of the direction which is served.
    bool bank_starves(unsigned pseudo_channel, unsigned bank) const;

    /// The pseudo-channel whose best command goes first.
    unsigned select();
    /// Whether `best` of a pseudo-channel is still that.
    bool best_holds(unsigned pseudo_channel);
    void find_best(unsigned pseudo_channel);
    /// What the bank needs next. `starved`: bank_starves().
    void work_out(unsigned pseudo_channel, unsigned bank, bool starved);
    void consider_banks(unsigned pseudo_channel, std::uint64_t banks, Candidate& best);
    Candidate next_refresh(unsigned pseudo_channel) const;
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
    unsigned selected_ = 0;      ///< what select() found,
    bool selected_now_ = false;  ///< and nothing has changed since
    bool draining_ = false;      ///< writes have come together and are being served
    Cycle now_ = 0;
    Cycle row_bus_ = 0, column_bus_ = 0;  ///< free from then on
    Cycle next_refresh_ = kNever;         ///< the earliest refresh_due of those not refreshing
    std::uint64_t admitted_ = 0, waiting_ = 0;
    ChannelStats stats_;
};

}  // namespace switchyard::hw::dram
