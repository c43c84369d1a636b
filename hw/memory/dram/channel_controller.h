// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/hw/memory/dram/bank_timing.h"
#include "switchyard/hw/memory/dram/burst_queue.h"
#include "switchyard/hw/memory/dram/candidate.h"
#include "switchyard/hw/memory/dram/command.h"
#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

struct ChannelStats {
    std::uint64_t reads = 0, writes = 0;  ///< bursts on the data bus
    std::uint64_t row_hits = 0;           ///< of these, bursts for which no row had to be opened
    std::uint64_t forwarded = 0;          ///< reads answered from a waiting write
    std::uint64_t activates = 0, precharges = 0, refreshes = 0;
    std::uint64_t turnarounds = 0;          ///< of a pseudo-channel, from reads to writes or back
    std::uint64_t data_cycles = 0;          ///< summed over the pseudo-channels
    std::uint64_t refresh_bank_cycles = 0;  ///< tRFC of each refresh times the banks that it refreshes
    Cycle last_data = 0;                    ///< when the data bus has moved what was issued

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

    /// `index` of all channels. The mapping must live longer. The sink, if any, sees every command.
    ChannelController(const Device& device, const AddressMapping& mapping, unsigned index, CommandSink* sink = nullptr);
    ChannelController(ChannelController&&) = default;

    /// Of the bursts with the numbers first to end - 1 those of this channel, of which `first` is one. They come at
    /// `arrival`, not before the last ones, and wait outside the queues until these have room. `tag` comes back when
    /// one is done.
    void push(std::uint64_t first, std::uint64_t end, bool write, Cycle arrival, std::uint32_t tag) {
        staged_.push_back({first, end, arrival, tag, write});
        if (staged_.size() == 1) locate_staged();
    }

    /// Issues every command before cycle `until`. Bursts that are pushed later arrive at `until` or after it. Appends
    /// to done(), whose cycles may lie beyond.
    void advance(Cycle until);

    /// What has been done since the owner cleared it.
    std::vector<Done>& done() { return done_; }
    ChannelStats stats() const;

private:
    /// The part of a request that waits outside the queues.
    struct Staged {
        std::uint64_t next = 0, end = 0;  ///< numbers of bursts
        Cycle arrival = 0;
        std::uint32_t tag = 0;
        bool write = false;
    };
    struct Bank {
        /// The oldest waiting burst for the open row: [0] reads, [1] writes.
        std::array<BurstQueue::Index, 2> hit{BurstQueue::kNone, BurstQueue::kNone};
        std::uint32_t row = 0;  ///< open, if any
    };
    /// What the banks' waiting bursts need next: an activate where no row is open, a read or a write where one waits
    /// for the open row, otherwise a precharge. Of a bank it stays so until the first burst comes, or the first one for
    /// its open row, a command is issued to the bank, the pseudo-channel turns or its oldest burst starves.
    struct NextCommands {
        std::array<Cycle, kMaxBanks> cycle{};             ///< not earlier, as far as bank and group are concerned
        std::array<std::uint64_t, kMaxBanks> priority{};  ///< see Candidate
        std::array<BurstQueue::Index, kMaxBanks> entry{};
        std::uint64_t columns = 0;  ///< banks that need a read or a write, one bit each
    };
    struct PseudoChannel {
        explicit PseudoChannel(const Device& device) : timing(device.geometry, device.timing) {}

        BankTiming timing;
        std::uint8_t index = 0;  ///< in the channel
        std::array<Bank, kMaxBanks> bank{};
        NextCommands next;
        std::array<std::uint64_t, 2> waiting{};  ///< banks that reads ([0]) or writes ([1]) wait for, one bit each
        std::uint64_t open = 0;                  ///< banks with an open row, one bit each
        std::uint64_t changed = 0;               ///< banks whose next command must be worked out again, one bit each
        Candidate best;                          ///< of its commands,
        bool best_known = false;                 ///< and nothing has changed since but time and the command buses
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
    /// Goes on to the next burst outside the queues: the next number with the same channel.
    void next_staged() {
        Staged& request = staged_.front();
        request.next = (((request.next | channel_bits_) + 1) & ~channel_bits_) | (request.next & channel_bits_);
        if (request.next >= request.end) staged_.pop_front();
        if (!staged_.empty()) locate_staged();
    }
    void locate_staged() { first_staged_ = walk_.at(staged_.front().next); }
    /// Answers the first read outside the queues from a waiting write, if there is one.
    bool forward();
    /// What the pseudo-channel serves from now on.
    void choose_direction(PseudoChannel& p) {
        if (writes_.size() >= policy_.write_high_bursts) draining_ = true;
        if (writes_.size() <= policy_.write_low_bursts) draining_ = false;
        const bool only = p.waiting[p.writing] != 0 && p.waiting[!p.writing] == 0;
        if (!only) weigh_directions(p);
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
    static void take_next_hit(PseudoChannel& p, unsigned bank, BurstQueue::Index hit, std::uint64_t order);
    /// A command to `bank` delays its group: the next commands of those of `banks` that are in it come at `cycle` or
    /// later.
    void delay_group(PseudoChannel& p, unsigned bank, std::uint64_t banks, Cycle cycle);
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
    AddressMapping::Walk walk_;
    std::uint64_t channel_bits_;
    std::deque<Staged> staged_;
    Place first_staged_;  ///< of the first burst in staged_
    std::vector<Done> done_;
    PseudoChannel* selected_ = nullptr;  ///< what select() found, if nothing has changed since
    bool draining_ = false;              ///< writes have come together and are being served
    Cycle now_ = 0;
    Cycle row_bus_ = 0, column_bus_ = 0;  ///< free from then on
    Cycle next_refresh_ = kNever;         ///< the earliest refresh_due of those not refreshing
    std::uint64_t admitted_ = 0;
    std::array<Cycle, 2> last_data_{};  ///< of reads and writes: when the data bus has moved what was issued
    ChannelStats stats_;
};

}  // namespace switchyard::hw::dram
