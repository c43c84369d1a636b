// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>
#include <vector>

#include "switchyard/hw/memory/dram/address_mapping.h"
#include "switchyard/hw/memory/dram/bank_timing.h"
#include "switchyard/hw/memory/dram/command.h"

namespace switchyard::hw::dram {

/// What ChannelController's documentation says, in plain loops: for each command it looks at every waiting burst again
/// and keeps nothing of what it has found. One channel without refresh.
class PlainController {
public:
    explicit PlainController(const Device& device)
        : geometry_(device.geometry),
          t_(device.timing),
          policy_(device.policy),
          entries_{device.read_entries(), device.write_entries()},
          channels_(device.geometry.pseudo_channels, PseudoChannel(device)) {}

    void push(const Location& at, bool write, Cycle arrival) {
        staged_.push_back({arrival, 0, order_++, at.pseudo_channel, at.bank_group * geometry_.banks_per_group + at.bank,
                           at.row, at.column, write});
    }
    /// Of all that has been pushed.
    std::vector<Command> run() {
        for (;;) {
            admit();
            const std::optional<Candidate> best = select();
            const bool room = !staged_.empty() && !full(staged_.front());
            const Cycle arrival = room ? staged_.front().arrival : kNever;
            if (!best && !room) return commands_;
            now_ = std::max(now_, std::min(best ? best->cycle : kNever, arrival));
            if (arrival > now_) issue(*best);
        }
    }

private:
    struct Burst {
        Cycle arrival, admitted;
        std::uint64_t order;
        unsigned pseudo_channel, bank;
        std::uint32_t row, column;
        bool write;
    };
    struct PseudoChannel {
        explicit PseudoChannel(const Device& device)
            : timing(device.geometry, device.timing), open(device.geometry.banks()) {}
        BankTiming timing;
        std::vector<std::optional<std::uint32_t>> open;  ///< row, by bank
        bool writing = false, rescue = false;
        unsigned served = 0;
    };
    struct Candidate {
        Cycle cycle;
        unsigned rank;
        Burst burst;
        CommandKind kind;
        bool goes_before(const Candidate& o) const {
            return std::tie(cycle, rank, burst.order) < std::tie(o.cycle, o.rank, o.burst.order);
        }
    };

    template <class Accept>
    const Burst* oldest(Accept accept) const {
        const Burst* found = nullptr;
        for (const Burst& burst : waiting_)
            if (accept(burst) && (found == nullptr || burst.order < found->order)) found = &burst;
        return found;
    }
    template <class Accept>
    unsigned count(Accept accept) const {
        return static_cast<unsigned>(std::count_if(waiting_.begin(), waiting_.end(), accept));
    }
    unsigned count_of(unsigned pseudo_channel, bool write) const {
        return count([&](const Burst& b) { return b.pseudo_channel == pseudo_channel && b.write == write; });
    }
    bool full(const Burst& burst) const {
        const unsigned of_a_bank = burst.write ? policy_.write_queue_bursts : policy_.read_queue_bursts;
        return count([&](const Burst& b) { return b.write == burst.write; }) == entries_[burst.write] ||
               count([&](const Burst& b) { return same_bank(b, burst) && b.write == burst.write; }) == of_a_bank;
    }
    static bool same_bank(const Burst& a, const Burst& b) {
        return a.pseudo_channel == b.pseudo_channel && a.bank == b.bank;
    }
    bool has_starved(const Burst* burst) const {
        return burst != nullptr && now_ > burst->admitted + policy_.starvation_limit_cycles;
    }

    void admit() {
        while (!staged_.empty() && staged_.front().arrival <= now_ && !full(staged_.front())) {
            Burst burst = staged_.front();
            staged_.pop_front();
            const bool forwarded = !burst.write && oldest([&](const Burst& b) {
                return b.write && same_bank(b, burst) && b.row == burst.row && b.column == burst.column;
            });
            if (forwarded) continue;
            burst.admitted = now_;
            waiting_.push_back(burst);
            choose_direction(burst.pseudo_channel);
        }
    }
    void choose_direction(unsigned index) {
        PseudoChannel& p = channels_[index];
        const unsigned all_writes = count([](const Burst& b) { return b.write; });
        if (all_writes >= policy_.write_high_bursts) draining_ = true;
        if (all_writes <= policy_.write_low_bursts) draining_ = false;
        const bool reads = count_of(index, false) > 0, writes = count_of(index, true) > 0;
        bool write = writes && (!reads || draining_), rescue = false;
        if (reads && writes) {
            const bool enough = p.served >= policy_.write_high_bursts - policy_.write_low_bursts;
            const Burst* const other =
                oldest([&](const Burst& b) { return b.pseudo_channel == index && b.write != p.writing; });
            if (p.rescue && !enough) {
                write = p.writing;
            } else if (write == p.writing && enough && has_starved(other)) {
                write = !p.writing;
                rescue = true;
            }
        }
        if (write == p.writing) return;
        p.writing = write;
        p.rescue = rescue;
        p.served = 0;
    }

    std::optional<Candidate> select() const {
        std::optional<Candidate> best;
        for (unsigned i = 0; i < channels_.size(); ++i) {
            std::optional<Candidate> of_channel;
            for (unsigned bank = 0; bank < geometry_.banks(); ++bank) {
                const std::optional<Candidate> here = next(i, bank);
                if (here && (!of_channel || here->goes_before(*of_channel))) of_channel = here;
            }
            // Orders of pseudo-channels compare as those of banks do.
            if (of_channel && (!best || of_channel->goes_before(*best))) best = of_channel;
        }
        return best;
    }
    std::optional<Candidate> next(unsigned index, unsigned bank) const {
        const PseudoChannel& p = channels_[index];
        const auto here = [&](const Burst& b) {
            return b.pseudo_channel == index && b.bank == bank && b.write == p.writing;
        };
        const Burst* const first = oldest(here);
        if (first == nullptr) return std::nullopt;
        const bool starved = has_starved(first);
        if (!p.open[bank]) {
            const Cycle at = std::max(
                {p.timing.bank_activate(bank), p.timing.group_activate(bank), p.timing.activate(), row_bus_, now_});
            return Candidate{at, starved ? 1u : 3u, *first, CommandKind::activate};
        }
        const Burst* const hit = oldest([&](const Burst& b) { return here(b) && b.row == *p.open[bank]; });
        if (hit != nullptr && (hit == first || !starved)) {
            const Cycle at = std::max({p.timing.bank_column(bank, p.writing), p.timing.group_column(bank, p.writing),
                                       p.timing.column(p.writing), column_bus_, now_});
            return Candidate{at, starved ? 1u : 2u, *hit, p.writing ? CommandKind::write : CommandKind::read};
        }
        return Candidate{std::max({p.timing.bank_precharge(bank), row_bus_, now_}), starved ? 1u : 3u, *first,
                         CommandKind::precharge};
    }

    void issue(const Candidate& c) {
        PseudoChannel& p = channels_[c.burst.pseudo_channel];
        const unsigned bank = c.burst.bank;
        Command command{
            c.cycle, c.kind, static_cast<std::uint8_t>(c.burst.pseudo_channel), static_cast<std::uint8_t>(bank), 0, 0};
        Cycle& bus = is_column(c.kind) ? column_bus_ : row_bus_;
        bus = c.cycle + (is_column(c.kind)                 ? t_.column_bus_cycles
                         : c.kind == CommandKind::activate ? t_.activate_bus_cycles
                                                           : t_.precharge_bus_cycles);
        if (t_.shared_command_bus) row_bus_ = column_bus_ = bus;
        if (c.kind == CommandKind::activate) {
            p.open[bank] = command.row = c.burst.row;
            p.timing.activate(bank, c.cycle);
        } else if (c.kind == CommandKind::precharge) {
            p.open[bank].reset();
            p.timing.precharge(bank, c.cycle);
        } else {
            issue_column(c, p, command);
        }
        commands_.push_back(command);
    }
    void issue_column(const Candidate& c, PseudoChannel& p, Command& command) {
        const Burst burst = c.burst;
        command.row = burst.row;
        command.column = burst.column;
        if (burst.write)
            p.timing.write(burst.bank, c.cycle);
        else
            p.timing.read(burst.bank, c.cycle);
        waiting_.erase(
            std::find_if(waiting_.begin(), waiting_.end(), [&](const Burst& b) { return b.order == burst.order; }));
        const bool another = oldest([&](const Burst& b) { return same_bank(b, burst) && b.row == burst.row; });
        if (policy_.page == "closed" && !another) {
            command.kind = burst.write ? CommandKind::write_precharge : CommandKind::read_precharge;
            p.timing.auto_precharge(burst.bank);
            p.open[burst.bank].reset();
        }
        ++p.served;
        choose_direction(burst.pseudo_channel);
    }

    Geometry geometry_;
    Timing t_;
    Policy policy_;
    unsigned entries_[2];
    std::vector<PseudoChannel> channels_;
    std::deque<Burst> staged_;
    std::vector<Burst> waiting_;
    std::vector<Command> commands_;
    std::uint64_t order_ = 0;
    bool draining_ = false;
    Cycle now_ = 0, row_bus_ = 0, column_bus_ = 0;
};

}  // namespace switchyard::hw::dram
