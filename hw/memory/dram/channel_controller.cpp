// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/channel_controller.h"

#include <algorithm>

namespace switchyard::hw::dram {

namespace {

constexpr unsigned kRefreshRank = 0, kStarvedRank = 1, kColumnRank = 2, kRowRank = 3;

// Bits of a priority: 2 of rank, 36 of order. Above them, 26 of cycles from now on make one number of it and the time.
constexpr unsigned kRankShift = 36, kCycleShift = 38;
constexpr std::uint64_t kOrderMask = (std::uint64_t{1} << kRankShift) - 1;

constexpr std::uint64_t bit(unsigned bank) {
    return std::uint64_t{1} << bank;
}

constexpr std::size_t index_of(CommandKind kind) {
    return static_cast<std::size_t>(kind);
}
constexpr std::size_t kCommandKinds = index_of(CommandKind::refresh_bank) + 1;

std::uint64_t priority_of(unsigned rank, std::uint64_t order) {
    return std::uint64_t{rank} << kRankShift | (order & kOrderMask);
}

}  // namespace

const char* name_of(CommandKind kind) {
    static constexpr const char* kNames[] = {"ACT", "RD", "WR", "RDA", "WRA", "PRE", "PREA", "REF", "REFB"};
    return kNames[static_cast<unsigned>(kind)];
}

void ChannelStats::add(const ChannelStats& other) {
    reads += other.reads;
    writes += other.writes;
    row_hits += other.row_hits;
    forwarded += other.forwarded;
    activates += other.activates;
    precharges += other.precharges;
    refreshes += other.refreshes;
    turnarounds += other.turnarounds;
    data_cycles += other.data_cycles;
    refresh_cycles += other.refresh_cycles;
    last_data = std::max(last_data, other.last_data);
}

ChannelController::ChannelController(const Device& device, unsigned index, CommandSink* sink)
    : geometry_(device.geometry),
      timing_(device.timing),
      policy_(device.policy),
      closed_page_(device.policy.page == "closed"),
      per_bank_refresh_(device.policy.refresh == "per-bank"),
      index_(index),
      sink_(sink),
      reads_(device.read_entries(), device.policy.read_queue_bursts),
      writes_(device.write_entries(), device.policy.write_queue_bursts),
      pseudo_channels_(device.geometry.pseudo_channels, PseudoChannel(device)) {
    const Cycle period = per_bank_refresh_ ? timing_.trefi_bank_cycles : timing_.trefi_cycles;
    const unsigned all = geometry_.pseudo_channels_in_all();
    for (unsigned i = 0; i < pseudo_channels_.size(); ++i) {
        PseudoChannel& p = pseudo_channels_[i];
        for (auto& hits : p.hit) hits.fill(BurstQueue::kNone);
        const Cycle place = (index * geometry_.pseudo_channels + i) % all;
        if (policy_.refresh != "none") p.refresh_due = period + (policy_.staggered_refresh ? period * place / all : 0);
        next_refresh_ = std::min(next_refresh_, p.refresh_due);
    }
}

ChannelStats ChannelController::stats() const {
    ChannelStats stats = stats_;
    stats.data_cycles = (stats.reads + stats.writes) * timing_.burst_cycles;
    return stats;
}

void ChannelController::forget_admitted() {
    if (staged_begin_ == staged_.size()) {
        staged_.clear();
        staged_begin_ = 0;
    } else if (staged_begin_ >= 1024 && staged_begin_ * 2 > staged_.size()) {
        staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(staged_begin_));
        staged_begin_ = 0;
    }
}

bool ChannelController::forward(const Staged& burst) {
    BurstQueue::Index index = writes_.first(burst.pseudo_channel, burst.bank);
    while ((index = writes_.find_row(index, burst.row)) != BurstQueue::kNone) {
        if (writes_[index].column == burst.column) break;
        index = writes_.next(index);
    }
    if (index == BurstQueue::kNone) return false;
    done_.push_back({now_ + timing_.tcl_cycles + timing_.burst_cycles, burst.tag});
    ++stats_.forwarded;
    --waiting_;
    return true;
}

void ChannelController::admit() {
    while (staged_begin_ < staged_.size()) {
        const Staged& burst = staged_[staged_begin_];
        BurstQueue& target = queue(burst.write);
        if (burst.arrival > now_ || target.full(burst.pseudo_channel, burst.bank)) return;
        ++staged_begin_;
        if (!burst.write && writes_.size() > 0 && forward(burst)) continue;
        PseudoChannel& p = pseudo_channels_[burst.pseudo_channel];
        const bool first = target.first(burst.pseudo_channel, burst.bank) == BurstQueue::kNone;
        const BurstQueue::Index index = target.add(burst.pseudo_channel, burst.bank, burst.row, admitted_++);
        BurstQueue::Entry& entry = target[index];
        entry.admitted = now_;
        entry.column = burst.column;
        entry.tag = burst.tag;
        entry.activated = false;
        BurstQueue::Index& hit = p.hit[burst.write][burst.bank];
        const bool first_hit =
            hit == BurstQueue::kNone && (p.open & bit(burst.bank)) != 0 && p.row[burst.bank] == burst.row;
        if (first_hit) hit = index;
        if (first || first_hit) {
            p.changed |= bit(burst.bank);
            p.best_known = false;
        }
        selected_now_ = false;
        choose_direction(burst.pseudo_channel);
    }
}

void ChannelController::choose_direction(unsigned pseudo_channel) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    if (writes_.size() == 0 && !p.writing) {
        draining_ = false;
        return;
    }
    if (writes_.size() >= policy_.write_high_bursts) draining_ = true;
    if (writes_.size() <= policy_.write_low_bursts) draining_ = false;
    const bool reads = reads_.size(pseudo_channel) > 0, writes = writes_.size(pseudo_channel) > 0;
    bool write = writes && (!reads || draining_);
    bool rescue = false;
    const bool other_waits = p.writing ? reads : writes;
    const bool this_waits = p.writing ? writes : reads;
    if (other_waits && this_waits) {
        const bool enough = p.served >= policy_.write_high_bursts - policy_.write_low_bursts;
        if (p.rescue && !enough) {
            write = p.writing;
        } else if (write == p.writing && enough && starves(pseudo_channel, !p.writing)) {
            write = !p.writing;
            rescue = true;
        }
    }
    if (write == p.writing) return;
    p.writing = write;
    p.rescue = rescue;
    p.served = 0;
    p.changed = ~std::uint64_t{0};
    p.best_known = false;
    ++stats_.turnarounds;
}

bool ChannelController::oldest_starves(unsigned pseudo_channel, bool write) {
    Cycle& after = pseudo_channels_[pseudo_channel].starved_after[write];
    const BurstQueue& waiting = queue(write);
    const BurstQueue::Index oldest = waiting.oldest(pseudo_channel);
    after = (oldest == BurstQueue::kNone ? now_ : waiting[oldest].admitted) + policy_.starvation_limit_cycles;
    return now_ > after;
}

bool ChannelController::bank_starves(unsigned pseudo_channel, unsigned bank) const {
    const BurstQueue& waiting = queue(pseudo_channels_[pseudo_channel].writing);
    return now_ > waiting[waiting.first(pseudo_channel, bank)].admitted + policy_.starvation_limit_cycles;
}

void ChannelController::work_out(unsigned pseudo_channel, unsigned bank, bool starved) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    const BurstQueue& waiting = queue(p.writing);
    Next& next = p.next[bank];
    next.entry = waiting.first(pseudo_channel, bank);
    const BurstQueue::Index hit = p.hit[p.writing][bank];
    unsigned rank = kRowRank;
    if ((p.open & bit(bank)) == 0) {
        next.kind = CommandKind::activate;
        next.cycle = p.timing.bank_activate(bank);
        next.group = p.timing.group_activate(bank);
    } else if (hit != BurstQueue::kNone && (hit == next.entry || !starved)) {
        next.entry = hit;
        next.kind = p.writing ? CommandKind::write : CommandKind::read;
        next.cycle = p.timing.bank_column(bank, p.writing);
        next.group = p.timing.group_column(bank, p.writing);
        rank = kColumnRank;
    } else {
        next.kind = CommandKind::precharge;
        next.cycle = p.timing.bank_precharge(bank);
        next.group = BankTiming::kNoGroup;
    }
    next.priority = priority_of(starved ? kStarvedRank : rank, waiting.order(next.entry));
    p.changed &= ~bit(bank);
}

void ChannelController::consider_banks(unsigned pseudo_channel, std::uint64_t banks, Candidate& best) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    std::uint64_t changed = p.changed & banks, starving = 0;
    if (starves(pseudo_channel, p.writing)) {
        for (std::uint64_t rest = banks; rest != 0; rest &= rest - 1) {
            const auto bank = static_cast<unsigned>(__builtin_ctzll(rest));
            if (bank_starves(pseudo_channel, bank)) starving |= bit(bank);
        }
    }
    for (changed |= starving; changed != 0; changed &= changed - 1) {
        const auto bank = static_cast<unsigned>(__builtin_ctzll(changed));
        work_out(pseudo_channel, bank, (starving >> bank & 1) != 0);
    }

    // The loop over the banks has hardly a branch: what comes next is hard to predict.
    const Cycle row = std::max(row_bus_, now_);
    std::array<Cycle, kCommandKinds> earliest;  ///< for the pseudo-channel and the buses
    earliest[index_of(CommandKind::activate)] = std::max(p.timing.activate(), row);
    earliest[index_of(CommandKind::precharge)] = row;
    earliest[index_of(p.writing ? CommandKind::write : CommandKind::read)] =
        std::max({p.timing.column(p.writing), column_bus_, now_});
    const auto when = [&](const Next& next) {
        return std::max({next.cycle, p.timing.group(next.group), earliest[index_of(next.kind)]});
    };
    const auto key = [this](Cycle cycle, std::uint64_t priority) { return (cycle - now_) << kCycleShift | priority; };
    std::uint64_t min = best.cycle == kNever ? ~std::uint64_t{0} : key(best.cycle, best.priority);
    unsigned min_bank = kMaxBanks;
    for (; banks != 0; banks &= banks - 1) {
        const auto bank = static_cast<unsigned>(__builtin_ctzll(banks));
        const Next& next = p.next[bank];
        const std::uint64_t here = key(when(next), next.priority);
        min_bank = here < min ? bank : min_bank;
        min = std::min(min, here);
    }
    if (min_bank == kMaxBanks) return;
    const Next& next = p.next[min_bank];
    best.cycle = when(next);
    best.priority = next.priority;
    best.kind = next.kind;
    best.pseudo_channel = static_cast<std::uint8_t>(pseudo_channel);
    best.bank = static_cast<std::uint8_t>(min_bank);
    best.entry = next.entry;
}

ChannelController::Candidate ChannelController::next_refresh(unsigned pseudo_channel) const {
    const PseudoChannel& p = pseudo_channels_[pseudo_channel];
    Candidate c;
    c.pseudo_channel = static_cast<std::uint8_t>(pseudo_channel);
    if (per_bank_refresh_) {
        c.bank = static_cast<std::uint8_t>(p.refresh_bank);
        const bool open = (p.open & bit(p.refresh_bank)) != 0;
        c.kind = open ? CommandKind::precharge : CommandKind::refresh_bank;
        c.cycle = open ? p.timing.bank_precharge(p.refresh_bank) : p.timing.refresh_bank_at(p.refresh_bank);
    } else if (p.open != 0) {
        c.kind = CommandKind::precharge_all;
        c.cycle = 0;
        for (std::uint64_t banks = p.open; banks != 0; banks &= banks - 1)
            c.cycle = std::max(c.cycle, p.timing.bank_precharge(static_cast<unsigned>(__builtin_ctzll(banks))));
    } else {
        c.kind = CommandKind::refresh_all;
        c.cycle = p.timing.refresh_all_at();
    }
    c.cycle = std::max({c.cycle, row_bus_, now_});
    c.priority = priority_of(kRefreshRank, 0);
    return c;
}

bool ChannelController::best_holds(unsigned pseudo_channel) {
    const PseudoChannel& p = pseudo_channels_[pseudo_channel];
    // What was later than the best cannot overtake it, as long as the best itself is not delayed.
    return p.best_known && p.best.cycle >= std::max(now_, is_column(p.best.kind) ? column_bus_ : row_bus_) &&
           !starves(pseudo_channel, p.writing);
}

void ChannelController::find_best(unsigned pseudo_channel) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    p.best = {};
    p.best_known = !p.refreshing;
    std::uint64_t banks = queue(p.writing).banks(pseudo_channel);
    if (p.refreshing) {
        p.best = next_refresh(pseudo_channel);
        if (!per_bank_refresh_) return;
        banks &= ~bit(p.refresh_bank);
    }
    consider_banks(pseudo_channel, banks, p.best);
}

unsigned ChannelController::select() {
    unsigned first = 0;
    for (unsigned i = 0; i < pseudo_channels_.size(); ++i) {
        if (!best_holds(i)) find_best(i);
        if (pseudo_channels_[i].best.goes_before(pseudo_channels_[first].best)) first = i;
    }
    return first;
}

void ChannelController::begin_refreshes() {
    next_refresh_ = kNever;
    for (PseudoChannel& p : pseudo_channels_) {
        if (p.refresh_due <= now_) {
            p.refreshing = true;
            p.best_known = false;
        }
        if (!p.refreshing) next_refresh_ = std::min(next_refresh_, p.refresh_due);
    }
}

void ChannelController::advance(Cycle until) {
    forget_admitted();
    while (true) {
        admit();
        if (!selected_now_) selected_ = select();
        selected_now_ = true;
        const Candidate& command = pseudo_channels_[selected_].best;
        Cycle arrival = kNever;
        if (staged_begin_ < staged_.size()) {
            const Staged& first = staged_[staged_begin_];
            if (!queue(first.write).full(first.pseudo_channel, first.bank)) arrival = first.arrival;
        }
        const Cycle event = std::max(now_, std::min({command.cycle, arrival, next_refresh_}));
        if (event >= until) return;
        now_ = event;
        if (arrival <= event) continue;
        if (next_refresh_ <= event) {
            begin_refreshes();
        } else {
            issue(command);
        }
        selected_now_ = false;
    }
}

void ChannelController::issue(const Candidate& c) {
    PseudoChannel& p = pseudo_channels_[c.pseudo_channel];
    p.best_known = false;
    if (is_column(c.kind))
        issue_column(c, p);
    else
        issue_row(c, p);
}

void ChannelController::issue_column(const Candidate& c, PseudoChannel& p) {
    const bool write = c.kind == CommandKind::write;
    BurstQueue& from = queue(write);
    const BurstQueue::Entry& entry = from[c.entry];
    const std::uint32_t row = from.row(c.entry);
    const Cycle end = c.cycle + (write ? timing_.write_data_cycles() : timing_.tcl_cycles + timing_.burst_cycles);
    Done& done = done_.emplace_back();
    done.cycle = end;
    done.tag = entry.tag;
    stats_.last_data = std::max(stats_.last_data, end);
    stats_.row_hits += entry.activated ? 0 : 1;
    ++(write ? stats_.writes : stats_.reads);
    --waiting_;
    if (write)
        p.timing.write(c.bank, c.cycle);
    else
        p.timing.read(c.bank, c.cycle);
    occupy(column_bus_, c.cycle + timing_.column_bus_cycles);
    p.hit[write][c.bank] = from.find_row(from.next(c.entry), row);
    const bool closes = closed_page_ && p.hit[0][c.bank] == BurstQueue::kNone && p.hit[1][c.bank] == BurstQueue::kNone;
    if (sink_) {
        const CommandKind kind = !closes ? c.kind : write ? CommandKind::write_precharge : CommandKind::read_precharge;
        sink_->on_command(index_, {c.cycle, kind, c.pseudo_channel, c.bank, row, entry.column});
    }
    from.remove(c.entry);
    p.changed |= bit(c.bank);
    if (closes) {
        p.timing.auto_precharge(c.bank);
        close(p, c.bank);
    }
    ++p.served;
    choose_direction(c.pseudo_channel);
}

void ChannelController::occupy(Cycle& bus, Cycle until) {
    bus = until;
    if (timing_.shared_command_bus) row_bus_ = column_bus_ = until;
}

void ChannelController::close(PseudoChannel& p, unsigned bank) {
    p.open &= ~bit(bank);
    p.hit[0][bank] = p.hit[1][bank] = BurstQueue::kNone;
    ++stats_.precharges;
}

void ChannelController::refreshed(PseudoChannel& p, Cycle period) {
    ++stats_.refreshes;
    p.refreshing = false;
    p.refresh_due += period;
    next_refresh_ = std::min(next_refresh_, p.refresh_due);
}

void ChannelController::issue_row(const Candidate& c, PseudoChannel& p) {
    Command command{c.cycle, c.kind, c.pseudo_channel, c.bank, 0, 0};
    occupy(row_bus_,
           c.cycle + (c.kind == CommandKind::activate ? timing_.activate_bus_cycles : timing_.precharge_bus_cycles));
    p.changed |=
        c.kind == CommandKind::refresh_all || c.kind == CommandKind::precharge_all ? ~std::uint64_t{0} : bit(c.bank);
    switch (c.kind) {
        case CommandKind::activate: {
            queue(p.writing)[c.entry].activated = true;
            command.row = p.row[c.bank] = queue(p.writing).row(c.entry);
            p.open |= bit(c.bank);
            for (const bool write : {false, true})
                p.hit[write][c.bank] = queue(write).find_row(queue(write).first(c.pseudo_channel, c.bank), command.row);
            p.timing.activate(c.bank, c.cycle);
            ++stats_.activates;
            break;
        }
        case CommandKind::precharge:
            p.timing.precharge(c.bank, c.cycle);
            close(p, c.bank);
            break;
        case CommandKind::precharge_all:
            for (std::uint64_t banks = p.open; banks != 0; banks &= banks - 1) {
                const auto bank = static_cast<unsigned>(__builtin_ctzll(banks));
                p.timing.precharge(bank, c.cycle);
                close(p, bank);
            }
            p.timing.precharge_all(c.cycle);
            break;
        case CommandKind::refresh_bank:
            p.timing.refresh_bank(c.bank, c.cycle);
            stats_.refresh_cycles += timing_.trfc_bank_cycles / geometry_.banks();
            p.refresh_bank = (p.refresh_bank + 1) % geometry_.banks();
            refreshed(p, timing_.trefi_bank_cycles);
            break;
        default:
            p.timing.refresh_all(c.cycle);
            stats_.refresh_cycles += timing_.trfc_cycles;
            refreshed(p, timing_.trefi_cycles);
            break;
    }
    if (sink_) sink_->on_command(index_, command);
}

}  // namespace switchyard::hw::dram
